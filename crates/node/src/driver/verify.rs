//! The threads that check proofs: one by one while there are few, in batches when they pile up, and each
//! peer in its turn.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use std::{io, thread};

use libp2p::PeerId;
use tokio::sync::mpsc;
use undertone_relay::ProofTicket;
use undertone_rln::prover::os_rng;
use undertone_rln::{BatchPolicy, Batcher, Job, ProofStatement, Verifier, VerifyCosts};

use super::rln::RlnEvent;
use crate::command::{JobSizes, VerifierSnapshot};

/// A proof to check.
#[derive(Debug)]
pub(super) struct Proof {
    pub(super) ticket: ProofTicket,
    /// The peer that delivered it; `None` for our own. Not its index: who comes back is still a
    /// suspect, and may have another one.
    pub(super) from: Option<PeerId>,
    pub(super) statement: Box<ProofStatement>,
}

/// The owner's end of the threads. They stop when it is dropped, each after its present job.
pub(super) struct VerifierPool {
    shared: Arc<Shared>,
    policy: BatchPolicy,
    threads: usize,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Something came, or the owner is gone.
    changed: Condvar,
    start: Instant,
}

/// The relay bounds how many proofs are under way, so the queue needs no bound of its own.
struct Queue {
    batcher: Batcher<Proof, Option<PeerId>>,
    closed: bool,
    checked_total: u64,
    bad_total: u64,
    batches_total: u64,
    job_sizes: JobSizes,
}

impl VerifierPool {
    /// Starts the threads. Each has a generator of its own for the batches' coefficients.
    pub(super) fn start(
        verifier: &Verifier,
        policy: BatchPolicy,
        threads: usize,
        events: &mpsc::UnboundedSender<RlnEvent>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue {
                batcher: Batcher::new(policy, VerifyCosts::default()),
                closed: false,
                checked_total: 0,
                bad_total: 0,
                batches_total: 0,
                job_sizes: JobSizes::default(),
            }),
            changed: Condvar::new(),
            start: Instant::now(),
        });
        // What we publish ourselves does not wait behind newcomers.
        shared.lock().batcher.good_proof(None);
        // From here on a failure drops the pool, which stops the threads that run already.
        let pool = Self {
            shared,
            policy,
            threads,
        };
        for _ in 0..threads {
            let (shared, events) = (Arc::clone(&pool.shared), events.clone());
            let verifier = verifier.clone();
            let mut rng = os_rng().map_err(io::Error::other)?;
            let check = move |job: &Job<Proof>| match job {
                Job::Single(proof) => vec![verifier.verify(&proof.statement).is_ok()],
                Job::Batch(proofs) => {
                    let statements: Vec<_> = proofs.iter().map(|p| &*p.statement).collect();
                    let verdicts = verifier.verify_batch(&statements, &mut rng);
                    verdicts.iter().map(Result::is_ok).collect()
                }
            };
            thread::Builder::new()
                .name("rln-verify".into())
                .spawn(move || shared.work(check, &events))?;
        }
        Ok(pool)
    }

    pub(super) fn push(&self, proof: Proof) {
        let from = proof.from;
        self.shared.lock().batcher.push(proof, from);
        self.shared.changed.notify_one();
    }

    /// A proof that waits counts as delivered by another peer from now on. One that is being checked
    /// needs no other place.
    pub(super) fn move_to(&self, ticket: ProofTicket, from: Option<PeerId>) {
        let mut queue = self.shared.lock();
        if let Some(proof) = queue.batcher.remove(|proof| proof.ticket == ticket) {
            queue.batcher.push(Proof { from, ..proof }, from);
        }
    }

    /// Nobody asks for a proof any more; it is not checked if it still waits.
    pub(super) fn remove(&self, ticket: ProofTicket) {
        let mut queue = self.shared.lock();
        queue.batcher.remove(|proof| proof.ticket == ticket);
    }

    pub(super) fn snapshot(&self) -> VerifierSnapshot {
        let queue = self.shared.lock();
        VerifierSnapshot {
            threads: self.threads,
            policy: self.policy,
            waiting: queue.batcher.waiting(),
            suspects: queue.batcher.suspects(),
            checked_total: queue.checked_total,
            bad_total: queue.bad_total,
            batches_total: queue.batches_total,
            job_sizes: queue.job_sizes,
        }
    }
}

impl Drop for VerifierPool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn work(
        &self,
        mut check: impl FnMut(&Job<Proof>) -> Vec<bool>,
        events: &mpsc::UnboundedSender<RlnEvent>,
    ) {
        while let Some(job) = self.next_job() {
            let verdicts = check(&job);
            self.count(&job, &verdicts);
            for (proof, valid) in job.tickets().iter().zip(verdicts) {
                let ticket = proof.ticket;
                if events.send(RlnEvent::Verified { ticket, valid }).is_err() {
                    return;
                }
            }
        }
    }

    /// Before the verdicts are told, so that who has heard them finds them counted.
    fn count(&self, job: &Job<Proof>, verdicts: &[bool]) {
        let bad = verdicts.iter().filter(|valid| !**valid).count();
        let mut queue = self.lock();
        queue.checked_total += verdicts.len() as u64;
        queue.bad_total += bad as u64;
        queue.batches_total += u64::from(matches!(job, Job::Batch(_)));
        queue.job_sizes.count(verdicts.len());
        let now_ns = self.now_ns();
        for (proof, valid) in job.tickets().iter().zip(verdicts) {
            match (proof.from, valid) {
                (from, true) => queue.batcher.good_proof(from),
                // One that our own publisher brought says nothing about peers.
                (None, false) => {}
                (from, false) => queue.batcher.bad_proof(from, now_ns),
            }
        }
    }

    /// Waits for something to do; `None` when the owner is gone.
    fn next_job(&self) -> Option<Job<Proof>> {
        let mut queue = self.lock();
        while !queue.closed {
            if let Some(job) = queue.batcher.next_job(self.now_ns()) {
                return Some(job);
            }
            let waited = self.changed.wait(queue);
            queue = waited.unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // No cryptography runs under the lock: a thread that panicked there left the queue whole.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
