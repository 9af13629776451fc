//! Installs a folder's npm packages when they are missing or not those of its lock file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};
use thiserror::Error;

#[cfg(test)]
mod tests;

/// Inside `node_modules`: the hash of the lock file that it was installed from.
const STAMP: &str = ".undertone-lock-sha256";
/// Beside `package-lock.json`: held while one process installs.
const LOCK: &str = "node_modules.lock";

/// Why the packages of a folder are not there.
#[derive(Debug, Error)]
pub enum NpmError {
    /// There is no npm on this machine.
    #[error("cannot run `{program}`: {source}; install Node.js with npm, or put npm on the PATH")]
    NoNpm {
        /// The program that was tried.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// npm ran and failed.
    #[error("`npm ci` failed in {dir} ({status}):\n{stderr}")]
    Failed {
        /// The folder.
        dir: PathBuf,
        /// Its exit status.
        status: std::process::ExitStatus,
        /// What it said.
        stderr: String,
    },
    /// A file of the folder could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Makes `dir/node_modules` match `dir/package-lock.json`. Cheap when it already does; processes that
/// call it at the same time wait for one another.
pub fn ensure(dir: &Path) -> Result<(), NpmError> {
    ensure_with("npm", dir)
}

fn ensure_with(npm: &str, dir: &Path) -> Result<(), NpmError> {
    let lock_path = dir.join(LOCK);
    let lock = File::create(&lock_path).map_err(at(&lock_path))?;
    lock.lock().map_err(at(&lock_path))?;

    let wanted = lock_file_hash(dir)?;
    let stamp = dir.join("node_modules").join(STAMP);
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let output = Command::new(npm)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(dir)
        .output()
        .map_err(|source| NpmError::NoNpm {
            program: npm.to_owned(),
            source,
        })?;
    if !output.status.success() {
        return Err(NpmError::Failed {
            dir: dir.to_owned(),
            status: output.status,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        });
    }
    fs::write(&stamp, wanted).map_err(at(&stamp))
}

fn lock_file_hash(dir: &Path) -> Result<String, NpmError> {
    let path = dir.join("package-lock.json");
    let bytes = fs::read(&path).map_err(at(&path))?;
    Ok(hex::encode(Sha256::digest(bytes)))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> NpmError {
    let path = path.to_owned();
    |source| NpmError::File { path, source }
}
