//! Proofs on threads of their own: checking and making them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc as std_mpsc};
use std::{fmt, io, thread};

use libp2p::PeerId;
use tokio::sync::mpsc;
use undertone_membership::{MemberIndex, Registry, View};
use undertone_relay::{ProofFailure, ProofTicket};
use undertone_rln::{
    BatchPolicy, CounterError, Epoch, Fr, Generation, Identity, MessageIdCounter, ProofRequest,
    ProofStatement, Prover, RateLimitProof, RlnIdentifier, RootWindow, Verifier,
};

use super::membership::{Follower, lock, snapshot};
use super::tokens::PoolMonitor;
use super::verify::{Proof, VerifierPool};
use crate::command::{MembershipSnapshot, RlnSnapshot};

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

/// What has become of this node's membership since it was looked for the last time.
pub enum Standing {
    /// Nothing, as far as is known.
    Same,
    /// It has one; from now on proofs come from here.
    Joined(Box<dyn ProofSource>),
    /// It has none, or another than before: the source of its proofs is to be dropped. Look again.
    Left,
    /// The source that was dropped has not ended yet. Look again.
    Ending,
}

/// Looks for this node's membership. Asked on a thread of its own after each change of the registry;
/// may block.
pub type Joining = Box<dyn FnMut() -> Standing + Send>;

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
    /// Makes ours; `None` for a node that is no member.
    pub proofs: Option<Box<dyn ProofSource>>,
    /// Follows our membership; `None` where it never changes.
    pub joining: Option<Joining>,
    /// The membership as this node follows it, shared with `proofs`.
    pub view: Arc<Mutex<dyn View>>,
    /// Where the view is saved now and then and at the end; `None` for nowhere.
    pub snapshot_file: Option<PathBuf>,
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
    pub view: Arc<Mutex<dyn View>>,
}

impl ProofSource for MemberProofs {
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        let path = lock(&self.view).path(self.index);
        let path = path.ok_or(ProofFailure::Synchronizing)?;
        let message_id = self.counter.next(epoch).map_err(|error| match error {
            CounterError::Exhausted { .. } => ProofFailure::Exhausted {
                limit: self.limit,
                epoch,
            },
            error => ProofFailure::Prover(Arc::new(error)),
        })?;
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
    Membership {
        roots: RootWindow,
        now: MembershipSnapshot,
    },
    /// The node has become a member.
    Joined(Publisher),
    /// It is one no longer, or another one.
    Left,
}

pub(crate) struct ProveJob {
    token: u64,
    epoch: Epoch,
    x: Fr,
}

/// The thread that makes proofs. It stops when this is dropped, and what waits for it fails.
pub(crate) struct Publisher {
    jobs: std_mpsc::Sender<ProveJob>,
    tokens: Option<PoolMonitor>,
    ended: Arc<AtomicBool>,
}

impl Publisher {
    pub(super) fn start(
        source: Box<dyn ProofSource>,
        events: mpsc::UnboundedSender<RlnEvent>,
    ) -> io::Result<Self> {
        let tokens = source.tokens();
        let (jobs, received) = std_mpsc::channel();
        let ended = Arc::new(AtomicBool::new(false));
        let has_ended = Arc::clone(&ended);
        thread::Builder::new()
            .name("rln-prove".into())
            .spawn(move || prove_loop(&received, source, &events, &has_ended))?;
        Ok(Self {
            jobs,
            tokens,
            ended,
        })
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").finish_non_exhaustive()
    }
}

/// The event loop's end of the threads. They stop when it is dropped.
pub(crate) struct RlnService {
    verify: VerifierPool,
    publisher: Option<Publisher>,
    membership: MembershipSnapshot,
    registry: Arc<dyn Registry>,
    /// Dropped: tells the membership thread to stop.
    stop: std_mpsc::Sender<()>,
    follower: thread::JoinHandle<()>,
}

