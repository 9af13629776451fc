//! Pool of tokens prepared ahead by a thread of low priority, shared with the sends that take them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use undertone_membership::MemberIndex;
use undertone_rln::prover::os_rng;
use undertone_rln::{
    CounterError, Epoch, Generation, Identity, Member, MessageIdCounter, MessageSlot, Pool,
    PoolConfig, PoolInputs, Prover, Reserved, RlnIdentifier, Token, WallClock, Work,
};

use crate::command::{EpochAllowance, SendBudget, TokenSnapshot};
use crate::driver::membership_source::SharedView;
use crate::driver::time::MemberClock;

/// Maximum time between two checks for new roots, a new epoch or the end.
const LOOK_AROUND: Duration = Duration::from_millis(250);
/// Delay after a failure of the prover.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

/// A member and its pool of tokens.
pub(crate) struct TokenPool {
    pub(crate) identity: Identity,
    pub(crate) index: MemberIndex,
    pub(crate) limit: u32,
    pub(crate) generation: Generation,
    pub(crate) clock: MemberClock,
    pub(crate) prover: Arc<Prover>,
    pub(crate) view: SharedView,
    /// Counter of message ids; `None` once the source has ended, so that another node may open its file.
    pub(crate) counter: Mutex<Option<MessageIdCounter>>,
    /// Error that prevented the last id from being written to disk, if any.
    pub(crate) trouble: Mutex<Option<String>>,
    pub(crate) state: Mutex<PoolState>,
    /// Signalled when a token was taken or inserted, or the thread must end.
    pub(crate) changed: Condvar,
    pub(crate) config: PoolConfig,
}

/// Tokens, and the state of sends and of the preparing thread.
pub(crate) struct PoolState {
    pub(crate) tokens: Pool,
    /// Whether a send is reserving its id. Until the send has taken its token, the id looks used up.
    pub(crate) sending: bool,
    /// Number of sends so far. Values read before a send are outdated after it.
    pub(crate) sends: u64,
    pub(crate) ended: bool,
}

/// Message id reserved for a send.
pub(crate) enum ReservedId {
    /// The id with its token, which was ready.
    WithToken(Box<Token>),
    /// The id alone: its proof has to be made in full.
    Bare(Reserved),
}

/// Read access to the state of a token pool; it may outlive the pool's source.
#[derive(Clone)]
pub struct PoolMonitor {
    pub(crate) pool: Arc<TokenPool>,
}

/// Returns the error for a counter that was released to another node.
pub(crate) fn let_go() -> CounterError {
    CounterError::Locked("message-id counter".into())
}

impl PoolMonitor {
    /// Ends the source behind the pool. This is safe while a proof is in progress: its id is already on disk.
    pub(crate) fn end(&self) {
        self.pool.end();
    }

    /// Returns the present state of the pool.
    pub fn snapshot(&self) -> TokenSnapshot {
        TokenSnapshot {
            config: self.pool.config,
            state: self.pool.state.lock().tokens.snapshot(),
        }
    }

    /// Returns the present epoch by the member's clock.
    pub(crate) fn epoch(&self) -> Epoch {
        self.pool.clock.now().epoch()
    }

    /// Returns the rest of the rate limit in the current epoch and the end of the epoch; `None` where
    /// [`Self::allowance`] is.
    pub(crate) fn budget(&self) -> Option<SendBudget> {
        let clock = self.pool.clock.now();
        let allowance = self.allowance_at(&clock)?;
        let epoch_ns = clock.epoch_size_s.saturating_mul(1_000_000_000);
        Some(SendBudget {
            remaining: u32::try_from(allowance.left).unwrap_or(u32::MAX),
            epoch_ends_ns: clock.epoch().0.saturating_add(1).saturating_mul(epoch_ns),
        })
    }

    /// Returns the messages left in the current epoch. `None` if the counter does not know, or while an id is being
    /// written to disk, because this method does not wait for the disk.
    pub(crate) fn allowance(&self) -> Option<EpochAllowance> {
        self.allowance_at(&self.pool.clock.now())
    }

    fn allowance_at(&self, clock: &WallClock) -> Option<EpochAllowance> {
        let counter = self.pool.counter.try_lock()?;
        Self::allowance_of(counter.as_ref()?, clock.epoch(), clock)
    }

    /// Returns the messages left in an epoch; waits if an id is being written to disk.
    pub(crate) fn allowance_in(&self, epoch: Epoch) -> Option<EpochAllowance> {
        let counter = self.pool.counter.lock();
        Self::allowance_of(counter.as_ref()?, epoch, &self.pool.clock.now())
    }

    fn allowance_of(
        counter: &MessageIdCounter,
        epoch: Epoch,
        clock: &WallClock,
    ) -> Option<EpochAllowance> {
        let limit = counter.limit();
        let used = match counter.ready(epoch, clock) {
            Ok(next_id) => next_id,
            Err(CounterError::Exhausted { .. }) => limit,
            Err(_) => return None,
        };
        Some(EpochAllowance {
            left: limit.saturating_sub(used).into(),
            limit: limit.into(),
        })
    }

