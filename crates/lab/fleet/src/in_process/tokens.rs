//! Proofs of many members in one process, with tokens prepared ahead.
//!
//! A single node has a thread that prepares its tokens. A hundred such threads would share the
//! processor until no token is ready in time, and each would hold the memory needed to make a proof.
//! So one thread does this work for all members, one token after another.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};
use std::{io, thread};

use parking_lot::Mutex;
use undertone_node::driver::ProofSource;
use undertone_relay::ProofFailure;
use undertone_rln::prover::os_rng;
use undertone_rln::{
    CounterError, Epoch, Fr, Generation, Member, MessageIdCounter, MessageSlot, PreparedToken,
    ProveError, RateLimitProof, RlnIdentifier, WallClock,
};

/// Interval at which an idle thread looks for work.
const LOOK_AROUND: Duration = Duration::from_millis(20);

/// Rate-limit rules that the network imposes on all members.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateTerms {
    pub(crate) generation: Generation,
    /// Limit of each member, messages per epoch.
    pub(crate) limit: u32,
    pub(crate) epoch_size_s: u64,
}

/// Member that publishes; the tree must not change while it does.
pub(crate) struct TokenPublisher {
    member: Member,
    terms: RateTerms,
    counter: Mutex<MessageIdCounter>,
    ready: Mutex<BTreeMap<(Epoch, u32), PreparedToken>>,
}

impl TokenPublisher {
    pub(crate) fn new(member: Member, counter: MessageIdCounter, terms: RateTerms) -> Self {
        Self {
            member,
            terms,
            counter: Mutex::new(counter),
            ready: Mutex::default(),
        }
    }

    /// Whether the tokens ready for this epoch and the next one suffice together for the messages of
    /// one epoch.
    pub(crate) fn is_ready(&self) -> bool {
        self.ready.lock().len() >= self.terms.limit as usize
    }

    fn slot(&self, epoch: Epoch, message_id: u32) -> MessageSlot<'static> {
        MessageSlot {
            generation: self.terms.generation,
            epoch,
            identifier: &RlnIdentifier::WAKU,
            message_id,
        }
    }

    /// Makes the first missing token of an epoch; returns whether one was missing.
    fn prepare(&self, epoch: Epoch) -> Result<bool, ProveError> {
        let Some(first) = self
            .counter
            .lock()
            .upcoming(epoch, &WallClock::stopped_in(epoch))
        else {
            return Ok(false);
        };
        let missing = {
            let ready = self.ready.lock();
            (first..self.terms.limit).find(|id| !ready.contains_key(&(epoch, *id)))
        };
        let Some(id) = missing else {
            return Ok(false);
        };
        let token = self.member.prepare(&self.slot(epoch, id), &mut os_rng()?)?;
        self.ready.lock().insert((epoch, id), token);
        Ok(true)
    }

    fn forget_before(&self, epoch: Epoch) {
        self.ready.lock().retain(|(of, _), _| *of >= epoch);
    }

    fn prove(&self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        let reserved = self
            .counter
            .lock()
            .reserve(epoch, &WallClock::stopped_in(epoch));
        let mut reserved = reserved.map_err(|error| match error {
            CounterError::Exhausted { .. } => ProofFailure::Exhausted {
                limit: self.terms.limit,
                epoch,
            },
            error => ProofFailure::Prover(Arc::new(error)),
        })?;
        let prepared = self.ready.lock().remove(&(epoch, reserved.message_id()));
        if let Some(prepared) = prepared {
            match prepared.arm(reserved) {
                Ok(token) => return Ok(token.sign(x)),
                Err(other) => reserved = other.returned.1,
            }
        }
        let failed = |error: ProveError| ProofFailure::Prover(Arc::new(error));
        let slot = self.slot(epoch, reserved.message_id());
        self.member
            .prove(&slot, x, &mut os_rng().map_err(failed)?)
            .map_err(failed)
    }
}

/// Source of a node's proofs, backed by its publisher.
pub(crate) struct TokenProofs(pub(crate) Arc<TokenPublisher>);

impl ProofSource for TokenProofs {
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        self.0.prove(epoch, x)
    }
}

/// Handle of the thread that prepares tokens. After it is dropped, the thread ends within one token's
/// preparation.
pub(crate) struct TokenThread {
    ended: Arc<AtomicBool>,
}

impl TokenThread {
    /// Starts the thread, which prepares this epoch's tokens of all publishers, then the next epoch's.
    pub(crate) fn start(publishers: Vec<Arc<TokenPublisher>>) -> io::Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let thread = Self {
            ended: Arc::clone(&ended),
        };
        thread::Builder::new()
            .name("rln-tokens".into())
            .spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    // A lack of random numbers may be temporary; publishing reports the error.
                    if !prepare_one(&publishers).unwrap_or(false) {
                        thread::sleep(LOOK_AROUND);
                    }
                }
            })?;
        Ok(thread)
    }
}

impl Drop for TokenThread {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

fn prepare_one(publishers: &[Arc<TokenPublisher>]) -> Result<bool, ProveError> {
    let Some(first) = publishers.first() else {
        return Ok(false);
    };
    // A clock set before 1970 counts as epoch 0.
    let since = UNIX_EPOCH.elapsed().unwrap_or_default();
    let now_ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
    let epoch = Epoch::at(now_ns, first.terms.epoch_size_s);
    for publisher in publishers {
        publisher.forget_before(epoch);
    }
    for epoch in [epoch, Epoch(epoch.0.saturating_add(1))] {
        for publisher in publishers {
            if publisher.prepare(epoch)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
