//! Proofs on threads of their own: checking, making, and following the membership.

use std::sync::{Arc, Mutex, PoisonError, mpsc as std_mpsc};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;
use undertone_gossip::PeerIx;
use undertone_membership::{MemberIndex, MembershipView, Registry};
use undertone_relay::{ProofFailure, ProofTicket};
use undertone_rln::{
    BatchPolicy, CounterError, Epoch, Fr, Generation, Identity, MessageIdCounter, ProofRequest,
    ProofStatement, Prover, RateLimitProof, RlnIdentifier, RootWindow, Verifier,
};

use super::tokens::PoolMonitor;
use super::verify::{Proof, VerifierPool};
use crate::command::RlnSnapshot;

/// How often the registry is asked for changes.
const MEMBERSHIP_POLL: Duration = Duration::from_millis(250);

/// Makes proofs for the node's own messages. Runs on a thread of its own and may block.
pub trait ProofSource: Send {
    /// A proof for the message with signal hash `x` in `epoch`.
    ///
    /// # Errors
    /// [`ProofFailure`] is told to the publisher.
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure>;

    /// The pool of tokens behind it, if there is one.
    fn tokens(&self) -> Option<PoolMonitor> {
        None
    }
}

/// What a node needs for rate limiting.
pub struct RlnOptions {
    /// Who may publish.
    pub registry: Arc<dyn Registry>,
    /// Checks proofs.
    pub verifier: Verifier,
    /// Threads that check them.
    pub verifier_threads: usize,
    /// When they check proofs together.
    pub batches: BatchPolicy,
    /// Makes ours; `None` for a node that only relays.
    pub proofs: Option<Box<dyn ProofSource>>,
    /// The membership as this node follows it, shared with `proofs`.
    pub view: Arc<Mutex<MembershipView>>,
}

/// The honest [`ProofSource`]: a registered member with a counter on disk.
pub struct MemberProofs {
    /// The member.
    pub identity: Identity,
    /// Its place in the tree.
    pub index: MemberIndex,
    /// Its limit as registered, messages per epoch.
    pub limit: u32,
    /// The network's generation of the external nullifier.
    pub generation: Generation,
    /// Message ids, on disk before they are used.
    pub counter: MessageIdCounter,
    /// The prover.
    pub prover: Arc<Prover>,
    /// The membership.
    pub view: Arc<Mutex<MembershipView>>,
}

impl ProofSource for MemberProofs {
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        let message_id = self.counter.next(epoch).map_err(|error| match error {
            CounterError::Exhausted { .. } => ProofFailure::Exhausted {
                limit: self.limit,
                epoch,
            },
            error => ProofFailure::Prover(Arc::new(error)),
        })?;
        let path = lock(&self.view).path(self.index);
        self.prover
            .prove(&ProofRequest {
                identity: &self.identity,
                limit: self.limit,
                path: &path,
                generation: self.generation,
                epoch,
                identifier: &RlnIdentifier::WAKU,
                message_id,
                x,
            })
            .map_err(|error| ProofFailure::Prover(Arc::new(error)))
    }
}

/// What the threads tell the event loop.
#[derive(Debug)]
pub(crate) enum RlnEvent {
    Verified {
        ticket: ProofTicket,
        valid: bool,
    },
    Proved {
        token: u64,
        result: Box<Result<RateLimitProof, ProofFailure>>,
    },
    Roots(RootWindow),
}

struct ProveJob {
    token: u64,
    epoch: Epoch,
    x: Fr,
}

/// The event loop's end of the threads. They stop when it is dropped.
pub(crate) struct RlnService {
    verify: VerifierPool,
    prove: Option<std_mpsc::Sender<ProveJob>>,
    tokens: Option<PoolMonitor>,
    /// Dropped with the service: tells the membership thread to stop.
    _stop: std_mpsc::Sender<()>,
}

