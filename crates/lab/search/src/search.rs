//! A search: generations of attacks, each run on all processors.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use undertone_sim::{Scenario, SimError};

use crate::attack::Attack;
use crate::evolution::{Candidate, Evolution, Judged};
use crate::genes::{self, Budget};
use crate::judge::{Aim, Figures};

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

/// Returned when a search cannot begin or go on.
#[derive(Debug, Error)]
pub enum SearchError {
    /// The state file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the failure.
        source: std::io::Error,
    },
    /// The state file has other content.
    #[error("{} is not the state of a search: {problem}; name another file, or remove it", path.display())]
    Content {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The state file belongs to another search.
    #[error("{} belongs to another search; name another file, or search with the same scenario and flags", path.display())]
    Other {
        /// Path of the file.
        path: PathBuf,
    },
    /// The scenario with the attack cannot be run.
    #[error(transparent)]
    Simulation(#[from] SimError),
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
        let path = || file.to_owned();
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self {
                    evolution: Evolution::new(settings.seed, genes::count(), settings.generation),
                    settings,
                    tried: 0,
                    kept_score: 0,
                });
            }
            Err(source) => {
                return Err(SearchError::File {
                    path: path(),
                    source,
                });
            }
        };
        let known: Self = serde_json::from_str(&text).map_err(|error| SearchError::Content {
            path: path(),
            problem: error.to_string(),
        })?;
        match known.settings == settings {
            true => Ok(known),
            false => Err(SearchError::Other { path: path() }),
        }
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
        let figures = self.judge(scenario, &candidates, threads)?;
        self.tried += figures.len();
        self.kept_score += figures
            .iter()
            .filter(|figures| figures.lowest_score >= 0.0)
            .count();
        let Settings {
            aim, keeps_score, ..
        } = self.settings;
        let judged = candidates
            .into_iter()
            .zip(figures)
            .map(|(candidate, figures)| Judged {
                cost: figures.cost(aim, keeps_score),
                candidate,
                figures,
            });
        self.evolution.select(judged.collect());
        let text = serde_json::to_string(self).expect("numbers and texts can be written");
        // A file that is replaced whole is never half a state.
        let new = file.with_extension("new");
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, file));
        written.map_err(|source| SearchError::File {
            path: file.to_owned(),
            source,
        })
    }

    /// The worst attack so far, with its figures.
    pub fn worst(&self, scenario: &Scenario) -> Option<(Figures, Attack)> {
        let best = self.evolution.best()?;
        let attack = genes::attack(scenario, self.settings.budget, &best.candidate.genes);
        Some((best.figures, attack))
    }

    /// Runs attacks on several threads. The order of the figures is that of the candidates.
    fn judge(
        &self,
        scenario: &Scenario,
        candidates: &[Candidate],
        threads: usize,
    ) -> Result<Vec<Figures>, SearchError> {
        let next = AtomicUsize::new(0);
        let settings = &self.settings;
        let work = || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(candidate) = candidates.get(number) else {
                    return done;
                };
                let attack = genes::attack(scenario, settings.budget, &candidate.genes);
                done.push((number, Figures::of(&attack.on(scenario), settings.seed)));
            }
        };
        let mut all: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
            let done = workers
                .into_iter()
                .flat_map(|worker| worker.join().expect("a run does not panic"));
            done.collect()
        });
        all.sort_by_key(|(number, _)| *number);
        all.into_iter().map(|(_, figures)| Ok(figures?)).collect()
    }
}
