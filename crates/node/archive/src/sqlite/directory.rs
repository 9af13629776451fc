//! The directory of an archive: its files, and the state that its writer shares with its readers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::error::of_io;
use crate::ArchiveError;
use crate::slot::SlotRange;

/// File whose presence makes a directory an archive.
const MARKER: &str = "archive.sqlite";

/// File extension of a slot that is being created.
const UNFINISHED: &str = "new";

/// Slot of an archive, as seen by readers.
#[derive(Clone, Debug)]
pub(super) struct SqliteSlot {
    /// Number of the file; never reused.
    pub(super) number: u64,
    pub(super) range: SlotRange,
    pub(super) messages: u64,
    pub(super) oldest_ns: Option<i64>,
    pub(super) newest_ns: Option<i64>,
}

/// Identity of a file; another file of the same name has a different one.
pub(super) type FileId = (u64, u64);

/// State shared by the writer and the readers of an archive.
pub(super) struct SharedDirectory {
    pub(super) place: Arc<str>,
    directory: PathBuf,
    state: Mutex<DirectoryState>,
}

#[derive(Default)]
struct DirectoryState {
    /// Slots ordered by time.
    slots: Arc<Vec<SqliteSlot>>,
    /// Marker at the time when the slots were read; `None` if they have to be read again.
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

    /// Returns the file of a slot.
    pub(super) fn slot(&self, number: u64) -> PathBuf {
        self.directory.join(format!("slot-{number:08}.sqlite"))
    }

    /// Returns the file of a slot whose tables are not on disk yet.
    pub(super) fn unfinished(&self, number: u64) -> PathBuf {
        self.directory
            .join(format!("slot-{number:08}.{UNFINISHED}"))
    }

    /// Gives a slot's file its final name, durably.
    pub(super) fn finish(&self, number: u64) -> Result<(), ArchiveError> {
        let renamed = fs::rename(self.unfinished(number), self.slot(number));
        let synced = renamed.and_then(|()| match cfg!(unix) {
            true => fs::File::open(&self.directory)?.sync_all(),
            false => Ok(()),
        });
        synced.map_err(|error| of_io(&self.directory, error))
    }

    /// Returns the slots that the writer last published.
    pub(super) fn slots(&self) -> Arc<Vec<SqliteSlot>> {
        Arc::clone(&self.state.lock().slots)
    }

    /// Replaces the slots.
    pub(super) fn publish(&self, slots: Vec<SqliteSlot>) {
        self.state.lock().slots = Arc::new(slots);
    }

    /// Records the marker that belongs to the slots.
    pub(super) fn set_marker(&self, marker: Option<FileId>) {
        self.state.lock().marker = marker;
    }

    /// Checks that the directory is still the one whose slots are known, and returns its marker's identity. Without
    /// this, a process would continue with removed files, which disappear when it ends.
    pub(super) fn check(&self) -> Result<FileId, ArchiveError> {
        let found = file_id(&self.marker()).map_err(|error| of_io(&self.directory, error))?;
        if self.state.lock().marker != Some(found) {
            return Err(ArchiveError::Vanished {
                place: Arc::clone(&self.place),
            });
        }
        Ok(found)
    }

    /// Returns the numbers of the slot files in the directory. Removes logs whose slots are gone, and unfinished files
    /// of a process that ended, which contain no messages.
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

    /// Returns the numbers of the slot files in the directory, ascending; changes nothing.
    pub(super) fn slot_numbers(&self) -> Result<Vec<u64>, ArchiveError> {
        Ok(self.files()?.0)
    }

    /// Returns the numbers of the slot files in the directory, ascending, and those of other files that belong to a
    /// slot.
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

    /// Removes the files of a slot. The slot itself goes first, so that its log is never applied to another one.
    pub(super) fn remove(&self, number: u64) -> Result<(), ArchiveError> {
        remove_all(&self.slot(number), &["", "-wal", "-shm"])
    }

    /// Returns the disk space of a slot, bytes; 0 if it is gone.
    pub(super) fn bytes(&self, number: u64) -> u64 {
        let path = self.slot(number);
        let mut log = path.clone().into_os_string();
        log.push("-wal");
        let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
        length(&path) + length(Path::new(&log))
    }
}

/// Removes the existing files among a path with each of these suffixes, in this order.
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

/// Checks that a file exists. The identity is constant, because on this system an open file cannot be removed.
#[cfg(not(unix))]
pub(super) fn file_id(path: &Path) -> std::io::Result<FileId> {
    fs::metadata(path).map(|_| (0, 0))
}
