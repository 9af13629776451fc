//! Messages that a peer has named in a session and is expected to send.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;
use undertone_message::MessageHash;
use undertone_services::sync::SyncId;

use super::SyncFailure;
use super::terms::SessionTerms;

/// State of a message that the peer has named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedState {
    /// The message has not arrived yet.
    Awaited,
    /// The message is not wanted: its timestamp is outside the requested range.
    Declined,
    /// The message has arrived.
    Arrived,
}

/// Whether a message is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    /// The message is expected, and now counts as arrived.
    Wanted,
    /// The message was named but is not wanted.
    Declined,
    /// The message has arrived before.
    Repeated,
}

/// Messages that the peer of a session has named.
#[derive(Debug)]
pub(super) struct ExpectedMessages {
    pub(super) terms: SessionTerms,
    state: Mutex<ExpectedState>,
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct ExpectedState {
    named: BTreeMap<MessageHash, NamedState>,
    /// Number of awaited messages, plus those that have arrived but are not processed yet.
    outstanding: usize,
    /// Messages that are new in the archive.
    kept: usize,
    is_reconciling: bool,
    streams_open: usize,
    has_had_stream: bool,
    unexpected: usize,
    last_progress: Instant,
    failure: Option<SyncFailure>,
}

impl ExpectedMessages {
    pub(super) fn new(terms: SessionTerms) -> Arc<Self> {
        Arc::new(Self {
            terms,
            state: Mutex::new(ExpectedState {
                named: BTreeMap::new(),
                outstanding: 0,
                kept: 0,
                is_reconciling: true,
                streams_open: 0,
                has_had_stream: false,
                unexpected: 0,
                last_progress: Instant::now(),
                failure: None,
            }),
            changed: watch::Sender::new(()),
        })
    }

    /// Adds messages that the peer has named. The session's limits bound their number.
    pub(super) fn name(&self, ids: &[SyncId]) {
        let terms = &self.terms;
        self.change(|state| {
            for id in ids {
                let time_ns = i64::try_from(id.time_ns).unwrap_or(i64::MAX);
                let is_wanted = (terms.earliest_ns..=terms.latest_ns).contains(&time_ns);
                let named = match is_wanted {
                    true => NamedState::Awaited,
                    false => NamedState::Declined,
                };
                state.named.entry(id.hash).or_insert_with(|| {
                    state.outstanding += usize::from(is_wanted);
                    named
                });
            }
        });
    }

    /// Records that the peer will name no more messages.
    pub(super) fn finish_naming(&self) {
        self.change(|state| {
            state.is_reconciling = false;
            state.last_progress = Instant::now();
        });
    }

    /// Whether the peer may still name messages.
    pub(super) fn is_reconciling(&self) -> bool {
        self.state.lock().is_reconciling
    }

    /// Registers the arrival of a message; returns `None` if the peer has not named it.
    pub(super) fn take(&self, hash: &MessageHash) -> Option<Expectation> {
        let mut state = self.state.lock();
        let named = state.named.get_mut(hash)?;
        let expectation = match named {
            NamedState::Awaited => Expectation::Wanted,
            NamedState::Declined => Expectation::Declined,
            NamedState::Arrived => Expectation::Repeated,
        };
        if expectation == Expectation::Wanted {
            *named = NamedState::Arrived;
            state.last_progress = Instant::now();
        }
        Some(expectation)
    }

    /// Records that arrived messages are processed: `kept` of `count` are new in the archive.
    pub(super) fn dealt_with(&self, count: usize, kept: usize) {
        self.change(|state| {
            state.outstanding = state.outstanding.saturating_sub(count);
            state.kept += kept;
            state.last_progress = Instant::now();
        });
    }

    /// Returns the number of messages that are new in the archive.
    pub(super) fn kept(&self) -> usize {
        self.state.lock().kept
    }

    /// Counts an unexpected message; returns the number of those so far.
    pub(super) fn count_unexpected(&self) -> usize {
        let mut state = self.state.lock();
        state.unexpected += 1;
        state.unexpected
    }

    /// Admits a transfer stream if fewer than `max` are open.
    pub(super) fn open_stream(&self, max: usize) -> bool {
        let mut is_admitted = false;
        self.change(|state| {
            is_admitted = state.streams_open < max;
            state.streams_open += usize::from(is_admitted);
            state.has_had_stream |= is_admitted;
        });
        is_admitted
    }

    /// Records that a transfer stream has ended.
    pub(super) fn close_stream(&self) {
        self.change(|state| state.streams_open = state.streams_open.saturating_sub(1));
    }

    /// Ends the session with a failure; only the first one is recorded.
    pub(super) fn fail(&self, failure: SyncFailure) {
        self.change(|state| {
            state.failure.get_or_insert(failure);
        });
    }

    /// Returns the failure of a transfer, if there was one.
    pub(super) fn failure(&self) -> Option<SyncFailure> {
        self.state.lock().failure.clone()
    }

    /// Returns a receiver that is notified of every later change.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Waits until every awaited message is processed, or the peer has closed its stream. Returns the number of
    /// messages that have not arrived by then; the peer may no longer have them.
    ///
    /// # Errors
    /// The failure of a transfer, or [`SyncFailure::Withheld`] if the peer has sent nothing awaited for `idle`.
    pub(super) async fn settled(&self, idle: Duration) -> Result<usize, SyncFailure> {
        let mut changes = self.changes();
        loop {
            let deadline = {
                let state = self.state.lock();
                if let Some(failure) = &state.failure {
                    return Err(failure.clone());
                }
                let count = state.outstanding;
                let has_ended = state.has_had_stream && state.streams_open == 0;
                let is_idle = state.last_progress.elapsed() >= idle;
                match count {
                    _ if count == 0 || has_ended => return Ok(count),
                    _ if is_idle => return Err(SyncFailure::Withheld { count }),
                    _ => state.last_progress + idle,
                }
            };
            tokio::select! {
                // The sender lives as long as `self`.
                _ = changes.changed() => {}
                () = tokio::time::sleep_until(deadline.into()) => {}
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut ExpectedState)) {
        change(&mut self.state.lock());
        self.changed.send_replace(());
    }
}
