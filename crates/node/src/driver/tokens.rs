//! Tokens prepared ahead of their messages by a thread of low priority.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use undertone_membership::{MemberIndex, View};
use undertone_relay::ProofFailure;
use undertone_rln::prover::os_rng;
use undertone_rln::{
    CounterError, Epoch, Fr, Generation, Identity, Member, MessageIdCounter, MessageSlot, Pool,
    PoolConfig, PoolInputs, ProofRequest, Prover, RateLimitProof, Reserved, RlnIdentifier, Token,
    Work,
};

use super::member::{MemberClock, MemberProofs, no_id, skip_taken};
use super::priority;
use super::rln::ProofSource;
use crate::command::TokenSnapshot;

/// Longest time between two checks for new roots, a new epoch or the end.
const LOOK_AROUND: Duration = Duration::from_millis(250);
/// Delay after the prover has failed.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

/// Proof source of a member whose tokens are prepared ahead. A send takes the token of its message id if that
/// is ready, and generates a full proof otherwise; it never waits for the thread's work.
///
/// The thread ends after the source is dropped, within one token's preparation.
pub struct PooledProofs {
    shared: Arc<Shared>,
}

struct Shared {
    identity: Identity,
    index: MemberIndex,
    limit: u32,
    generation: Generation,
    clock: MemberClock,
    prover: Arc<Prover>,
    view: Arc<Mutex<dyn View>>,
    counter: Mutex<MessageIdCounter>,
    /// Error that kept the last id from being written to disk, if any.
    trouble: Mutex<Option<String>>,
    pool: Mutex<State>,
    /// Signalled when a token was taken or inserted, or the thread must end.
    changed: Condvar,
    config: PoolConfig,
}

struct State {
    tokens: Pool,
    /// Whether a send is reserving its id. Until the send has taken its token, the id looks used up.
    sending: bool,
    /// Number of sends so far; what was read before a send is out of date after it.
    sends: u64,
    ended: bool,
}

/// Read access to the state of a token pool; it may outlive the pool's source.
#[derive(Clone)]
pub struct PoolMonitor {
    shared: Arc<Shared>,
}

