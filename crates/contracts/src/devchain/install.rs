//! Getting the program, where the sources are.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{DevChainError, find};

/// The folder whose lock file names the program with its checksum.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts")
}

/// The program; where there is none, `npm ci` brings it, after `installing` was called. Without npm or
/// the sources that is [`DevChainError::NotFound`].
pub(super) fn find_or_install(installing: impl FnOnce()) -> Result<PathBuf, DevChainError> {
    let (found, folder) = (find(), folder());
    let missing = matches!(found, Err(DevChainError::NotFound));
    if !missing || !folder.join("package-lock.json").is_file() || !has_npm() {
        return found;
    }
    installing();
    // It is ready as it comes: no script of a package is run.
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
