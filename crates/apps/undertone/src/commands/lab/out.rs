//! Writing an experiment's record to its file.

use std::fs;
use std::path::{Path, PathBuf};

use undertone_lab::record::ExperimentRecord;

use super::super::Failure;

/// Writes `<id>.json` in the folder, replacing an older file. A concurrent reader always finds a complete
/// record.
pub(super) fn write(folder: &Path, record: &ExperimentRecord) -> Result<PathBuf, Failure> {
    let path = folder.join(format!("{}.json", record.id));
    let partial = folder.join(format!("{}.json.partial", record.id));
    let text = serde_json::to_string_pretty(record)
        .expect("records have string keys and infallible fields");
    fs::write(&partial, text + "\n").map_err(|error| Failure::at(&partial, error))?;
    fs::rename(&partial, &path).map_err(|error| Failure::at(&path, error))?;
    Ok(path)
}
