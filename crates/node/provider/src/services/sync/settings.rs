//! Settings of synchronisation, and limits on what peers may do.

use std::time::Duration;

use undertone_services::sync::SyncLimits;

use crate::services::StoreSyncConfig;

/// Maximum length of a session's payload, bytes: 100,000 messages of at most 41 bytes, and a MiB of topics.
const PAYLOAD_BYTES_MAX: usize = 5 << 20;

/// Time settings of synchronisation.
#[derive(Clone, Copy, Debug)]
pub(super) struct SyncTimes {
    /// Time between two sessions that this node begins; zero to begin none.
    pub(super) interval: Duration,
    /// Length of the synchronised period.
    pub(super) range: Duration,
    /// Age below which messages are left to the relay.
    pub(super) relay_jitter: Duration,
}

impl SyncTimes {
    pub(super) fn new(config: &StoreSyncConfig) -> Self {
        Self {
            interval: Duration::from_secs(config.interval_s),
            range: Duration::from_secs(config.range_s),
            relay_jitter: Duration::from_secs(config.relay_jitter_s),
        }
    }

    /// Returns the period that a session at `now_ns` covers: from the first timestamp to before the second, Unix
    /// nanoseconds.
    pub(super) fn window_ns(&self, now_ns: i64) -> (i64, i64) {
        let end_ns = now_ns.saturating_sub(nanos(self.relay_jitter));
        (end_ns.saturating_sub(nanos(self.range)), end_ns)
    }
}

/// Limits on sessions and transfers.
#[derive(Clone, Debug)]
pub(super) struct SyncBounds {
    /// Limits of the set and of a session's payloads.
    pub(super) limits: SyncLimits,
    /// Time limit for reading or writing one payload, and for writing one batch of messages.
    pub(super) turn: Duration,
    /// Time limit for all payloads of a session.
    pub(super) reconciling: Duration,
    /// Time without an awaited message after which the remaining ones are given up.
    pub(super) idle: Duration,
    /// Time limit for a session including its transfers.
    pub(super) session: Duration,
    /// Maximum number of concurrent sessions begun by peers that the operator has not named. Each holds a list of the
    /// set's messages, up to 8 MB.
    pub(super) inbound_sessions: usize,
    /// Maximum number of sessions that one peer may begin per minute.
    pub(super) sessions_per_minute: u32,
    /// Maximum number of concurrent transfer streams of one peer. One is enough; another may be opened while the first
    /// is ending.
    pub(super) streams: usize,
    /// Number of unexpected or repeated messages after which the session ends. Some are no fault: the peer's set may
    /// have grown during the session.
    pub(super) unexpected: usize,
    /// Maximum bytes of received messages from all peers that wait for the archive.
    pub(super) waiting_bytes: usize,
    /// Maximum bytes of payloads being read, over all sessions. Beyond it, the peer that holds the most loses its
    /// session.
    pub(super) payload_bytes: usize,
    /// Time for which a peer at fault gets no session.
    pub(super) banned: Duration,
}

impl Default for SyncBounds {
    fn default() -> Self {
        let mut limits = SyncLimits::default();
        limits.max_payload_bytes = PAYLOAD_BYTES_MAX;
        Self {
            limits,
            turn: Duration::from_secs(30),
            reconciling: Duration::from_secs(120),
            idle: Duration::from_secs(20),
            session: Duration::from_secs(600),
            inbound_sessions: 4,
            sessions_per_minute: 12,
            streams: 2,
            unexpected: 64,
            waiting_bytes: 32 << 20,
            payload_bytes: 2 * PAYLOAD_BYTES_MAX,
            banned: Duration::from_secs(600),
        }
    }
}

/// Returns a duration in nanoseconds.
pub(super) fn nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
