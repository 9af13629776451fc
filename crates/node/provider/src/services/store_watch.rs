//! Watch over the store: whether messages reach its archive.

use std::time::{Duration, SystemTime};

use undertone_archive::Archive;

use super::keeper::KeeperCounts;

/// Time after which an archive that holds up messages is in trouble, also without an error.
const STUCK_AFTER: Duration = Duration::from_secs(20);

/// Watch over the store; clones see the same archive.
#[derive(Clone, Debug)]
pub(super) struct StoreWatch {
    pub(super) archive: Archive,
    pub(super) counts: KeeperCounts,
}

impl StoreWatch {
    /// Reason why messages are not being kept, or kept ones cannot be read; `None` if there is none.
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
