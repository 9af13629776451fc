//! Scenario files: reads TOML into [`undertone_sim::Scenario`].
//!
//! Every key ends in its unit. Every mistake is reported with file, line, key, value and the expected
//! values. A scenario is named by a path, or by the bare name of a [built-in](BUILT_IN) one.

mod built_in;
mod difference;
mod document;
mod error;
mod file;
mod gml;
mod interop;
mod resolved;
mod results;
mod seeds;
mod set;
mod source;
mod strategies;
mod tables;

#[cfg(test)]
mod tests;

use std::path::Path;

use undertone_gossip::Config;
use undertone_settings::TomlEntry;
use undertone_sim::Scenario;

use document::Document;
use tables::ReadScenario;

pub use built_in::{BUILT_IN, BuiltIn};
pub use difference::based_on;
pub use error::ScenarioError;
pub(crate) use file::read_bounded;
pub use gml::GmlError;
pub use interop::InteropError;
pub use resolved::ResolvedScenario;
pub use results::{EarlierRun, EarlierRuns, load_results};
pub use seeds::{MAX_SEEDS, SeedsError, parse_seeds};
pub use source::ScenarioSource;
pub use strategies::{StrategyNameTaken, register_strategy};

/// A scenario and the other contents of its file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Scenario described by the file.
    pub scenario: Scenario,
    /// Description in one line, for people; may be empty.
    pub description: String,
    /// Router parameters that the file sets, as the text of a file that [`relay_parameters`] reads.
    pub relay_parameters: String,
    /// Every parameter with its origin, and the hash over them.
    pub resolved: ResolvedScenario,
}

/// Reads the scenario at a path, or the built-in one with a name, and applies overrides
/// of the form `key.path=value`.
///
/// # Errors
/// Returns the first mistake found.
pub fn load(reference: &str, overrides: &[String]) -> Result<Loaded, ScenarioError> {
    ScenarioSource::named(reference)?.load(overrides)
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
    let document = Document::parse(text, place, name, folder)?;
    read_document(&document, overrides, None)
}

/// Reads a document with overrides. `earlier` is the resolved scenario that the document comes from, if
/// any.
fn read_document(
    document: &Document,
    overrides: &[String],
    earlier: Option<&ResolvedScenario>,
) -> Result<Loaded, ScenarioError> {
    let read = |overrides: &[String]| -> Result<(TomlEntry, ReadScenario), ScenarioError> {
        let mut root = document.root.clone();
        for text in overrides {
            set::apply(&mut root, text)?;
        }
        let content = tables::read_scenario(&root, &document.name, document.folder.as_deref())?;
        Ok((root, content))
    };
    let (root, content) = read(overrides)
        .map_err(|error| blame(error, overrides, |overrides| read(overrides).err()))?;
    let parameters = tables::write_scenario(&content.scenario, &content.description);
    Ok(Loaded {
        scenario: content.scenario,
        description: content.description,
        relay_parameters: content.relay_parameters,
        resolved: ResolvedScenario::new(&parameters, &root, overrides, earlier),
    })
}

/// Names the overrides that cause an error. An error of the scenario itself is returned unchanged.
fn blame(
    error: ScenarioError,
    overrides: &[String],
    again: impl Fn(&[String]) -> Option<ScenarioError>,
) -> ScenarioError {
    if matches!(error, ScenarioError::Override { .. }) {
        return error;
    }
    let said = error.to_string();
    let stays = |some: &[String]| again(some).is_some_and(|other| other.to_string() == said);
    if stays(&[]) {
        return error;
    }
    // A minimal set: without any one of these overrides, the error disappears or changes.
    let mut needed: Vec<String> = overrides.to_vec();
    for text in overrides {
        let without: Vec<String> = needed
            .iter()
            .filter(|&other| other != text)
            .cloned()
            .collect();
        if stays(&without) {
            needed = without;
        }
    }
    ScenarioError::Overridden {
        text: needed.join(" --set "),
        source: Box::new(error),
    }
}

/// Reads all parameters of a router from a file. The file may hold nothing but the `[relay]` table of a
/// scenario, with only the keys that concern the router.
///
/// # Errors
/// Returns the first mistake found.
pub fn relay_parameters(path: &Path) -> Result<Config, ScenarioError> {
    let root = TomlEntry::read(&read_bounded(path)?, &path.to_string_lossy())?;
    tables::relay_parameters(&root)
}
