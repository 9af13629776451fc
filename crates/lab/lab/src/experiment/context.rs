//! Environment of an experiment: scale, seeds, simulations, and the machine.

use std::fmt::Write;

use undertone_sim::{Outcome, RunOptions, Scenario};

use super::{ExperimentError, RealNodes};
use crate::record::{OutsideOfRuns, Scale, ScenarioUsed};
use crate::report::{DatasetChoice, ProgressLine, Stopwatch, Summary};
use crate::scenario;
use crate::validity::RULES;

/// Environment in which an experiment runs.
pub struct Context<'a> {
    scale: Scale,
    commit: &'a str,
    threads: usize,
    shows_progress: bool,
    real_nodes: &'a dyn RealNodes,
    seeds: Vec<u64>,
    scenarios: Vec<ScenarioUsed>,
    validity: Vec<OutsideOfRuns>,
}

/// One simulation with its results.
#[derive(Debug)]
pub struct Simulated {
    /// Scenario that was run.
    pub scenario: Scenario,
    /// Result of the run.
    pub outcome: Outcome,
    /// Result of the run as figures.
    pub summary: Summary,
}

impl<'a> Context<'a> {
    /// Creates the environment for a program built from commit `commit`.
    pub fn new(
        scale: Scale,
        commit: &'a str,
        threads: usize,
        shows_progress: bool,
        real_nodes: &'a dyn RealNodes,
    ) -> Self {
        Self {
            scale,
            commit,
            threads,
            shows_progress,
            real_nodes,
            seeds: Vec::new(),
            scenarios: Vec::new(),
            validity: Vec::new(),
        }
    }

    pub(super) fn begin(&mut self) {
        self.seeds.clear();
        self.scenarios.clear();
        self.validity.clear();
    }

    /// The unvalidated mechanisms of all simulations so far, in the order of the rules.
    pub(super) fn outside_checked(&mut self) -> Vec<OutsideOfRuns> {
        let place = |outside: &OutsideOfRuns| {
            let mut rules = RULES.iter();
            rules.position(|rule| rule.name == outside.outside.rule)
        };
        let mut all = std::mem::take(&mut self.validity);
        all.sort_by_key(place);
        all
    }

    pub(super) fn used(&mut self) -> (Vec<u64>, Vec<ScenarioUsed>) {
        (
            std::mem::take(&mut self.seeds),
            std::mem::take(&mut self.scenarios),
        )
    }

    pub(super) fn commit(&self) -> &str {
        self.commit
    }

    /// Amount of work that experiments do.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Chooses one of two values by the scale.
    pub(crate) fn by_scale<T>(&self, quick: T, full: T) -> T {
        match self.scale {
            Scale::Quick => quick,
            Scale::Full => full,
        }
    }

    /// Access to real proofs and real nodes.
    pub(crate) fn real_nodes(&self) -> &'a dyn RealNodes {
        self.real_nodes
    }

    /// Starts a progress line on standard error for a step that takes long.
    pub(crate) fn say(&self, what: &str) -> ProgressLine {
        let line = ProgressLine::new(what, self.shows_progress);
        line.wait();
        line
    }

    /// Simulates a built-in scenario with keys overridden, once for each of the first `seeds` seeds.
    pub(crate) fn simulate(
        &mut self,
        name: &str,
        set: &[&str],
        seeds: u64,
    ) -> Result<Vec<Simulated>, ExperimentError> {
        self.simulate_with(name, set, seeds, DatasetChoice::default())
    }

    /// Simulates like [`Context::simulate`], and records datasets.
    pub(crate) fn simulate_with(
        &mut self,
        name: &str,
        set: &[&str],
        seeds: u64,
        datasets: DatasetChoice,
    ) -> Result<Vec<Simulated>, ExperimentError> {
        let set: Vec<String> = set.iter().map(|&key| key.to_owned()).collect();
        let loaded = scenario::load(name, &set)?;
        let used = ScenarioUsed {
            name: name.to_owned(),
            set,
        };
        let runs = (1..=seeds)
            .map(|seed| self.run(&loaded.scenario, seed, &used, datasets))
            .collect();
        if !self.scenarios.contains(&used) {
            self.scenarios.push(used);
        }
        runs
    }

    fn run(
        &mut self,
        scenario: &Scenario,
        seed: u64,
        used: &ScenarioUsed,
        datasets: DatasetChoice,
    ) -> Result<Simulated, ExperimentError> {
        if !self.seeds.contains(&seed) {
            self.seeds.push(seed);
        }
        let line = ProgressLine::new(&format!("{}, seed {seed}", used.name), self.shows_progress);
        let options = RunOptions::new(seed)
            .threads(self.threads)
            .record(datasets.record());
        let watch = Stopwatch::start();
        let outcome = undertone_sim::run(scenario, options, &mut |at| line.update(at));
        let measured = watch.read();
        line.finish();
        let outcome = outcome?;
        let summary = Summary::new(scenario, &outcome, measured, self.commit);
        OutsideOfRuns::count(&mut self.validity, &summary.validity, 1);
        if let Some(violation) = summary.violations.first() {
            return Err(ExperimentError::Violation {
                scenario: used.name.clone(),
                seed,
                violation: violation.clone(),
                replay: replay(used, seed),
            });
        }
        Ok(Simulated {
            scenario: scenario.clone(),
            outcome,
            summary,
        })
    }
}

fn replay(used: &ScenarioUsed, seed: u64) -> String {
    let mut line = format!("undertone sim {}", used.name);
    for set in &used.set {
        // Writing to a string cannot fail.
        let _ = write!(line, " --set '{set}'");
    }
    line + &format!(" --seed {seed}")
}
