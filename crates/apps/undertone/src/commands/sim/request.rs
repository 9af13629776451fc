//! The scenario and seeds requested on the command line, and the conditions that the runs must meet.

use undertone_lab::report::{Campaign, Summary};
use undertone_lab::run::command;
use undertone_lab::scenario::{self, EarlierRun, Loaded};

use super::super::Failure;
use super::{Args, scenario_failure};

/// Scenario to run with one or more seeds.
pub(super) struct SimRequest {
    pub(super) loaded: Loaded,
    pub(super) seeds: Vec<u64>,
    /// Earlier runs whose traces the new ones must reproduce.
    earlier: Vec<EarlierRun>,
    /// Start of the command line that runs the scenario with one seed.
    command: String,
}

impl SimRequest {
    /// Loads the scenario that the flags name.
    pub(super) fn read(args: &Args) -> Result<Self, Failure> {
        let given = match (&args.seeds, args.seed) {
            (Some(seeds), _) => Some(seeds.0.clone()),
            (None, seed) => seed.map(|seed| vec![seed]),
        };
        if let Some(folder) = &args.from_results {
            let results = scenario::load_results(folder, &args.set).map_err(scenario_failure)?;
            let seeds = results.runs.iter().map(|run| run.seed).collect();
            let what = format!("--from-results {}", folder.display());
            return Ok(Self {
                loaded: results.loaded,
                seeds: given.unwrap_or(seeds),
                // With an override, it is another scenario.
                earlier: match args.set.is_empty() {
                    true => results.runs,
                    false => Vec::new(),
                },
                command: command(&what, &args.set),
            });
        }
        let reference = args
            .scenario
            .as_deref()
            .expect("the parser wants a scenario unless it is another of the commands");
        Ok(Self {
            loaded: scenario::load(reference, &args.set).map_err(scenario_failure)?,
            seeds: given.unwrap_or(vec![1]),
            earlier: Vec::new(),
            command: command(reference, &args.set),
        })
    }

    /// Checks that no rule was violated, that something was delivered, and that the traces match the earlier
    /// runs.
    pub(super) fn check(&self, campaign: &Campaign) -> Result<(), Failure> {
        if let Some(run) = campaign.violating() {
            let (count, seed) = (run.violations.len(), run.seed);
            let first = &run.violations[0];
            let text = format!("{count} rules did not hold with seed {seed}, the first {first}");
            return Err(self.failure(text, seed));
        }
        let runs = campaign.runs().iter();
        if let Some(run) = runs.clone().find(|run| delivers_nothing(run)) {
            let (expected, seed) = (run.expected, run.seed);
            let text = format!("none of {expected} deliveries was made with seed {seed}");
            return Err(self.failure(text, seed));
        }
        for run in runs {
            let earlier = self.earlier.iter().find(|earlier| earlier.seed == run.seed);
            let (Some(earlier), Some(hash)) = (earlier, &run.trace_hash) else {
                continue;
            };
            if let Some(expected) = &earlier.trace_hash
                && expected != hash
            {
                let (seed, commit) = (run.seed, &earlier.commit);
                let text = format!(
                    "the trace of seed {seed} is {hash}, and that of the results {expected} (commit {commit})"
                );
                let help = "one scenario and seed have one trace with one commit only";
                return Err(Failure::new(text).with_help(help));
            }
        }
        Ok(())
    }

    /// Returns the failure of a campaign interrupted by its user.
    pub(super) fn interrupted(&self, campaign: &Campaign) -> Failure {
        let last = campaign.runs().iter().find(|run| run.interrupted);
        let (done, all) = (campaign.runs().len(), self.seeds.len());
        Failure::interrupted(match last {
            Some(run) => format!(
                "interrupted at {:.1} s of virtual time of seed {}; what happened until then is kept",
                run.virtual_s, run.seed
            ),
            None => format!("interrupted after {done} of {all} seeds, which are kept"),
        })
    }

    fn failure(&self, text: String, seed: u64) -> Failure {
        Failure::new(text).with_help(format!("replay: {} --seed {seed}", self.command))
    }
}

/// Whether a network that should deliver messages delivered none to relays or to light clients.
fn delivers_nothing(run: &Summary) -> bool {
    let to_clients = run
        .services
        .as_ref()
        .map_or(0, |services| services.delivered);
    run.expected > 0 && run.delivered == 0 && to_clients == 0
}