impl RlnService {
    /// Starts the threads; `events` is bounded by what the relay lets be under way.
    pub(crate) fn start(
        options: RlnOptions,
        events: mpsc::UnboundedSender<RlnEvent>,
    ) -> std::io::Result<Self> {
        let threads = options.verifier_threads.max(1);
        let verify = VerifierPool::start(&options.verifier, options.batches, threads, &events)?;
        let tokens = options.proofs.as_ref().and_then(|source| source.tokens());
        let prove = match options.proofs {
            Some(source) => {
                let (sender, jobs) = std_mpsc::channel();
                let events = events.clone();
                thread::Builder::new()
                    .name("rln-prove".into())
                    .spawn(move || prove_loop(&jobs, source, &events))?;
                Some(sender)
            }
            None => None,
        };
        let (stop, stopped) = std_mpsc::channel();
        thread::Builder::new()
            .name("membership".into())
            .spawn(move || {
                membership_loop(&*options.registry, &options.view, &events, &stopped);
            })?;
        Ok(Self {
            verify,
            prove,
            tokens,
            _stop: stop,
        })
    }

    pub(crate) fn snapshot(&self) -> RlnSnapshot {
        RlnSnapshot {
            may_publish: self.prove.is_some(),
            tokens: self.tokens.as_ref().map(PoolMonitor::snapshot),
            verifier: self.verify.snapshot(),
        }
    }

    pub(crate) fn verify(
        &self,
        ticket: ProofTicket,
        from: Option<PeerIx>,
        statement: Box<ProofStatement>,
    ) {
        self.verify.push(Proof {
            ticket,
            from,
            statement,
        });
    }

    /// The index may soon be another peer's, who is no suspect.
    pub(crate) fn forget(&self, peer: PeerIx) {
        self.verify.forget(peer);
    }

    /// Asks for a proof.
    ///
    /// # Errors
    /// At once when this node is no member.
    pub(crate) fn prove(&self, token: u64, epoch: Epoch, x: Fr) -> Result<(), ProofFailure> {
        let prove = self.prove.as_ref().ok_or(ProofFailure::NoMembership)?;
        prove
            .send(ProveJob { token, epoch, x })
            .map_err(|_| ProofFailure::NoMembership)
    }
}

fn prove_loop(
    jobs: &std_mpsc::Receiver<ProveJob>,
    mut source: Box<dyn ProofSource>,
    events: &mpsc::UnboundedSender<RlnEvent>,
) {
    while let Ok(ProveJob { token, epoch, x }) = jobs.recv() {
        let result = Box::new(source.prove(epoch, x));
        if events.send(RlnEvent::Proved { token, result }).is_err() {
            return;
        }
    }
}

fn membership_loop(
    registry: &dyn Registry,
    view: &Mutex<MembershipView>,
    events: &mpsc::UnboundedSender<RlnEvent>,
    stopped: &std_mpsc::Receiver<()>,
) {
    let mut failing = false;
    let mut version = None;
    loop {
        let refreshed = {
            let mut view = lock(view);
            let result = view.refresh(registry);
            let changed = version.replace(view.version()) != Some(view.version());
            result.map(|_| changed.then(|| view.roots().clone()))
        };
        match refreshed {
            Ok(roots) => {
                failing = false;
                if let Some(roots) = roots
                    && events.send(RlnEvent::Roots(roots)).is_err()
                {
                    return;
                }
            }
            Err(error) if !failing => {
                failing = true;
                tracing::error!(%error, "cannot read the membership registry; will keep trying");
            }
            Err(_) => {}
        }
        match stopped.recv_timeout(MEMBERSHIP_POLL) {
            Err(std_mpsc::RecvTimeoutError::Timeout) => {}
            _ => return,
        }
    }
}

fn lock(view: &Mutex<MembershipView>) -> std::sync::MutexGuard<'_, MembershipView> {
    // A refresh that panicked leaves the last whole version; the next one carries on from it.
    view.lock().unwrap_or_else(PoisonError::into_inner)
}
