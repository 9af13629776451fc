//! Thread that generates proofs for the node's own messages.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc as std_mpsc};
use std::time::Duration;
use std::{io, thread};

use tokio::sync::mpsc;
use undertone_gossip::RequestId;
use undertone_relay::ProofFailure;
use undertone_rln::{Epoch, Fr, RateLimitProof};

use super::event::RlnEvent;
use super::source::ProofSource;
use crate::driver::tokens::pool::PoolMonitor;

#[cfg(test)]
mod tests;

/// Request for a proof.
struct ProveJob {
    request: RequestId,
    epoch: Epoch,
    x: Fr,
    skip: SkipTaken,
}

/// Check of message ids before they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkipTaken {
    /// No id is checked.
    No,
    /// Ids are checked as a precaution.
    Unasked,
    /// Ids are checked because the one before was found taken.
    AfterOne,
}

/// Thread that generates proofs. It stops when this is dropped, and requests still waiting for it fail.
pub(crate) struct ProofThread {
    jobs: std_mpsc::Sender<ProveJob>,
    pub(super) tokens: Option<PoolMonitor>,
    pub(super) commitment: Option<Fr>,
    ended: Arc<AtomicBool>,
    /// Disconnected once the source is dropped, and with it the lock on the message-id counter.
    released: std_mpsc::Receiver<()>,
}

/// Longest time that the end of a proof is waited for. A proof takes a tenth of it on a slow and busy machine; more can only
/// be a disk that does not answer.
const LAST_PROOF: Duration = Duration::from_secs(5);

impl ProofThread {
    pub(super) fn start(
        source: Box<dyn ProofSource>,
        events: mpsc::UnboundedSender<RlnEvent>,
    ) -> io::Result<Self> {
        let (tokens, commitment) = (source.tokens(), source.commitment());
        let (jobs, received) = std_mpsc::channel();
        let ended = Arc::new(AtomicBool::new(false));
        let has_ended = Arc::clone(&ended);
        let (release, released) = std_mpsc::channel();
        thread::Builder::new()
            .name("rln-prove".into())
            .spawn(move || {
                prove_loop(&received, source, &events, &has_ended);
                drop(release);
            })?;
        Ok(Self {
            jobs,
            tokens,
            commitment,
            ended,
            released,
        })
    }

    /// Ends the thread and lets its message-id counter go, so that it is free for a node that starts next.
    ///
    /// Nobody may still have to answer the thread: the receiver of its events must be closed and empty.
    pub(super) fn stop(mut self) {
        self.ended.store(true, Ordering::Relaxed);
        drop(std::mem::replace(&mut self.jobs, std_mpsc::channel().0));
        if let Some(tokens) = self.tokens.take() {
            // The counter is free at once; only a source without a pool is waited for.
            return tokens.end();
        }
        if self.released.recv_timeout(LAST_PROOF) == Err(std_mpsc::RecvTimeoutError::Timeout) {
            tracing::error!(
                waited_s = LAST_PROOF.as_secs(),
                "a proof did not end in time; its message-id counter stays locked until this program ends"
            );
        }
    }

    /// Requests a proof; unless `skip` is `No`, one with an id that no other node has used.
    ///
    /// # Errors
    /// Returns the failure at once if the thread has ended.
    pub(super) fn request(
        &self,
        request: RequestId,
        epoch: Epoch,
        x: Fr,
        skip: SkipTaken,
    ) -> Result<(), ProofFailure> {
        let job = ProveJob {
            request,
            epoch,
            x,
            skip,
        };
        self.jobs.send(job).map_err(|_| ProofFailure::NoMembership)
    }
}

impl Drop for ProofThread {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

fn prove(
    job: &ProveJob,
    source: &mut dyn ProofSource,
    events: &mpsc::UnboundedSender<RlnEvent>,
) -> Result<RateLimitProof, ProofFailure> {
    let epoch = job.epoch;
    if job.skip != SkipTaken::No {
        let mut is_taken = |nullifier| {
            let (reply, answer) = std_mpsc::channel();
            let asked = events.send(RlnEvent::IsTaken {
                epoch,
                nullifier,
                reply,
            });
            // An event loop that has ended sends no message either.
            asked.is_ok() && answer.recv().unwrap_or(false)
        };
        let ids = source.skip_taken(epoch, &mut is_taken)?;
        let before = u32::from(job.skip == SkipTaken::AfterOne);
        if ids + before > 0 {
            // The event loop may have ended.
            let _ = events.send(RlnEvent::Skipped { epoch, ids, before });
        }
    }
    source.prove(epoch, job.x)
}

fn prove_loop(
    jobs: &std_mpsc::Receiver<ProveJob>,
    mut source: Box<dyn ProofSource>,
    events: &mpsc::UnboundedSender<RlnEvent>,
    has_ended: &AtomicBool,
) {
    while let Ok(job) = jobs.recv() {
        let request = job.request;
        let result = Box::new(if has_ended.load(Ordering::Relaxed) {
            Err(ProofFailure::NoMembership)
        } else {
            prove(&job, &mut *source, events)
        });
        if events.send(RlnEvent::Proved { request, result }).is_err() {
            return;
        }
    }
}
