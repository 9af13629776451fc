//! Scenarios of earlier runs, read from the files that the runs left.

use std::path::Path;

use serde::Deserialize;
use undertone_rln::durable::read_bounded;

use super::document::Document;
use super::resolved::ResolvedScenario;
use super::{Loaded, ScenarioError, read_document};
use crate::record::MAX_RECORD_BYTES;

/// Scenario of an earlier run or campaign, and its runs.
#[derive(Clone, Debug)]
pub struct EarlierRuns {
    /// The scenario, with overrides applied to it.
    pub loaded: Loaded,
    /// The runs, in the order in which they were made.
    pub runs: Vec<EarlierRun>,
}

/// One run of an earlier campaign.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct EarlierRun {
    /// Seed of the run.
    pub seed: u64,
    /// Commit of the program.
    pub commit: String,
    /// Trace hash of the run; `None` for a run on real clocks and one that was interrupted.
    pub trace_hash: Option<String>,
}

/// The part of `summary.json` that describes what was run.
#[derive(Deserialize)]
struct SummaryFile {
    scenario: String,
    resolved: Option<ResolvedScenario>,
    seed: Option<u64>,
    commit: Option<String>,
    trace_hash: Option<String>,
    #[serde(default)]
    runs: Vec<EarlierRun>,
}

/// Reads the scenario of the runs whose results are in a folder, and applies overrides to it.
///
/// # Errors
/// Returns [`ScenarioError::Results`] when there are no such results, and the first mistake of an override.
pub fn load_results(folder: &Path, overrides: &[String]) -> Result<EarlierRuns, ScenarioError> {
    let path = folder.join("summary.json");
    let bad = |problem: String| ScenarioError::Results {
        path: path.clone(),
        problem,
    };
    let summary = read_bounded(&path, MAX_RECORD_BYTES);
    let summary = summary.map_err(|source| ScenarioError::Read {
        path: path.clone(),
        source,
    })?;
    let summary: SummaryFile = serde_json::from_slice(&summary)
        .map_err(|error| bad(format!("no summary of a run: {error}")))?;
    let missing = "it does not say what was run; programs before 0.2 left that out";
    let resolved = summary.resolved.ok_or_else(|| bad(missing.to_owned()))?;
    let root = resolved.document(&path.to_string_lossy());
    let document = Document {
        root: root.ok_or_else(|| bad("its parameters are no scenario".to_owned()))?,
        name: summary.scenario,
        folder: None,
    };
    let mut runs = summary.runs;
    if let Some(seed) = summary.seed {
        runs.push(EarlierRun {
            seed,
            commit: summary.commit.unwrap_or_default(),
            trace_hash: summary.trace_hash,
        });
    }
    Ok(EarlierRuns {
        loaded: read_document(&document, overrides, Some(&resolved))?,
        runs,
    })
}
