//! Runs of one scenario with several seeds, and simulations of the same.

use std::path::PathBuf;

use undertone_lab::report::Campaign;
use undertone_lab::scenario::Loaded;
use undertone_sim::Scenario;
use undertone_sim::scenario::TcpProfile;

use super::costs::Costs;
use super::hops::Hops;
use super::nodes::Setup;
use super::report::Report;
use super::runner::Runner;
use super::{Failure, failure, sim};

/// Settings of the runs of a campaign.
#[derive(Clone, Debug)]
pub(super) struct Campaigner<'a> {
    pub(super) setup: Setup,
    pub(super) out: Option<&'a PathBuf>,
    pub(super) show_progress: bool,
    /// Whether the same scenario is simulated too.
    pub(super) beside_sim: bool,
}

impl Campaigner<'_> {
    /// Runs a scenario once with each seed.
    pub(super) fn run(&self, loaded: &Loaded, seeds: &[u64]) -> Result<Report, Failure> {
        let scenario = &loaded.scenario;
        let runner = Runner {
            loaded,
            setup: &self.setup,
            show_progress: self.show_progress,
        };
        let mut hops = Hops::default();
        let (mut summaries, mut observed, mut packets) = (Vec::new(), Vec::new(), Vec::new());
        let (mut notes, mut unsent) = (notes(scenario), Vec::new());
        for seed in seeds {
            let run = runner.run(*seed).map_err(failure)?;
            if let Some(folder) = self.out {
                let folder = match seeds {
                    [_] => folder.clone(),
                    _ => folder.join(format!("seed-{seed}")),
                };
                sim::write_run(&folder, &run.observed.outcome, &run.summary)?;
            }
            hops.add(scenario, &run.plan, &run.observed);
            summaries.push(run.summary);
            observed.push(run.observed);
            packets.push(run.packets);
            let own = run.notes.into_iter();
            notes.extend(own.map(|note| format!("seed {seed}: {note}")));
            unsent.push(run.unsent);
        }
        for note in &notes {
            eprintln!("note: {note}");
        }
        let costs = Costs::of(&hops, &observed);
        if self.beside_sim {
            simulate(&costs.in_place(scenario), seeds, &mut hops)?;
        }
        let campaign = Campaign::new(summaries);
        if let (Some(folder), [_, _, ..]) = (self.out, seeds) {
            sim::write_summary(folder, &campaign)?;
        }
        Ok(Report {
            campaign,
            hop_rows: hops.rows(),
            costs,
            packets,
            notes,
            unsent,
        })
    }
}

/// Returns notes on differences from the scenario that apply to every run.
fn notes(scenario: &Scenario) -> Vec<String> {
    let mut notes = Vec::new();
    if scenario.network.tcp == TcpProfile::Shadow {
        let note = "network.tcp = \"shadow\" names the model of the Shadow simulator; here it is the \
                    kernel's TCP, Reno";
        notes.push(note.to_owned());
    }
    notes
}

fn simulate(scenario: &Scenario, seeds: &[u64], hops: &mut Hops) -> Result<(), Failure> {
    let simulator = sim::Runner {
        scenario,
        threads: 1,
        show_progress: false,
    };
    for seed in seeds {
        let (outcome, _) = simulator.run(*seed)?;
        hops.add_simulated(scenario, &outcome);
    }
    Ok(())
}
