//! Result of one session.

use std::time::Duration;

/// Result of a session of synchronisation that ended well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncOutcome {
    /// Payloads that the peer sent.
    pub roundtrips: u32,
    /// Messages that only one side had.
    pub differences: usize,
    /// Bytes of all payloads of reconciliation, in both directions.
    pub reconciliation_bytes: usize,
    /// Messages sent to the peer.
    pub sent: usize,
    /// Messages of the peer that are new in the archive.
    pub kept: usize,
    /// Messages that the peer named and did not send; it may not have them any more.
    pub withheld: usize,
    /// Time for finding the differences.
    pub reconciling: Duration,
    /// Time for the whole session, with the transfers of both sides.
    pub whole: Duration,
}
