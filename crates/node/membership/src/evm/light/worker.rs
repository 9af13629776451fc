//! Background thread of light mode: passes the follower's questions to the endpoints.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use parking_lot::Mutex;
use undertone_rln::Fr;

use super::follow::{LightFollower, LightOutcome};
use super::pace::Pace;
use crate::evm::chain::{Answer, Ask, Next};
use crate::evm::health::Health;
use crate::evm::rpc::{AnswerFault, RpcError};
use crate::evm::session::{ChainSession, SLICE};

pub(super) struct LightWorker {
    pub(super) session: ChainSession,
    /// A looked-up commitment that the follower does not watch yet.
    pub(super) watched: Arc<Mutex<Option<Fr>>>,
    pub(super) follower: LightFollower,
    pub(super) pace: Pace,
}

impl LightWorker {
    pub(super) fn run(mut self) {
        let (mut looked, mut was_wanted, mut used) = (Instant::now(), false, 0);
        while !self.session.is_stopped() {
            if let Some(commitment) = self.watched.lock().take() {
                self.follower.watch(commitment);
            }
            let Next::Ask(ask) = self.follower.next() else {
                self.rest(used, looked);
                continue;
            };
            let Some(at) = self.session.choose() else {
                continue;
            };
            used = at;
            if is_first(&ask) {
                looked = Instant::now();
                was_wanted |= self.session.signals.take_wanted();
            }
            if let Some(is_news) = self.ask(at, &ask) {
                self.pace.looked(was_wanted, is_news);
                was_wanted = false;
            }
        }
    }

    /// Sends a request; at the end of a poll returns whether it brought news.
    fn ask(&mut self, at: usize, ask: &Ask) -> Option<bool> {
        let outcome = match self.session.endpoints.ask(at, ask) {
            Ok(answer) => self.follower.answer(answer),
            Err(RpcError::Refused { .. }) if ask.may_be_refused() => {
                self.follower.answer(Answer::Refused)
            }
            Err(error) => {
                self.follower.failed();
                // The request cannot be made smaller, so an endpoint that refuses it is not usable.
                if error.may_be_too_much() {
                    self.session.endpoints.blame(at, &error);
                }
                let block = self.follower.block();
                self.session.report_failure(at, &error, block);
                return None;
            }
        };
        match outcome {
            Ok(outcome) => self.take(at, outcome),
            Err(error) => {
                let block = self.follower.block();
                self.session.report_store_failure(&error, block);
                None
            }
        }
    }

    fn take(&mut self, at: usize, outcome: LightOutcome) -> Option<bool> {
        let nonsense = |fault| RpcError::InvalidAnswer { fault };
        let error = match outcome {
            LightOutcome::Going => return None,
            LightOutcome::Synced(news) => {
                let block = self.follower.block();
                // Not after each answer: an endpoint that knows blocks may not have
                // the contract's state.
                self.session.endpoints.worked(at);
                if news.is_fork {
                    tracing::warn!(block, "the chain was reorganised");
                }
                self.session.head = Some(block);
                self.session.update(|status| {
                    status.reorganisations += u64::from(news.is_fork);
                    status.health = Health::Synced { block };
                    status.compared = Some(SystemTime::now());
                });
                return Some(news.is_any);
            }
            LightOutcome::Behind { newest, known } => RpcError::Behind {
                blocks: known - newest,
            },
            LightOutcome::Mismatch => nonsense(AnswerFault::Path),
            LightOutcome::InvalidAnswer => nonsense(AnswerFault::Shape),
        };
        self.follower.wake();
        let block = self.follower.block();
        self.session.blame(at, &error, block);
        None
    }

    /// Waits for at most [`SLICE`]; wakes the follower when a poll is due.
    fn rest(&mut self, at: usize, looked: Instant) {
        let due = self.pace.due(self.session.signals.is_wanted());
        let left = due.saturating_sub(looked.elapsed());
        if left.is_zero() {
            return self.follower.wake();
        }
        let slice = left.min(SLICE);
        let begun = Instant::now();
        // Also answers a WebSocket's pings.
        self.session.endpoints.wait(at, slice);
        self.session
            .stop
            .within(slice.saturating_sub(begun.elapsed()));
    }
}

/// Whether a poll begins with this request.
fn is_first(ask: &Ask) -> bool {
    matches!(
        ask,
        Ask::Head | Ask::Recent { at: None } | Ask::RootOf { height: None }
    )
}
