//! Monitor of the store: whether messages reach its archive.

use std::time::{Duration, SystemTime};

use undertone_archive::Archive;

use super::keeper::KeeperCounts;

/// Time after which a blocked archive counts as in trouble, even without an error.
const STUCK_AFTER: Duration = Duration::from_secs(20);

/// Monitor of the store; clones see the same archive.
#[derive(Clone, Debug)]
pub(super) struct StoreWatch {
    pub(super) archive: Archive,
    pub(super) counts: KeeperCounts,
}

impl StoreWatch {
    /// Returns why messages are not being stored, or stored ones cannot be read; `None` if all is
    /// well.
    pub(super) fn trouble(&self) -> Option<String> {
        let health = self.archive.health();
        if health.failing {
            let error = health.last_error.map(|(_, error)| error.to_string());
            return Some(error.unwrap_or_else(|| "the archive cannot be written".to_owned()));
        }
        if let Some(damage) = health.damage {
            return Some(damage.to_string());
        }
        let pending = self.counts.pending();
        let since = self.counts.stuck_since()?;
        let stuck = SystemTime::now().duration_since(since).unwrap_or_default();
        (pending > 0 && stuck >= STUCK_AFTER).then(|| {
            let (place, stuck_s) = (self.archive.place(), stuck.as_secs());
            format!(
                "the archive {place} has taken nothing for {stuck_s} s; {pending} messages wait"
            )
        })
    }
}
