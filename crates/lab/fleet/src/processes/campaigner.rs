//! Runs of one scenario with several seeds, and simulations of the same scenario.

use std::path::Path;

use undertone_lab::report::{Campaign, write_run, write_summary};
use undertone_lab::scenario::Loaded;
use undertone_sim::scenario::TcpProfile;
use undertone_sim::{RunOptions, Scenario};

use super::costs::Costs;
use super::error::CampaignError;
use super::hops::HopTimes;
use super::nodes::Setup;
use super::report::CampaignReport;
use super::runner::TestbedRunner;
use crate::Progress;

/// Settings of the runs of a campaign.
#[derive(Clone)]
pub struct Campaigner<'a> {
    /// Settings for starting nodes.
    pub setup: Setup,
    /// Folder for the result files; none are written without it.
    pub out: Option<&'a Path>,
    /// Listener for the progress of each run, and for the notes on all of them.
    pub progress: &'a dyn Progress,
    /// Whether to simulate the same scenario, too.
    pub beside_sim: bool,
    /// Commit that the program was built from, for the summaries.
    pub commit: &'a str,
}

impl Campaigner<'_> {
    /// Runs a scenario once with each seed.
    ///
    /// # Errors
    /// Returns [`CampaignError`] for the first run that fails.
    pub fn run(&self, loaded: &Loaded, seeds: &[u64]) -> Result<CampaignReport, CampaignError> {
        let scenario = &loaded.scenario;
        let runner = TestbedRunner {
            loaded,
            setup: &self.setup,
            progress: self.progress,
            commit: self.commit,
        };
        let mut hops = HopTimes::default();
        let (mut summaries, mut observed, mut packets) = (Vec::new(), Vec::new(), Vec::new());
        let (mut notes, mut unsent) = (notes(scenario), Vec::new());
        for seed in seeds {
            let run = runner.run(*seed)?;
            if let Some(folder) = self.out {
                let folder = match seeds {
                    [_] => folder.to_owned(),
                    _ => folder.join(format!("seed-{seed}")),
                };
                write_run(&folder, &run.observed.outcome, &run.summary)?;
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
            self.progress.note(note);
        }
        let costs = Costs::of(&hops, &observed);
        if self.beside_sim {
            simulate(&costs.in_place(scenario), seeds, &mut hops)?;
        }
        let campaign = Campaign::new(summaries);
        if let (Some(folder), [_, _, ..]) = (self.out, seeds) {
            write_summary(folder, &campaign)?;
        }
        Ok(CampaignReport {
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
    let note = match scenario.network.tcp {
        TcpProfile::Linux => None,
        TcpProfile::LinuxDevice => Some(
            "network.tcp = \"linux-device\" names a kernel whose own device is as fast as the uplink; here the \
             devices are faster, and packets wait behind them",
        ),
        TcpProfile::Shadow => Some(
            "network.tcp = \"shadow\" names the model of the Shadow simulator; here it is the kernel's TCP, Reno",
        ),
    };
    note.map(str::to_owned).into_iter().collect()
}

fn simulate(scenario: &Scenario, seeds: &[u64], hops: &mut HopTimes) -> Result<(), CampaignError> {
    for seed in seeds {
        let options = RunOptions::new(*seed);
        let outcome = undertone_sim::run(scenario, options, &mut |_| {});
        let outcome = outcome.map_err(|error| CampaignError::Simulation {
            scenario: scenario.name.clone(),
            error,
        })?;
        hops.add_simulated(scenario, &outcome);
    }
    Ok(())
}
