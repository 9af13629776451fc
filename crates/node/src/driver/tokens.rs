//! Proofs that are there before their messages: a thread of low priority prepares tokens.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use undertone_membership::{MemberIndex, MembershipView};
use undertone_relay::ProofFailure;
use undertone_rln::prover::os_rng;
use undertone_rln::{
    CounterError, Epoch, Fr, Generation, Identity, Member, MessageIdCounter, MessageSlot, Pool,
    PoolConfig, PoolSnapshot, ProofRequest, Prover, RateLimitProof, RlnIdentifier, Surroundings,
    Work,
};

use super::rln::{MemberProofs, ProofSource};

/// The thread looks around at least this often: for new roots, a new epoch, its end.
const LOOK_AROUND: Duration = Duration::from_millis(250);
/// How long the thread waits after the prover has failed.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

/// A member whose tokens are prepared ahead. A send takes a token if its own is ready, and is
/// proved in full otherwise; it never waits for the thread's work.
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
    epoch_size_s: u64,
    prover: Arc<Prover>,
    view: Arc<Mutex<MembershipView>>,
    counter: Mutex<MessageIdCounter>,
    pool: Mutex<State>,
    /// A token was taken or put in, or the thread is to end.
    changed: Condvar,
}

struct State {
    tokens: Pool,
    ended: bool,
}

/// Reads the pool's state, for as long as anyone wants to.
#[derive(Clone)]
pub struct PoolMonitor {
    shared: Arc<Shared>,
}

impl PooledProofs {
    /// Starts the thread. `epoch_size_s` is the network's.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub fn start(member: MemberProofs, config: PoolConfig, epoch_size_s: u64) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            identity: member.identity,
            index: member.index,
            limit: member.limit,
            generation: member.generation,
            epoch_size_s: epoch_size_s.max(1),
            prover: member.prover,
            view: member.view,
            counter: Mutex::new(member.counter),
            pool: Mutex::new(State {
                tokens: Pool::new(config),
                ended: false,
            }),
            changed: Condvar::new(),
        });
        if config.size > 0 {
            let shared = Arc::clone(&shared);
            thread::Builder::new()
                .name("rln-tokens".into())
                .spawn(move || shared.prepare_ahead())?;
        }
        Ok(Self { shared })
    }

    /// A view of the pool's state.
    pub fn monitor(&self) -> PoolMonitor {
        PoolMonitor {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl PoolMonitor {
    /// The state as it is.
    pub fn snapshot(&self) -> PoolSnapshot {
        lock(&self.shared.pool).tokens.snapshot()
    }
}

impl ProofSource for PooledProofs {
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        let shared = &*self.shared;
        let reserved = lock(&shared.counter).reserve(epoch);
        let reserved = reserved.map_err(|error| match error {
            CounterError::Exhausted { .. } => ProofFailure::Exhausted {
                limit: shared.limit,
                epoch,
            },
            error => ProofFailure::Prover(Arc::new(error)),
        })?;
        let root_version = lock(&shared.view).version().0;
        let token = lock(&shared.pool).tokens.take(reserved, root_version);
        shared.changed.notify_all();
        let reserved = match token {
            Ok(token) => return Ok(token.sign(x)),
            Err(reserved) => reserved,
        };
        let path = lock(&shared.view).path(shared.index);
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
}

impl Drop for PooledProofs {
    fn drop(&mut self) {
        lock(&self.shared.pool).ended = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn prepare_ahead(&self) {
        let mut member = None;
        let mut state = lock(&self.pool);
        while !state.ended {
            drop(state);
            let around = self.surroundings();
            state = lock(&self.pool);
            if state.ended {
                return;
            }
            let wait = match state.tokens.next_work(&around) {
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
                    Duration::from_nanos(at_ns.saturating_sub(around.now_ns)).min(LOOK_AROUND)
                }
                Work::Idle => LOOK_AROUND,
            };
            (state, _) = self
                .changed
                .wait_timeout(state, wait)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes one token and puts it in.
    fn prepare(
        &self,
        member: &mut Option<Member>,
        epoch: Epoch,
        message_id: u32,
    ) -> Result<(), undertone_rln::ProveError> {
        let begun = Instant::now();
        let (path, root_version) = {
            let view = lock(&self.view);
            (view.path(self.index), view.version().0)
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
        // Time on the clock: at least what the processor spent.
        let spent_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let key = (epoch, message_id);
        let now_ns = unix_now_ns();
        lock(&self.pool)
            .tokens
            .insert(key, root_version, token, spent_ns, now_ns);
        self.changed.notify_all();
        Ok(())
    }

    fn surroundings(&self) -> Surroundings {
        let now_ns = unix_now_ns();
        let epoch = Epoch::at(now_ns, self.epoch_size_s);
        let (upcoming, limit) = {
            let counter = lock(&self.counter);
            (counter.upcoming(epoch), counter.limit())
        };
        let epoch_ns = self.epoch_size_s.saturating_mul(1_000_000_000);
        Surroundings {
            now_ns,
            epoch,
            next_epoch_at_ns: epoch.0.saturating_add(1).saturating_mul(epoch_ns),
            upcoming,
            limit,
            root_version: lock(&self.view).version().0,
        }
    }
}

/// 0 for a clock set before 1970.
fn unix_now_ns() -> u64 {
    UNIX_EPOCH.elapsed().map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the locks guard is changed by single calls that leave it whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
