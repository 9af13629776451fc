//! Counts of synchronisation, for metrics.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::SyncFailure;
use super::outcome::SyncOutcome;

/// Distribution of a number over sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionHistogram {
    /// Upper bounds of the buckets; an additional bucket counts values above all of them.
    pub bounds: &'static [u64],
    /// Number of sessions per bucket.
    pub counts: Vec<u64>,
    /// Sum over all sessions.
    pub sum: u64,
}

impl SessionHistogram {
    fn new(bounds: &'static [u64]) -> Self {
        Self {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0,
        }
    }

    fn add(&mut self, value: u64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.sum += value;
    }
}

/// Counts of synchronisation since the start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncTotals {
    /// Sessions by outcome: `done`, `failed`, or `refused` before they began.
    pub sessions: BTreeMap<&'static str, u64>,
    /// Payloads sent by the peer, for sessions that succeeded.
    pub roundtrips: SessionHistogram,
    /// Messages that only one side had, for sessions that succeeded.
    pub differences: SessionHistogram,
    /// Bytes by protocol (`reconciliation`, `transfer`) and direction (`receive`, `sent`).
    pub bytes: BTreeMap<(&'static str, &'static str), u64>,
    /// Messages sent by transfer.
    pub sent: u64,
    /// Messages received by transfer.
    pub received: u64,
    /// Received messages that are new in the archive.
    pub kept: u64,
    /// Received messages that were not stored, by reason.
    pub refused: BTreeMap<&'static str, u64>,
    /// Number of messages in the index.
    pub cached: usize,
}

impl Default for SyncTotals {
    fn default() -> Self {
        let directions = ["receive", "sent"];
        let protocols = [RECONCILIATION, TRANSFER];
        let bytes = protocols
            .iter()
            .flat_map(|protocol| directions.map(|direction| ((*protocol, direction), 0)));
        Self {
            sessions: ["done", "failed", "refused"].map(|end| (end, 0)).into(),
            // The buckets are the same as nwaku's.
            roundtrips: SessionHistogram::new(&[1, 2, 3, 5, 8, 13]),
            differences: SessionHistogram::new(&[0, 10, 50, 100, 500, 1000, 5000]),
            bytes: bytes.collect(),
            sent: 0,
            received: 0,
            kept: 0,
            refused: BTreeMap::new(),
            cached: 0,
        }
    }
}

/// Name of the reconciliation protocol in metrics.
pub(super) const RECONCILIATION: &str = "reconciliation";

/// Name of the transfer protocol in metrics.
pub(super) const TRANSFER: &str = "transfer";

/// Counts of synchronisation; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct SyncCounts(Arc<Mutex<SyncTotals>>);

impl SyncCounts {
    pub(super) fn totals(&self) -> SyncTotals {
        self.0.lock().clone()
    }

    /// Counts the end of a session.
    pub(super) fn session(&self, ended: &Result<SyncOutcome, SyncFailure>) {
        let mut totals = self.0.lock();
        let end = match ended {
            Ok(outcome) => {
                totals.roundtrips.add(u64::from(outcome.roundtrips));
                totals.differences.add(outcome.differences as u64);
                "done"
            }
            Err(SyncFailure::Busy | SyncFailure::Banned) => "refused",
            Err(_) => "failed",
        };
        *totals.sessions.entry(end).or_default() += 1;
    }

    pub(super) fn bytes(&self, protocol: &'static str, direction: &'static str, bytes: usize) {
        let mut totals = self.0.lock();
        *totals.bytes.entry((protocol, direction)).or_default() += bytes as u64;
    }

    pub(super) fn sent(&self, messages: usize) {
        self.0.lock().sent += messages as u64;
    }

    pub(super) fn received(&self) {
        self.0.lock().received += 1;
    }

    pub(super) fn kept(&self, messages: usize) {
        self.0.lock().kept += messages as u64;
    }

    pub(super) fn refused(&self, reason: &'static str) {
        *self.0.lock().refused.entry(reason).or_default() += 1;
    }
}
