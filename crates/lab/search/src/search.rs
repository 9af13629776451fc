//! A search: generations of attacks, each run on all processors.

use std::path::Path;

use serde::{Deserialize, Serialize};
use undertone_sim::Scenario;

use crate::attack::Attack;
use crate::evolution::{Evolution, Judged};
use crate::genes::{self, Budget};
use crate::judge::{Aim, Figures};
use crate::state::{self, SearchError};

/// What a search is asked for. A file of another search is not continued.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Name of the scenario, and the hash over its parameters.
    pub scenario: (String, String),
    /// Seed of the search and of its runs.
    pub seed: u64,
    /// What attacks may use.
    pub budget: Budget,
    /// What attacks are to achieve.
    pub aim: Aim,
    /// Whether every adversary must keep a score of 0 or more.
    pub keeps_score: bool,
    /// Number of attacks of a generation.
    pub generation: usize,
}

/// State of a search, as in its file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Search {
    /// What it is asked for.
    pub settings: Settings,
    /// Number of attacks tried.
    pub tried: usize,
    /// Number of those whose adversaries kept a score of 0 or more.
    pub kept_score: usize,
    evolution: Evolution<Figures>,
}

impl Search {
    /// Begins a search, or goes on with the one in a file.
    ///
    /// # Errors
    /// Returns an error when the file cannot be read, or belongs to another search.
    pub fn new(settings: Settings, file: &Path) -> Result<Self, SearchError> {
        let is_same = |known: &Self| known.settings == settings;
        Ok(state::read(file, is_same)?.unwrap_or_else(|| Self {
            evolution: Evolution::new(
                settings.seed,
                genes::count(settings.budget),
                settings.generation,
            ),
            settings,
            tried: 0,
            kept_score: 0,
        }))
    }

    /// Runs one generation, and writes the state to the file.
    ///
    /// # Errors
    /// Returns an error when an attack cannot be run, or the file cannot be written.
    pub fn step(
        &mut self,
        scenario: &Scenario,
        threads: usize,
        file: &Path,
    ) -> Result<(), SearchError> {
        let candidates = self.evolution.candidates();
        let Settings {
            aim,
            keeps_score,
            budget,
            seed,
            ..
        } = self.settings;
        let figures = state::on_threads(&candidates, threads, |candidate| {
            let attack = genes::attack(scenario, budget, &candidate.genes);
            Figures::of(&attack.on(scenario), seed)
        });
        let figures = figures.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.tried += figures.len();
        self.kept_score += figures
            .iter()
            .filter(|figures| figures.lowest_score >= 0.0)
            .count();
        let judged = candidates
            .into_iter()
            .zip(figures)
            .map(|(candidate, figures)| Judged {
                cost: figures.cost(aim, keeps_score),
                candidate,
                figures,
            });
        self.evolution.select(judged.collect());
        state::write(file, self)
    }

    /// The worst attack so far, with its figures.
    pub fn worst(&self, scenario: &Scenario) -> Option<(Figures, Attack)> {
        let best = self.evolution.best()?;
        let attack = genes::attack(scenario, self.settings.budget, &best.candidate.genes);
        Some((best.figures, attack))
    }
}
