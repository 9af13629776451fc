//! Files that a scenario is read from, with a bound on their length.

use std::fs;
use std::path::Path;

use super::error::ScenarioError;

/// Longest scenario file or network graph, bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Reads a file that is not too long.
pub(crate) fn read_bounded(path: &Path) -> Result<String, ScenarioError> {
    let failed = |source| ScenarioError::Read {
        path: path.to_owned(),
        source,
    };
    let length = fs::metadata(path).map_err(failed)?.len();
    if length > MAX_FILE_BYTES {
        return Err(ScenarioError::TooLong {
            path: path.to_owned(),
            bytes: length,
            max_bytes: MAX_FILE_BYTES,
        });
    }
    fs::read_to_string(path).map_err(failed)
}
