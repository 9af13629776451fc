//! Background thread of full mode: passes the follower's questions to the endpoints.

use std::time::{Duration, Instant, SystemTime};

use alloy::sol_types::SolCall;

use super::abi;
use super::chain::{Ask, Next};
use super::follow::{Follower, Outcome, RequestFailure};
use super::health::Health;
use super::rpc::{AnswerFault, Endpoints, RpcError};
use super::session::{ChainSession, SLICE};

pub(super) struct Worker {
    pub(super) session: ChainSession,
    pub(super) follower: Follower,
    pub(super) poll: Duration,
    pub(super) throttle: Duration,
}

impl Worker {
    pub(super) fn run(mut self) {
        let mut looked = Instant::now();
        let mut used = 0;
        while !self.session.is_stopped() {
            match self.follower.next() {
                Next::Idle => {
                    if self.rest(used, looked) {
                        self.follower.wake();
                    }
                }
                Next::Ask(ask) => {
                    let Some(at) = self.session.choose() else {
                        continue;
                    };
                    used = at;
                    if ask == Ask::Head {
                        looked = Instant::now();
                        self.session.signals.take_wanted();
                    }
                    self.ask(at, &ask);
                }
            }
        }
    }

    fn ask(&mut self, at: usize, ask: &Ask) {
        let answer = match self.skip_to_deployment(at, ask) {
            Ok(true) => return,
            Ok(false) => self.session.endpoints.ask(at, ask),
            Err(error) => Err(error),
        };
        let outcome = match answer {
            Ok(answer) => {
                self.session.endpoints.worked(at);
                self.follower.answer(answer)
            }
            Err(error) => {
                let too_much = error.may_be_too_much()
                    || matches!(
                        (&error, ask),
                        (RpcError::Timeout { .. }, Ask::Events { .. })
                    );
                let before = self.follower.next();
                self.follower.failed(match too_much {
                    true => RequestFailure::TooMuch,
                    false => RequestFailure::Other,
                });
                // A smaller request may succeed. If it cannot be made smaller, the endpoint is not usable.
                let next = self.follower.next();
                if error.may_be_too_much() && (next == before || next == Next::Ask(Ask::Head)) {
                    self.session.endpoints.blame(at, &error);
                }
                let block = self.follower.block();
                return self.session.report_failure(at, &error, block);
            }
        };
        self.session.head = self.follower.head().map(|head| head.number);
        match outcome {
            Ok(outcome) => self.take(at, outcome),
            Err(error) => {
                let block = self.follower.block();
                self.session.report_store_failure(&error, block);
                if let Err(error) = self.follower.restore() {
                    tracing::error!(%error, "cannot restore the stored state");
                }
            }
        }
    }

    /// Lets a new store begin at the contract's first block, if the contract reports it. Returns whether the
    /// next request now differs from `ask`.
    fn skip_to_deployment(&mut self, at: usize, ask: &Ask) -> Result<bool, RpcError> {
        if !matches!(ask, Ask::Events { from: 1, .. }) {
            return Ok(false);
        }
        let block = deployed_block(&mut self.session.endpoints, at)?;
        if block <= 1 {
            return Ok(false);
        }
        let skipped = self.follower.skip_to(block - 1);
        Ok(skipped.unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot store the contract's first block; reading from block 1");
            false
        }))
    }

    fn take(&mut self, at: usize, outcome: Outcome) {
        let blame = match outcome {
            Outcome::Going => None,
            Outcome::Synced => {
                let block = self.follower.block();
                return self.session.update(|status| {
                    status.health = Health::Synced { block };
                    status.compared = Some(SystemTime::now());
                });
            }
            Outcome::RolledBack { to, changes } => {
                tracing::warn!(to, changes, "the chain was reorganised");
                self.session.update(|status| status.reorganisations += 1);
                None
            }
            Outcome::Behind { newest, known } => Some(RpcError::Behind {
                blocks: known - newest,
            }),
            Outcome::UnknownFork => Some(fault(AnswerFault::UnknownFork)),
            Outcome::Mismatch => Some(fault(AnswerFault::Root)),
            Outcome::InvalidAnswer => Some(fault(AnswerFault::Shape)),
        };
        if let Some(error) = blame {
            self.follower.wake();
            let block = self.follower.block();
            return self.session.blame(at, &error, block);
        }
        let block = self.follower.block();
        let head = self.follower.head().map_or(block, |head| head.number);
        self.session.update(|status| {
            // One answer does not prove that the next request will be answered too.
            if head > block && !matches!(status.health, Health::Degraded { .. })
                || matches!(status.health, Health::Starting)
            {
                status.health = Health::Syncing { block, head };
            }
        });
    }

    /// Waits for at most [`SLICE`]; returns whether it is time to poll.
    fn rest(&mut self, at: usize, looked: Instant) -> bool {
        let due = match self.session.signals.is_wanted() {
            true => self.throttle,
            // Announcements may stop silently, so the endpoint is polled as well, but rarely.
            false if self.session.endpoints.is_subscribed(at) => self.poll.saturating_mul(8),
            false => self.poll,
        };
        let left = due.saturating_sub(looked.elapsed());
        if left.is_zero() {
            return true;
        }
        let slice = left.min(SLICE);
        let begun = Instant::now();
        if self.session.endpoints.wait(at, slice) {
            return true;
        }
        self.session
            .stop
            .within(slice.saturating_sub(begun.elapsed()));
        false
    }
}

fn fault(fault: AnswerFault) -> RpcError {
    RpcError::InvalidAnswer { fault }
}

/// Asks a contract for the block of its deployment; returns 1 if the answer cannot be read.
fn deployed_block(endpoints: &mut Endpoints, at: usize) -> Result<u64, RpcError> {
    let answer = endpoints.view(at, abi::deployedBlockNumberCall {}.abi_encode())?;
    let block = abi::deployedBlockNumberCall::abi_decode_returns(&answer);
    Ok(block.map_or(1, u64::from))
}
