//! The folder that a migration makes; existing files are never overwritten.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::commands::Failure;

/// Paths in the folder of a migration.
pub(super) struct MigrationFolder {
    /// Data folder of the node, absolute: the configuration holds wherever the node is started.
    pub(super) data: PathBuf,
    pub(super) config: PathBuf,
    pub(super) archive: PathBuf,
}

impl MigrationFolder {
    /// Checks that nothing of the migration is there yet.
    pub(super) fn check(output: &Path) -> Result<Self, Failure> {
        let root = std::path::absolute(output).map_err(|error| Failure::at(output, error))?;
        let data = root.join("data");
        let place = Self {
            config: root.join("undertone.toml"),
            archive: data.join("store.sqlite"),
            data,
        };
        for path in [&place.config, &place.data] {
            // A link that leads nowhere counts too.
            if path.symlink_metadata().is_ok() {
                return Err(Failure::at(path, "exists already; nothing was changed")
                    .with_help("choose another --output, or move this away"));
            }
        }
        Ok(place)
    }

    /// Makes the folders; other users cannot read the one with the keys.
    pub(super) fn make(&self) -> Result<(), Failure> {
        use std::os::unix::fs::DirBuilderExt as _;
        if let Some(root) = self.data.parent() {
            fs::create_dir_all(root).map_err(|error| Failure::at(root, error))?;
        }
        let made = fs::DirBuilder::new().mode(0o700).create(&self.data);
        made.map_err(|error| Failure::at(&self.data, error))
    }
}

/// Writes a new file that its owner alone can read; an error names the file.
pub(super) fn write_new(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(path);
    let written =
        opened.and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()));
    written.map_err(|error| {
        Failure::at(path, error).with_help("check that the folder is writable and has space")
    })
}
