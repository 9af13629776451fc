//! Installation of anvil by npm, if the sources are present.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{DevChainError, find};

/// Returns the folder whose npm lock file lists the program with its checksum.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../contracts")
}

/// Finds the program, or calls `installing` and installs the program by `npm ci`. Returns
/// [`DevChainError::NotFound`] without npm or the sources.
pub(super) fn find_or_install(installing: impl FnOnce()) -> Result<PathBuf, DevChainError> {
    let (found, folder) = (find(), folder());
    let missing = matches!(found, Err(DevChainError::NotFound));
    if !missing || !folder.join("package-lock.json").is_file() || !has_npm() {
        return found;
    }
    installing();
    // The program needs no installation script, so npm does not run any.
    let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
    let output = Command::new("npm")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    let output = output.map_err(|error| DevChainError::Install {
        said: error.to_string(),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(DevChainError::Install { said });
    }
    find()
}

fn has_npm() -> bool {
    let version = Command::new("npm")
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}