impl RlnService {
    /// Starts the threads; `events` is bounded by what the relay lets be under way.
    pub(crate) fn start(
        options: RlnOptions,
        events: mpsc::UnboundedSender<RlnEvent>,
    ) -> io::Result<Self> {
        let threads = options.verifier_threads.max(1);
        let verify = VerifierPool::start(&options.verifier, options.batches, threads, &events)?;
        let start = |source| Publisher::start(source, events.clone());
        let publisher = options.proofs.map(start).transpose()?;
        let registry = Arc::clone(&options.registry);
        let membership = snapshot(&*lock(&options.view));
        let follower = Follower {
            joining: options.joining,
            registry: options.registry,
            view: options.view,
            snapshot_file: options.snapshot_file,
            events,
        };
        let (stop, stopped) = std_mpsc::channel();
        let follower = thread::Builder::new()
            .name("membership".into())
            .spawn(move || follower.run(&stopped))?;
        Ok(Self {
            verify,
            publisher,
            membership,
            registry,
            stop,
            follower,
        })
    }

    /// Waits until the membership is saved.
    pub(crate) fn stop(self) {
        drop(self.stop);
        // A panic there was logged where it happened.
        let _ = self.follower.join();
    }

    pub(crate) fn set_membership(&mut self, now: MembershipSnapshot) {
        self.membership = now;
    }

    /// Has the registry look for news soon.
    pub(crate) fn hurry(&self) {
        self.registry.hurry();
    }

    /// Why the membership may not be the newest.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.registry.trouble()
    }

    /// From now on the node can publish.
    pub(crate) fn set_publisher(&mut self, publisher: Publisher) {
        self.publisher = Some(publisher);
    }

    /// From now on it cannot.
    pub(crate) fn drop_publisher(&mut self) {
        self.publisher = None;
    }

    /// Whether the node can publish.
    pub(crate) fn is_member(&self) -> bool {
        self.publisher.is_some()
    }

    pub(crate) fn snapshot(&self) -> RlnSnapshot {
        let tokens = self.publisher.as_ref().and_then(|p| p.tokens.as_ref());
        RlnSnapshot {
            may_publish: self.publisher.is_some(),
            tokens: tokens.map(PoolMonitor::snapshot),
            verifier: self.verify.snapshot(),
            membership: self.membership,
            chain: self.registry.chain(),
        }
    }

    pub(crate) fn verify(
        &self,
        ticket: ProofTicket,
        from: Option<PeerId>,
        statement: Box<ProofStatement>,
    ) {
        self.verify.push(Proof {
            ticket,
            from,
            statement,
        });
    }

    /// A proof that waits counts as delivered by another peer from now on.
    pub(crate) fn move_proof(&self, ticket: ProofTicket, from: Option<PeerId>) {
        self.verify.move_to(ticket, from);
    }

    /// A proof need not be checked any more.
    pub(crate) fn drop_proof(&self, ticket: ProofTicket) {
        self.verify.remove(ticket);
    }

    /// Asks for a proof.
    ///
    /// # Errors
    /// At once when this node is no member.
    pub(crate) fn prove(&self, token: u64, epoch: Epoch, x: Fr) -> Result<(), ProofFailure> {
        let publisher = self.publisher.as_ref();
        let publisher = publisher.ok_or(ProofFailure::NoMembership)?;
        publisher
            .jobs
            .send(ProveJob { token, epoch, x })
            .map_err(|_| ProofFailure::NoMembership)
    }
}

fn prove_loop(
    jobs: &std_mpsc::Receiver<ProveJob>,
    mut source: Box<dyn ProofSource>,
    events: &mpsc::UnboundedSender<RlnEvent>,
    has_ended: &AtomicBool,
) {
    while let Ok(ProveJob { token, epoch, x }) = jobs.recv() {
        let result = Box::new(match has_ended.load(Ordering::Relaxed) {
            false => source.prove(epoch, x),
            true => Err(ProofFailure::NoMembership),
        });
        if events.send(RlnEvent::Proved { token, result }).is_err() {
            return;
        }
    }
}
