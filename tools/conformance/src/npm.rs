//! Installs a folder's npm packages if they are missing or do not match its lock file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};
use thiserror::Error;

#[cfg(test)]
#[path = "tests/npm.rs"]
mod tests;

/// File in `node_modules` with the hash of the lock file from which the packages were installed.
const STAMP: &str = ".undertone-lock-sha256";
/// File beside `package-lock.json` that is locked while a process installs.
const LOCK: &str = "node_modules.lock";

/// Errors in installing the packages of a folder.
#[derive(Debug, Error)]
pub enum NpmError {
    /// The program npm could not be run.
    #[error("cannot run `{program}`: {source}; install Node.js with npm, or put npm on the PATH")]
    NoNpm {
        /// Name of the program that was tried.
        program: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The program npm ran and failed.
    #[error("`npm ci` failed in {dir} ({status}):\n{stderr}")]
    Failed {
        /// Folder of the packages.
        dir: PathBuf,
        /// Exit status of npm.
        status: std::process::ExitStatus,
        /// Standard error of npm.
        stderr: String,
    },
    /// A file of the folder could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

/// Makes `dir/node_modules` match `dir/package-lock.json`. Does nothing if they already match. Concurrent
/// processes wait for one another.
///
/// # Errors
/// [`NpmError`] if npm cannot be run or fails, or if a file of the folder cannot be read or written.
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
