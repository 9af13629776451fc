//! The folder created by a migration; existing files are never overwritten.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::MigrateError;

/// Paths in the folder of a migration.
pub(crate) struct MigrationFolder {
    /// Data folder of the node, absolute, so that the configuration works from any working directory.
    pub(crate) data: PathBuf,
    pub(crate) config: PathBuf,
    pub(crate) archive: PathBuf,
}

impl MigrationFolder {
    /// Checks that no file of the migration exists yet.
    pub(crate) fn check(output: &Path) -> Result<Self, MigrateError> {
        let root = std::path::absolute(output).map_err(unusable(output))?;
        let data = root.join("data");
        let place = Self {
            config: root.join("undertone.toml"),
            archive: data.join("store.sqlite"),
            data,
        };
        for path in [&place.config, &place.data] {
            // A dangling link counts as well.
            if path.symlink_metadata().is_ok() {
                return Err(MigrateError::Exists {
                    path: path.to_owned(),
                });
            }
        }
        Ok(place)
    }

    /// Creates the folders; other users cannot read the one with the keys.
    pub(crate) fn make(&self) -> Result<(), MigrateError> {
        use std::os::unix::fs::DirBuilderExt as _;
        if let Some(root) = self.data.parent() {
            fs::create_dir_all(root).map_err(unusable(root))?;
        }
        let made = fs::DirBuilder::new().mode(0o700).create(&self.data);
        made.map_err(unusable(&self.data))
    }
}

/// Writes a new file that only its owner can read; an error names the file.
pub(crate) fn write_new(path: &Path, content: &[u8]) -> Result<(), MigrateError> {
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(path);
    let written =
        opened.and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()));
    written.map_err(|source| MigrateError::Write {
        path: path.to_owned(),
        source,
    })
}

fn unusable(path: &Path) -> impl FnOnce(io::Error) -> MigrateError {
    let path = path.to_owned();
    |source| MigrateError::File { path, source }
}
