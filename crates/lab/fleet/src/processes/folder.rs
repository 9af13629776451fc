//! Folders for the files of a run's nodes: `undertone-testbed` in the system's temporary folder has
//! a folder for each run. A run removes its own folder when it ends, and the folders of killed runs
//! when it starts.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process;

use super::error::RunError;

/// File in the folder of a run, locked by the run's process as long as the process lives.
const LOCK: &str = "lock";

/// File that is locked while run folders are created or checked.
const DOOR: &str = "door";

/// Folder of this run, removed when dropped.
#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    _lock: File,
}

/// Returns the folder that holds the folders of all runs.
pub(crate) fn base() -> PathBuf {
    std::env::temp_dir().join("undertone-testbed")
}

impl RunFolder {
    /// Creates the run's folder, and removes the folders that killed runs have left.
    pub(crate) fn make(base: &Path) -> Result<Self, RunError> {
        let path = base.join(format!("run-{}", process::id()));
        let made = Self::try_make(base, &path);
        made.map_err(|error| RunError::Folder { path, error })
    }

    fn try_make(base: &Path, path: &Path) -> io::Result<Self> {
        let mut private = DirBuilder::new();
        private.mode(0o700);
        if !base.is_dir() {
            private.recursive(true).create(base)?;
        }
        let door = File::create(base.join(DOOR))?;
        door.lock()?;
        for entry in fs::read_dir(base)? {
            let left = entry?.path();
            if left.is_dir() && !is_in_use(&left) {
                fs::remove_dir_all(left)?;
            }
        }
        private.recursive(false).create(path)?;
        let lock = File::create(path.join(LOCK))?;
        lock.lock()?;
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a new folder in the run's folder.
    pub(crate) fn folder(&self, name: &str) -> Result<PathBuf, RunError> {
        let path = self.path.join(name);
        match fs::create_dir(&path) {
            Ok(()) => Ok(path),
            Err(error) => Err(RunError::Folder { path, error }),
        }
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // On failure the next run tries again.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn is_in_use(run: &Path) -> bool {
    File::open(run.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_err())
}

#[cfg(test)]
#[path = "tests/folder.rs"]
mod tests;
