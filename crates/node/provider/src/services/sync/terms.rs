//! Terms on which messages from other stores are accepted.

use undertone_services::sync::SyncScope;

/// Messages that a session, or a walk through another store's history, may deliver.
#[derive(Clone, Debug)]
pub(in crate::services) struct SessionTerms {
    /// Topics of the messages.
    pub(in crate::services) scope: SyncScope,
    /// Earliest timestamp, Unix nanoseconds.
    pub(in crate::services) earliest_ns: i64,
    /// Latest timestamp, Unix nanoseconds.
    pub(in crate::services) latest_ns: i64,
}
