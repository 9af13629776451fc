//! File with the time up to which the archive is complete.

use std::path::PathBuf;
use std::{fs, io};

#[cfg(test)]
#[path = "tests/marker.rs"]
mod tests;

/// File with the time up to which the archive is complete, as far as this node knows.
#[derive(Debug)]
pub(super) struct OnlineMarker {
    path: PathBuf,
}

impl OnlineMarker {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Reads the time, Unix nanoseconds; `None` if the file is missing or damaged. Then the longest allowed period is
    /// requested.
    pub(super) fn read(&self) -> Option<i64> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.warn(&error, "read");
                return None;
            }
        };
        let time_ns = text.trim().parse().ok();
        if time_ns.is_none() {
            let path = self.path.display();
            tracing::warn!(%path, "not a time in nanoseconds; asking for as much history as allowed");
        }
        time_ns
    }

    /// Replaces the time. A failure is logged: the next start then requests more than necessary. For the same reason
    /// the file is not synced, which would block the network thread.
    pub(super) fn write(&self, time_ns: i64) {
        let new = self.path.with_extension("new");
        let written = fs::write(&new, format!("{time_ns}\n"));
        if let Err(error) = written.and_then(|()| fs::rename(&new, &self.path)) {
            self.warn(&error, "written");
        }
    }

    fn warn(&self, error: &io::Error, action: &str) {
        let path = self.path.display();
        tracing::warn!(%path, %error, "the time of the last connection cannot be {action}");
    }
}
