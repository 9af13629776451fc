//! Scenario files: reads TOML into [`undertone_sim::Scenario`].
//!
//! Every key ends in its unit. Every mistake is reported with file, line, key, value and the expected
//! values. A scenario is named by a path, or by the bare name of a [built-in](BUILT_IN) one.

mod built_in;
mod error;
mod file;
mod gml;
mod read;
mod seeds;
mod set;

#[cfg(test)]
mod tests;

use std::path::Path;

use undertone_gossip::Config;
use undertone_settings::{TomlEntry, nearest};
use undertone_sim::Scenario;

use file::read_bounded;

pub use built_in::{BUILT_IN, BuiltIn};
pub use error::ScenarioError;
pub use gml::GmlError;
pub use seeds::{MAX_SEEDS, SeedsError, parse_seeds};

/// A scenario with further content of its file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Scenario described by the file.
    pub scenario: Scenario,
    /// Description in one line, for people; may be empty.
    pub description: String,
    /// Router parameters that the file sets, as a file that [`relay_parameters`] reads.
    pub relay_parameters: String,
}

/// Reads the scenario at a path, or the built-in one with a name, and applies overrides
/// of the form `key.path=value`.
///
/// # Errors
/// Returns the first mistake found.
pub fn load(reference: &str, overrides: &[String]) -> Result<Loaded, ScenarioError> {
    if let Some(found) = BUILT_IN.iter().find(|found| found.name == reference) {
        let place = format!("scenarios/{}.toml", found.name);
        return parse(found.text, &place, found.name, None, overrides);
    }
    let path = Path::new(reference);
    let is_path = reference.contains(std::path::is_separator) || path.extension().is_some();
    if !is_path && !path.exists() {
        return Err(ScenarioError::NoSuchScenario {
            name: reference.to_owned(),
            nearest: nearest(reference, BUILT_IN.iter().map(|found| found.name)),
        });
    }
    let text = read_bounded(path)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new(""));
    parse(&text, reference, &name, Some(folder), overrides)
}

/// Reads a scenario from text. `place` names its file in messages, `name` is the scenario's name, and
/// `folder` is the base of relative file names in it; without a folder the text must not refer to files.
///
/// # Errors
/// Returns the first mistake found.
pub fn parse(
    text: &str,
    place: &str,
    name: &str,
    folder: Option<&Path>,
    overrides: &[String],
) -> Result<Loaded, ScenarioError> {
    let mut root = TomlEntry::read(text, place)?;
    for text in overrides {
        set::apply(&mut root, text)?;
    }
    read::read(&root, name, folder)
}

/// Reads all parameters of a router from a file. The file may hold nothing but the `[relay]` table of a
/// scenario, with only the keys that concern the router.
///
/// # Errors
/// Returns the first mistake found.
pub fn relay_parameters(path: &Path) -> Result<Config, ScenarioError> {
    let root = TomlEntry::read(&read_bounded(path)?, &path.to_string_lossy())?;
    read::relay_parameters(&root)
}
