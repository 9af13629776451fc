//! Files from which a scenario is read; their length is bounded.

use std::path::Path;

use undertone_rln::durable::read_bounded_text;

use super::error::ScenarioError;

/// Longest scenario file or network graph, bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Reads a file that is not too long.
pub(crate) fn read_bounded(path: &Path) -> Result<String, ScenarioError> {
    read_bounded_text(path, MAX_FILE_BYTES).map_err(|source| ScenarioError::Read {
        path: path.to_owned(),
        source,
    })
}
