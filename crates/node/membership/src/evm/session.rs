//! Common part of the threads of full and light mode: endpoints, reports to the owner, and waiting.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::background::Stop;
use super::health::ChainStatus;
use super::rpc::{Endpoints, RpcError};
use super::signals::Signals;
use crate::storage::StorageError;

/// Maximum time between two checks of the stop signal and of requests for a poll.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// Time that the thread waits after a failure of the store.
const AFTER_STORE_FAILURE: Duration = Duration::from_secs(1);

/// State that a follower's thread has in both modes: endpoints, and signals from and to the owner.
#[derive(Debug)]
pub(super) struct ChainSession {
    pub(super) endpoints: Endpoints,
    pub(super) signals: Arc<Signals>,
    pub(super) stop: Stop,
    /// Height of the newest block that an endpoint reported.
    pub(super) head: Option<u64>,
}

impl ChainSession {
    pub(super) fn new(endpoints: Endpoints, signals: Arc<Signals>, stop: Stop) -> Self {
        Self {
            endpoints,
            signals,
            stop,
            head: None,
        }
    }

    /// Whether the thread must end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.within(Duration::ZERO)
    }

    /// Returns the endpoint to use. If none may be used yet, waits and returns `None`.
    pub(super) fn choose(&self) -> Option<usize> {
        match self.endpoints.choose(Instant::now()) {
            Ok(at) => Some(at),
            Err(wait) => {
                self.stop.within(wait.min(SLICE));
                None
            }
        }
    }

    /// Changes the status, and updates its head and costs.
    pub(super) fn update(&self, change: impl FnOnce(&mut ChainStatus)) {
        self.signals.update(|status| {
            change(status);
            status.head = self.head;
            status.costs = self.endpoints.costs();
            status.endpoints = self.endpoints.each();
        });
    }

    /// Records and reports a failure of endpoint `at`, which is then not used for some time. `block` is the
    /// last processed block.
    pub(super) fn blame(&mut self, at: usize, error: &RpcError, block: u64) {
        self.endpoints.blame(at, error);
        self.report_failure(at, error, block);
    }

    /// Reports a failure of endpoint `at`. While another endpoint can be used at once, the follower
    /// is not degraded.
    pub(super) fn report_failure(&self, at: usize, error: &RpcError, block: u64) {
        let name = self.endpoints.name(at);
        tracing::warn!(endpoint = name, %error, "an endpoint failed");
        let is_last = self.endpoints.choose(Instant::now()).is_err();
        self.update(|status| {
            if is_last {
                status.degrade(block, format!("{name}: {error}"));
            }
        });
    }

    /// Reports that the state could not be stored, and waits before the next attempt.
    pub(super) fn report_store_failure(&self, error: &StorageError, block: u64) {
        tracing::error!(%error, "cannot store the state of the chain; retrying");
        self.update(|status| status.degrade(block, error.to_string()));
        self.stop.within(AFTER_STORE_FAILURE);
    }
}
