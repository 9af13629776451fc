//! Result of one session.

use std::time::Duration;

/// Result of a successful synchronisation session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncOutcome {
    /// Payloads received from the peer, one per round trip.
    pub roundtrips: u32,
    /// Messages that only one side had.
    pub differences: usize,
    /// Bytes of all reconciliation payloads, in both directions.
    pub reconciliation_bytes: usize,
    /// Messages sent to the peer.
    pub sent: usize,
    /// Messages from the peer that are new in the archive.
    pub kept: usize,
    /// Messages that the peer named but did not send; it may no longer have them.
    pub withheld: usize,
    /// Time for finding the differences.
    pub reconciling: Duration,
    /// Time for the whole session, including the transfers of both sides.
    pub whole: Duration,
}
