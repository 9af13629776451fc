//! Threads that verify proofs: singly while they are few, in batches when they pile up, and fairly among peers.

use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};

use libp2p::PeerId;
use parking_lot::{Condvar, Mutex};
use tokio::sync::mpsc;
use undertone_relay::ProofTicket;
use undertone_rln::prover::os_rng;
use undertone_rln::{BatchPolicy, Batcher, Job, ProofStatement, Verifier, VerifyCosts};

use super::rln::RlnEvent;
use crate::command::{JobSizes, VerifierSnapshot};

/// A proof waiting to be verified.
#[derive(Debug)]
pub(super) struct Proof {
    pub(super) ticket: ProofTicket,
    /// Peer that delivered the proof; `None` for an own one. It is an identity and not an index, because a suspect that
    /// reconnects may get another index but stays a suspect.
    pub(super) from: Option<PeerId>,
    pub(super) statement: Box<ProofStatement>,
}

/// The owner's handle of the verifier threads. They stop when it is dropped, each after its current job.
pub(super) struct VerifierPool {
    shared: Arc<VerifierState>,
    policy: BatchPolicy,
    threads: usize,
}

struct VerifierState {
    queue: Mutex<VerifyQueue>,
    /// Signalled when a proof was queued or the owner was dropped.
    changed: Condvar,
    start: Instant,
}

/// Proofs waiting to be verified. No cryptography runs under the lock. The relay bounds the number of proofs in
/// progress, so the queue needs no bound of its own.
struct VerifyQueue {
    batcher: Batcher<Proof, Option<PeerId>>,
    closed: bool,
    checked_total: u64,
    bad_total: u64,
    batches_total: u64,
    job_sizes: JobSizes,
    last_took: Duration,
}

impl VerifierPool {
    /// Starts the threads. Each has its own random generator for the coefficients of batches.
    pub(super) fn start(
        verifier: &Verifier,
        policy: BatchPolicy,
        threads: usize,
        events: &mpsc::UnboundedSender<RlnEvent>,
    ) -> io::Result<Self> {
        let shared = Arc::new(VerifierState {
            queue: Mutex::new(VerifyQueue {
                batcher: Batcher::new(policy, VerifyCosts::default()),
                closed: false,
                checked_total: 0,
                bad_total: 0,
                batches_total: 0,
                job_sizes: JobSizes::default(),
                last_took: Duration::ZERO,
            }),
            changed: Condvar::new(),
            start: Instant::now(),
        });
        // Own messages do not wait behind those of newcomers.
        shared.queue.lock().batcher.good_proof(None);
        // From here on, a failure drops the pool, which stops the threads already started.
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
        self.shared.queue.lock().batcher.push(proof, from);
        self.shared.changed.notify_one();
    }

    /// Reassigns a waiting proof to another peer. A proof that is already being verified stays as it is.
    pub(super) fn move_to(&self, ticket: ProofTicket, from: Option<PeerId>) {
        let mut queue = self.shared.queue.lock();
        if let Some(proof) = queue.batcher.remove(|proof| proof.ticket == ticket) {
            queue.batcher.push(Proof { from, ..proof }, from);
        }
    }

    /// Records that the verdict on a peer's proof has been handled, so its next proof may be verified.
    pub(super) fn settled(&self, from: Option<PeerId>) {
        self.shared.queue.lock().batcher.settled(from);
        self.shared.changed.notify_one();
    }

    /// Removes a waiting proof whose verdict is no longer needed.
    pub(super) fn remove(&self, ticket: ProofTicket) {
        let mut queue = self.shared.queue.lock();
        queue.batcher.remove(|proof| proof.ticket == ticket);
    }

    pub(super) fn snapshot(&self) -> VerifierSnapshot {
        let queue = self.shared.queue.lock();
        VerifierSnapshot {
            threads: self.threads,
            policy: self.policy,
            waiting: queue.batcher.waiting(),
            suspects: queue.batcher.suspects(),
            checked_total: queue.checked_total,
            bad_total: queue.bad_total,
            batches_total: queue.batches_total,
            job_sizes: queue.job_sizes,
            last_took: queue.last_took,
        }
    }
}

impl Drop for VerifierPool {
    fn drop(&mut self) {
        self.shared.queue.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

impl VerifierState {
    fn work(
        &self,
        mut check: impl FnMut(&Job<Proof>) -> Vec<bool>,
        events: &mpsc::UnboundedSender<RlnEvent>,
    ) {
        while let Some(job) = self.next_job() {
            let begun = Instant::now();
            let verdicts = check(&job);
            self.count(&job, &verdicts, begun.elapsed());
            for (proof, valid) in job.tickets().iter().zip(verdicts) {
                let verified = RlnEvent::Verified {
                    ticket: proof.ticket,
                    from: proof.from,
                    valid,
                };
                if events.send(verified).is_err() {
                    return;
                }
            }
        }
    }

    /// Counts the verdicts. This runs before they are reported, so that a receiver of a
    /// verdict finds it counted.
    fn count(&self, job: &Job<Proof>, verdicts: &[bool], took: Duration) {
        let bad = verdicts.iter().filter(|valid| !**valid).count();
        let mut queue = self.queue.lock();
        queue.checked_total += verdicts.len() as u64;
        queue.bad_total += bad as u64;
        queue.batches_total += u64::from(matches!(job, Job::Batch(_)));
        queue.job_sizes.count(verdicts.len());
        let proofs = u32::try_from(verdicts.len()).unwrap_or(u32::MAX);
        queue.last_took = took / proofs.max(1);
        let now_ns = self.now_ns();
        for (proof, valid) in job.tickets().iter().zip(verdicts) {
            match (proof.from, valid) {
                (from, true) => queue.batcher.good_proof(from),
                // An invalid proof attached by an own publisher says nothing about peers.
                (None, false) => {}
                (from, false) => queue.batcher.bad_proof(from, now_ns),
            }
        }
    }

    /// Waits for the next job; returns `None` once the owner has dropped the pool.
    fn next_job(&self) -> Option<Job<Proof>> {
        let mut queue = self.queue.lock();
        while !queue.closed {
            if let Some(job) = queue.batcher.next_job(self.now_ns()) {
                let peers = job.tickets().iter().map(|proof| proof.from);
                peers.for_each(|peer| queue.batcher.taken(peer));
                return Some(job);
            }
            self.changed.wait(&mut queue);
        }
        None
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
#[path = "tests/verify.rs"]
mod tests;
