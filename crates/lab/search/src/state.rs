//! What searches share: the file of a search, and its runs on several threads.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use undertone_lab::scenario::ScenarioError;
use undertone_sim::SimError;

/// Returned when a search cannot begin or go on.
#[derive(Debug, Error)]
pub enum SearchError {
    /// The state file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Cause of the failure.
        source: io::Error,
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
    /// A scenario cannot be run.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// Rules are searched against a scenario that has no adversaries.
    #[error("{scenario} has no adversaries; rules are searched against scenarios that have some")]
    NoAdversaries {
        /// Name of the scenario.
        scenario: String,
    },
    /// Rules are searched against an attack during which nothing is delivered.
    #[error(
        "{scenario} delivers nothing after the attack begins; publish longer, with traffic.messages or traffic.spacing_s"
    )]
    NothingDelivered {
        /// Name of the scenario.
        scenario: String,
    },
    /// A scenario cannot be read.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

/// Reads the state of a search; `None` if there is no such file.
pub(crate) fn read<T: DeserializeOwned>(
    file: &Path,
    is_same: impl FnOnce(&T) -> bool,
) -> Result<Option<T>, SearchError> {
    let path = || file.to_owned();
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(SearchError::File {
                path: path(),
                source,
            });
        }
    };
    let known: T = serde_json::from_str(&text).map_err(|error| SearchError::Content {
        path: path(),
        problem: error.to_string(),
    })?;
    match is_same(&known) {
        true => Ok(Some(known)),
        false => Err(SearchError::Other { path: path() }),
    }
}

/// Writes the state of a search.
pub(crate) fn write(file: &Path, state: &impl Serialize) -> Result<(), SearchError> {
    let text = serde_json::to_string(state).expect("numbers and texts can be written");
    // A file that is replaced whole is never half a state.
    let new = file.with_extension("new");
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, file));
    written.map_err(|source| SearchError::File {
        path: file.to_owned(),
        source,
    })
}

/// Works on all items on several threads. The results are in the order of the items.
pub(crate) fn on_threads<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else {
                return done;
            };
            done.push((number, work(item)));
        }
    };
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let done = workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("a run does not panic"));
        done.collect()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, result)| result).collect()
}