    /// Returns the error that prevented the last id from being written to disk, if any.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.pool.trouble.lock().clone()
    }

    /// Returns the reason why a message sent now would get no proof, as far as the counter knows. Also `None` while an
    /// id is being written to disk, because this method does not wait for the disk.
    pub(crate) fn refusal(&self) -> Option<String> {
        let clock = self.pool.clock.now();
        let counter = self.pool.counter.try_lock()?;
        let counter = counter.as_ref()?;
        let refused = counter.ready(clock.epoch(), &clock).err();
        refused.map(|error| error.to_string()).or(self.trouble())
    }
}

impl TokenPool {
    /// Reserves the next id of `epoch` and takes its token if it is ready.
    pub(crate) fn reserve(&self, epoch: Epoch) -> Result<ReservedId, CounterError> {
        self.state.lock().sending = true;
        let reserved = match &mut *self.counter.lock() {
            Some(counter) => counter.reserve(epoch, &self.clock.now()),
            None => Err(let_go()),
        };
        *self.trouble.lock() = match &reserved {
            Err(error @ CounterError::Io { .. }) => Some(error.to_string()),
            _ => None,
        };
        let root_version = self.view.lock().revision();
        let mut state = self.state.lock();
        state.sending = false;
        state.sends += 1;
        let taken = reserved.map(|reserved| state.tokens.take(reserved, root_version));
        drop(state);
        self.changed.notify_all();
        Ok(match taken? {
            Ok(token) => ReservedId::WithToken(Box::new(token)),
            Err(reserved) => ReservedId::Bare(reserved),
        })
    }

    /// Ends the source: no more message ids are given out, and another node may use the counter's file.
    pub(crate) fn end(&self) {
        self.state.lock().ended = true;
        self.changed.notify_all();
        *self.counter.lock() = None;
    }

    /// Prepares tokens until the source is dropped.
    pub(crate) fn prepare_ahead(&self) {
        let mut member = None;
        let mut state = self.state.lock();
        while !state.ended {
            let work;
            (state, work) = self.next_work(state);
            let wait = match work {
                Work::Prepare { epoch, message_id } => {
                    drop(state);
                    let failed = self.prepare(&mut member, epoch, message_id).err();
                    state = self.state.lock();
                    match failed {
                        None => continue,
                        Some(error) => {
                            tracing::error!(%error, "cannot prepare a token; will try again");
                            AFTER_FAILURE
                        }
                    }
                }
                Work::WaitUntil { at_ns } => {
                    Duration::from_nanos(at_ns.saturating_sub(self.unix_now_ns())).min(LOOK_AROUND)
                }
                Work::Idle => LOOK_AROUND,
            };
            if !state.ended {
                self.changed.wait_for(&mut state, wait);
            }
        }
    }

    /// Asks the pool for its next task. The pool's lock is released meanwhile, because the counter may be busy with the
    /// disk.
    pub(crate) fn next_work<'a>(
        &'a self,
        mut state: MutexGuard<'a, PoolState>,
    ) -> (MutexGuard<'a, PoolState>, Work) {
        loop {
            let sends = state.sends;
            drop(state);
            let Some(around) = self.surroundings() else {
                return (self.state.lock(), Work::Idle);
            };
            let is_member = self.view.lock().path(self.index).is_some();
            state = self.state.lock();
            // The send's token would be dropped as one whose id is used up. The end of the send wakes this thread.
            if state.sending || state.ended || !is_member {
                return (state, Work::Idle);
            }
            if state.sends == sends {
                let work = state.tokens.next_work(&around);
                return (state, work);
            }
        }
    }

    /// Prepares one token and inserts it.
    pub(crate) fn prepare(
        &self,
        member: &mut Option<Member>,
        epoch: Epoch,
        message_id: u32,
    ) -> Result<(), undertone_rln::ProveError> {
        let begun = Instant::now();
        let (path, root_version) = {
            let view = self.view.lock();
            (view.path(self.index), view.revision())
        };
        let Some(path) = path else {
            return Ok(());
        };
        let mut moved = match member.take() {
            Some(member) => member,
            None => self.prover.member(&self.identity, self.limit, &path)?,
        };
        moved.update(&path);
        let slot = MessageSlot {
            generation: self.generation,
            epoch,
            identifier: &RlnIdentifier::WAKU,
            message_id,
        };
        let token = member.insert(moved).prepare(&slot, &mut os_rng()?)?;
        // Elapsed time, an upper bound on the processor time.
        let spent_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let key = (epoch, message_id);
        let now_ns = self.unix_now_ns();
        self.state
            .lock()
            .tokens
            .insert(key, root_version, token, spent_ns, now_ns);
        self.changed.notify_all();
        Ok(())
    }

    fn unix_now_ns(&self) -> u64 {
        self.clock.now().unix_now_ns
    }

    /// Returns the node's state that the pool depends on; `None` once the source has ended.
    fn surroundings(&self) -> Option<PoolInputs> {
        let clock = self.clock.now();
        let epoch = clock.epoch();
        let (upcoming, limit) = {
            let counter = self.counter.lock();
            let counter = counter.as_ref()?;
            (counter.upcoming(epoch, &clock), counter.limit())
        };
        let epoch_ns = clock.epoch_size_s.saturating_mul(1_000_000_000);
        Some(PoolInputs {
            now_ns: clock.unix_now_ns,
            epoch,
            next_epoch_at_ns: epoch.0.saturating_add(1).saturating_mul(epoch_ns),
            upcoming,
            limit,
            root_version: self.view.lock().revision(),
        })
    }
}