impl PooledProofs {
    /// Starts the thread that prepares tokens, unless the pool's size is 0.
    ///
    /// # Errors
    /// The error of the operating system if it refuses a thread.
    pub fn start(member: MemberProofs, config: PoolConfig) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            identity: member.identity,
            index: member.index,
            limit: member.limit,
            generation: member.generation,
            clock: member.clock,
            prover: member.prover,
            view: member.view,
            counter: Mutex::new(member.counter),
            trouble: Mutex::new(None),
            pool: Mutex::new(State {
                tokens: Pool::new(config),
                sending: false,
                sends: 0,
                ended: false,
            }),
            changed: Condvar::new(),
            config,
        });
        if config.size > 0 {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("rln-tokens".into())
                .spawn(move || {
                    priority::lower();
                    shared.prepare_ahead();
                })?;
        }
        Ok(Self { shared })
    }

    /// Returns a monitor of the pool's state.
    pub fn monitor(&self) -> PoolMonitor {
        PoolMonitor {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl PoolMonitor {
    /// Returns the present state of the pool.
    pub fn snapshot(&self) -> TokenSnapshot {
        TokenSnapshot {
            config: self.shared.config,
            state: lock(&self.shared.pool).tokens.snapshot(),
        }
    }

    /// Returns the present epoch by the member's clock.
    pub(super) fn epoch(&self) -> Epoch {
        self.shared.clock.now().epoch()
    }

    /// Reason why a message sent now would get no proof, as far as the counter knows. `None` also while an id
    /// is being written to disk, because this does not wait for the disk.
    pub(super) fn refusal(&self) -> Option<String> {
        let clock = self.shared.clock.now();
        let counter = self.shared.counter.try_lock().ok()?;
        let refused = counter.ready(clock.epoch(), &clock).err();
        let trouble = lock(&self.shared.trouble).clone();
        refused.map(|error| error.to_string()).or(trouble)
    }
}

impl ProofSource for PooledProofs {
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        let shared = &*self.shared;
        let path = lock(&shared.view).path(shared.index);
        let path = path.ok_or(ProofFailure::Synchronizing)?;
        let reserved = match shared.reserve(epoch)? {
            Ok(token) => return Ok(token.sign(x)),
            Err(reserved) => reserved,
        };
        shared
            .prover
            .prove(&ProofRequest {
                identity: &shared.identity,
                limit: shared.limit,
                path: &path,
                generation: shared.generation,
                epoch,
                identifier: &RlnIdentifier::WAKU,
                message_id: reserved.message_id(),
                x,
            })
            .map_err(|error| ProofFailure::Prover(Arc::new(error)))
    }

    fn skip_taken(
        &mut self,
        epoch: Epoch,
        is_taken: &mut dyn FnMut(Fr) -> bool,
    ) -> Result<u32, ProofFailure> {
        let shared = &*self.shared;
        let nullifier_of =
            shared
                .identity
                .nullifiers(shared.generation, epoch, &RlnIdentifier::WAKU);
        let clock = shared.clock.now();
        let mut counter = lock(&shared.counter);
        skip_taken(&mut counter, &clock, epoch, nullifier_of, is_taken).map_err(no_id)
    }

    fn commitment(&self) -> Option<Fr> {
        Some(self.shared.identity.commitment())
    }

    fn tokens(&self) -> Option<PoolMonitor> {
        Some(self.monitor())
    }
}

impl Drop for PooledProofs {
    fn drop(&mut self) {
        lock(&self.shared.pool).ended = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    /// Reserves an id and takes its token, or returns the id alone if no token is ready.
    fn reserve(&self, epoch: Epoch) -> Result<Result<Token, Reserved>, ProofFailure> {
        lock(&self.pool).sending = true;
        let reserved = lock(&self.counter).reserve(epoch, &self.clock.now());
        *lock(&self.trouble) = match &reserved {
            Err(error @ CounterError::Io { .. }) => Some(error.to_string()),
            _ => None,
        };
        let root_version = lock(&self.view).revision();
        let mut state = lock(&self.pool);
        state.sending = false;
        state.sends += 1;
        let taken = reserved.map(|reserved| state.tokens.take(reserved, root_version));
        drop(state);
        self.changed.notify_all();
        taken.map_err(no_id)
    }

    fn prepare_ahead(&self) {
        let mut member = None;
        let mut state = lock(&self.pool);
        while !state.ended {
            let work;
            (state, work) = self.next_work(state);
            let wait = match work {
                Work::Prepare { epoch, message_id } => {
                    drop(state);
                    let failed = self.prepare(&mut member, epoch, message_id).err();
                    state = lock(&self.pool);
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
                let waited = self.changed.wait_timeout(state, wait);
                (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Asks the pool for its next work. The pool's lock is released meanwhile, because the counter may be
    /// busy with its disk.
    fn next_work<'a>(&'a self, mut state: MutexGuard<'a, State>) -> (MutexGuard<'a, State>, Work) {
        loop {
            let sends = state.sends;
            drop(state);
            let around = self.surroundings();
            let is_member = lock(&self.view).path(self.index).is_some();
            state = lock(&self.pool);
            // The token of the send would be dropped as one whose id is used up. The end of the
            // send wakes this thread.
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
    fn prepare(
        &self,
        member: &mut Option<Member>,
        epoch: Epoch,
        message_id: u32,
    ) -> Result<(), undertone_rln::ProveError> {
        let begun = Instant::now();
        let (path, root_version) = {
            let view = lock(&self.view);
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
        // Elapsed time: at least what the processor spent.
        let spent_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let key = (epoch, message_id);
        let now_ns = self.unix_now_ns();
        lock(&self.pool)
            .tokens
            .insert(key, root_version, token, spent_ns, now_ns);
        self.changed.notify_all();
        Ok(())
    }

    fn unix_now_ns(&self) -> u64 {
        self.clock.now().unix_now_ns
    }

    fn surroundings(&self) -> PoolInputs {
        let clock = self.clock.now();
        let epoch = clock.epoch();
        let (upcoming, limit) = {
            let counter = lock(&self.counter);
            (counter.upcoming(epoch, &clock), counter.limit())
        };
        let epoch_ns = clock.epoch_size_s.saturating_mul(1_000_000_000);
        PoolInputs {
            now_ns: clock.unix_now_ns,
            epoch,
            next_epoch_at_ns: epoch.0.saturating_add(1).saturating_mul(epoch_ns),
            upcoming,
            limit,
            root_version: lock(&self.view).revision(),
        }
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data behind the locks is changed by single calls that leave it consistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
