//! The directory of an archive: its files, and what its writer tells its readers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::error::of_io;
use crate::ArchiveError;
use crate::slot::SlotRange;

/// File whose presence makes a directory an archive.
const MARKER: &str = "archive.sqlite";

/// End of the name of a slot's file that is being made.
const UNFINISHED: &str = "new";

/// Slot of an archive, as readers see it.
#[derive(Clone, Debug)]
pub(super) struct SqliteSlot {
    /// Number of the file; never used again.
    pub(super) number: u64,
    pub(super) range: SlotRange,
    pub(super) messages: u64,
    pub(super) oldest_ns: Option<i64>,
    pub(super) newest_ns: Option<i64>,
}

/// Identity of a file, which a file of the same name does not share.
pub(super) type FileId = (u64, u64);

/// State that writer and readers of an archive share.
pub(super) struct SharedDirectory {
    pub(super) place: Arc<str>,
    directory: PathBuf,
    state: Mutex<DirectoryState>,
}

#[derive(Default)]
struct DirectoryState {
    /// Slots ordered by time.
    slots: Arc<Vec<SqliteSlot>>,
    /// Marker that was found when the slots were read; `None` if they have to be read again.
    marker: Option<FileId>,
}

impl SharedDirectory {
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            place: directory.display().to_string().into(),
            directory: directory.into(),
            state: Mutex::default(),
        }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn marker(&self) -> PathBuf {
        self.directory.join(MARKER)
    }

    /// File of a slot.
    pub(super) fn slot(&self, number: u64) -> PathBuf {
        self.directory.join(format!("slot-{number:08}.sqlite"))
    }

    /// File of a slot before its tables are on disk.
    pub(super) fn unfinished(&self, number: u64) -> PathBuf {
        self.directory
            .join(format!("slot-{number:08}.{UNFINISHED}"))
    }

    /// Gives the file of a slot its name, for good.
    pub(super) fn finish(&self, number: u64) -> Result<(), ArchiveError> {
        let renamed = fs::rename(self.unfinished(number), self.slot(number));
        let synced = renamed.and_then(|()| match cfg!(unix) {
            true => fs::File::open(&self.directory)?.sync_all(),
            false => Ok(()),
        });
        synced.map_err(|error| of_io(&self.directory, error))
    }

    /// Slots that the writer published last.
    pub(super) fn slots(&self) -> Arc<Vec<SqliteSlot>> {
        Arc::clone(&self.state.lock().slots)
    }

    /// Replaces the slots.
    pub(super) fn publish(&self, slots: Vec<SqliteSlot>) {
        self.state.lock().slots = Arc::new(slots);
    }

    /// Notes the marker that belongs to the slots.
    pub(super) fn set_marker(&self, marker: Option<FileId>) {
        self.state.lock().marker = marker;
    }

    /// Checks that the directory still is the one whose slots are known, and returns its marker's identity. Without
    /// this, a process would go on with files that have been removed, which disappear with it.
    pub(super) fn check(&self) -> Result<FileId, ArchiveError> {
        let found = file_id(&self.marker()).map_err(|error| of_io(&self.directory, error))?;
        if self.state.lock().marker != Some(found) {
            return Err(ArchiveError::Vanished {
                place: Arc::clone(&self.place),
            });
        }
        Ok(found)
    }

    /// Numbers of the slot files in the directory; removes logs whose slots are gone, and files that a process which
    /// ended left unfinished: no message is in them.
    pub(super) fn list(&self) -> Result<Vec<u64>, ArchiveError> {
        let (numbers, rest) = self.files()?;
        for number in rest {
            if !numbers.contains(&number) {
                self.remove(number)?;
            }
            let unfinished = self.unfinished(number);
            remove_all(&unfinished, &["", "-journal"])?;
        }
        Ok(numbers)
    }

    /// Numbers of the slot files in the directory, ascending; changes nothing.
    pub(super) fn slot_numbers(&self) -> Result<Vec<u64>, ArchiveError> {
        Ok(self.files()?.0)
    }

    /// Numbers of the slot files in the directory, ascending, and of other files that belong to a slot.
    fn files(&self) -> Result<(Vec<u64>, Vec<u64>), ArchiveError> {
        let failed = |error| of_io(&self.directory, error);
        let mut numbers = Vec::new();
        let mut rest = Vec::new();
        for entry in fs::read_dir(&self.directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_prefix("slot-")) else {
                continue;
            };
            let (number, end) = name.split_once('.').unwrap_or((name, ""));
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match end {
                "sqlite" => numbers.push(number),
                "sqlite-wal" | "sqlite-shm" => rest.push(number),
                end if end.strip_suffix("-journal").unwrap_or(end) == UNFINISHED => {
                    rest.push(number);
                }
                _ => {}
            }
        }
        numbers.sort_unstable();
        Ok((numbers, rest))
    }

    /// Removes the files of a slot, the slot itself first, so that its log never counts for another.
    pub(super) fn remove(&self, number: u64) -> Result<(), ArchiveError> {
        remove_all(&self.slot(number), &["", "-wal", "-shm"])
    }

    /// Disk space of a slot, bytes; 0 if it is gone.
    pub(super) fn bytes(&self, number: u64) -> u64 {
        let path = self.slot(number);
        let mut log = path.clone().into_os_string();
        log.push("-wal");
        let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        length(&path) + length(Path::new(&log))
    }
}

/// Removes the files whose names are a path with these ends, in this order, as far as they are there.
fn remove_all(path: &Path, ends: &[&str]) -> Result<(), ArchiveError> {
    for end in ends {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        match fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(of_io(path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the identity of a file.
#[cfg(unix)]
pub(super) fn file_id(path: &Path) -> std::io::Result<FileId> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Returns whether a file exists: here an open file cannot be removed.
#[cfg(not(unix))]
pub(super) fn file_id(path: &Path) -> std::io::Result<FileId> {
    fs::metadata(path).map(|_| (0, 0))
}
