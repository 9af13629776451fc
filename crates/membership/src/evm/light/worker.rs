//! Background thread of light mode: passes the follower's questions to the endpoints.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use undertone_rln::Fr;

use super::follow::{Follower, Outcome};
use super::pace::Pace;
use crate::evm::background::Stop;
use crate::evm::chain::{Answer, Ask, Next};
use crate::evm::health::{Health, Status};
use crate::evm::rpc::{Endpoints, Fault, RpcError};
use crate::evm::signals::{Signals, lock};

/// Maximum time between two checks of the stop signal and of requests for a poll.
const SLICE: Duration = Duration::from_millis(100);

/// Time that the thread waits after a failure of the file.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

pub(super) struct Worker {
    pub(super) signals: Arc<Signals>,
    /// A looked-up commitment that the follower does not watch yet.
    pub(super) watched: Arc<Mutex<Option<Fr>>>,
    pub(super) follower: Follower,
    pub(super) endpoints: Endpoints,
    pub(super) pace: Pace,
    pub(super) stop: Stop,
}

impl Worker {
    pub(super) fn run(mut self) {
        let (mut looked, mut was_wanted, mut used) = (Instant::now(), false, 0);
        while !self.stop.within(Duration::ZERO) {
            if let Some(commitment) = lock(&self.watched).take() {
                self.follower.watch(commitment);
            }
            let Next::Ask(ask) = self.follower.next() else {
                self.rest(used, looked);
                continue;
            };
            match self.endpoints.choose(Instant::now()) {
                Err(wait) => {
                    self.stop.within(wait.min(SLICE));
                }
                Ok(at) => {
                    used = at;
                    if is_first(&ask) {
                        looked = Instant::now();
                        was_wanted |= self.signals.take_wanted();
                    }
                    if let Some(is_news) = self.ask(at, &ask) {
                        self.pace.looked(was_wanted, is_news);
                        was_wanted = false;
                    }
                }
            }
        }
    }

    /// Sends a request; at the end of a poll returns whether it brought news.
    fn ask(&mut self, at: usize, ask: &Ask) -> Option<bool> {
        let outcome = match self.endpoints.ask(at, ask) {
            Ok(answer) => self.follower.answer(answer),
            Err(RpcError::Refused { .. }) if ask.may_be_refused() => {
                self.follower.answer(Answer::Refused)
            }
            Err(error) => {
                self.follower.failed();
                // The request cannot be smaller, so an endpoint that refuses is not usable.
                if error.may_be_too_much() {
                    self.endpoints.blame(at, &error);
                }
                self.report_failure(at, &error);
                return None;
            }
        };
        match outcome {
            Ok(outcome) => self.take(at, outcome),
            Err(error) => {
                tracing::error!(%error, "cannot store the state of the chain; retrying");
                let block = self.follower.block();
                self.update(|status| status.degrade(block, error.to_string()));
                self.stop.within(AFTER_FAILURE);
                None
            }
        }
    }

    fn take(&mut self, at: usize, outcome: Outcome) -> Option<bool> {
        let nonsense = |fault| RpcError::Nonsense { fault };
        let error = match outcome {
            Outcome::Going => return None,
            Outcome::Synced(news) => {
                let block = self.follower.block();
                // Not after each answer: an endpoint that knows blocks may not have
                // the contract's state.
                self.endpoints.worked(at);
                if news.is_fork {
                    tracing::warn!(block, "the chain was reorganised");
                }
                self.update(|status| {
                    status.reorganisations += u64::from(news.is_fork);
                    status.health = Health::Synced { block };
                    status.head = Some(block);
                    status.compared = Some(SystemTime::now());
                });
                return Some(news.is_any);
            }
            Outcome::Behind { newest, known } => RpcError::Behind {
                blocks: known - newest,
            },
            Outcome::Mismatch => nonsense(Fault::Path),
            Outcome::Nonsense => nonsense(Fault::Shape),
        };
        self.follower.wake();
        self.endpoints.blame(at, &error);
        self.report_failure(at, &error);
        None
    }

    fn report_failure(&self, at: usize, error: &RpcError) {
        let name = self.endpoints.name(at);
        tracing::warn!(endpoint = name, %error, "an endpoint failed");
        let block = self.follower.block();
        // While another endpoint can be used at once, the follower is not degraded.
        let is_last = self.endpoints.choose(Instant::now()).is_err();
        self.update(|status| {
            if is_last {
                status.degrade(block, format!("{name}: {error}"));
            }
        });
    }

    fn update(&self, change: impl FnOnce(&mut Status)) {
        self.signals.update(|status| {
            change(status);
            status.costs = self.endpoints.costs();
            status.endpoints = self.endpoints.each();
        });
    }

    /// Waits for at most [`SLICE`]; wakes the follower when a poll is due.
    fn rest(&mut self, at: usize, looked: Instant) {
        let due = self.pace.due(self.signals.is_wanted());
        let left = due.saturating_sub(looked.elapsed());
        if left.is_zero() {
            return self.follower.wake();
        }
        let slice = left.min(SLICE);
        let begun = Instant::now();
        // Answers a WebSocket's pings.
        self.endpoints.wait(at, slice);
        self.stop.within(slice.saturating_sub(begun.elapsed()));
    }
}

/// Whether a poll begins with this request.
fn is_first(ask: &Ask) -> bool {
    matches!(
        ask,
        Ask::Head | Ask::Recent { at: None } | Ask::RootOf { height: None }
    )
}
