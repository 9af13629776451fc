//! Errors in scenario files.

use std::{io, path::PathBuf};

use thiserror::Error;
use undertone_settings::Origin;

use super::gml::GmlError;
use super::interop::InteropError;

/// Reason why a scenario could not be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// No built-in scenario has this name.
    #[error("no scenario is called {name:?}{}", hint(nearest.as_deref()))]
    NoSuchScenario {
        /// The unknown name.
        name: String,
        /// Name of a scenario that was probably meant.
        nearest: Option<String>,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error reported by the system.
        source: io::Error,
    },
    /// The file is not TOML, or a key or value in it or in an override is wrong.
    #[error(transparent)]
    Setting(#[from] undertone_settings::Error),
    /// An override is not of the form `key=value`.
    #[error("--set {text}: expected KEY=VALUE, such as network.one_way_ms=100")]
    Override {
        /// Text of the override.
        text: String,
    },
    /// An override, or several that depend on each other, make the scenario wrong.
    #[error("--set {text}: {}", without_place(source))]
    Overridden {
        /// Text of the override; several are joined by ` --set `.
        text: String,
        /// Error that disappears when any one of them is left out.
        source: Box<Self>,
    },
    /// A folder has no results from which a scenario can be read.
    #[error("{}: {problem}", path.display())]
    Results {
        /// Path of the file.
        path: PathBuf,
        /// Description of what is wrong with it.
        problem: String,
    },
    /// Parameters passed by a program contain a null.
    #[error(
        "{}: null is no value of a scenario; leave the key out",
        Origin::Program
    )]
    Null,
    /// Parameters of the router contradict each other.
    #[error("{origin}: [relay]: {source}")]
    Relay {
        /// Position of the table.
        origin: Origin,
        /// Rule that is violated.
        source: undertone_gossip::ConfigError,
    },
    /// A script of gossipsub-interop cannot be simulated.
    #[error("{}: {source}", path.display())]
    Interop {
        /// Path of the file.
        path: PathBuf,
        /// Description of the mistake, with its place.
        source: InteropError,
    },
    /// A network graph cannot be used.
    #[error("{}:{line}: {source}", path.display())]
    Gml {
        /// Path of the file.
        path: PathBuf,
        /// Line of the mistake, from 1.
        line: usize,
        /// Description of the mistake.
        source: GmlError,
    },
}

/// The error message without the place `--set`, which the outer message already states.
fn without_place(error: &ScenarioError) -> String {
    let text = error.to_string();
    let place = format!("{}: ", Origin::Set);
    text.strip_prefix(&place).unwrap_or(&text).to_owned()
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(
        || "; `undertone sim --list` lists those built in, a path names a file".to_owned(),
        |nearest| format!("; did you mean {nearest:?}?"),
    )
}
