//! Proofs on threads of their own: checking and making them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc as std_mpsc};
use std::{fmt, io, thread};

use libp2p::PeerId;
use tokio::sync::mpsc;
use undertone_membership::{Registry, View};
use undertone_relay::{ProofFailure, ProofTicket};
use undertone_rln::{
    BatchPolicy, Epoch, Fr, ProofStatement, RateLimitProof, RecoveredSecret, RootWindow, Verifier,
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

    /// Uses up the message ids of `epoch`, from the next one on, whose nullifiers are taken: another node
    /// has used them. Tells how many.
    ///
    /// # Errors
    /// [`ProofFailure`] is told to the publisher, for one if no id is left.
    fn skip_taken(
        &mut self,
        epoch: Epoch,
        is_taken: &mut dyn FnMut(Fr) -> bool,
    ) -> Result<u32, ProofFailure> {
        let _ = (epoch, is_taken);
        Ok(0)
    }

    /// Whose proofs these are, if that is to be watched: a secret that two messages reveal is compared.
    fn commitment(&self) -> Option<Fr> {
        None
    }

    /// Whether it repeats message ids on purpose: an attacker of the laboratory.
    fn reuses_ids(&self) -> bool {
        false
    }

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
    /// Whether a message under this nullifier is known; a thread waits for the answer.
    IsTaken {
        epoch: Epoch,
        nullifier: Fr,
        reply: std_mpsc::Sender<bool>,
    },
    /// So many ids of the epoch were skipped because another node had used them.
    Skipped {
        epoch: Epoch,
        ids: u32,
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
    /// An id was taken: it is to be looked which others are.
    skips_taken: bool,
}

/// The thread that makes proofs. It stops when this is dropped, and what waits for it fails.
pub(crate) struct Publisher {
    jobs: std_mpsc::Sender<ProveJob>,
    tokens: Option<PoolMonitor>,
    commitment: Option<Fr>,
    ended: Arc<AtomicBool>,
}

impl Publisher {
    pub(super) fn start(
        source: Box<dyn ProofSource>,
        events: mpsc::UnboundedSender<RlnEvent>,
    ) -> io::Result<Self> {
        let (tokens, commitment) = (source.tokens(), source.commitment());
        let (jobs, received) = std_mpsc::channel();
        let ended = Arc::new(AtomicBool::new(false));
        let has_ended = Arc::clone(&ended);
        thread::Builder::new()
            .name("rln-prove".into())
            .spawn(move || prove_loop(&received, source, &events, &has_ended))?;
        Ok(Self {
            jobs,
            tokens,
            commitment,
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
    own: OwnIdentity,
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
            own: OwnIdentity::default(),
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

    /// Why the membership may not be the newest, or its secret is known to others.
    pub(crate) fn trouble(&self) -> Option<String> {
        let exposed = self.exposed().map(|failure| failure.to_string());
        exposed.or_else(|| self.registry.trouble())
    }

    /// Why the node cannot publish now, though it has a membership.
    fn refusal(&self) -> Option<String> {
        let tokens = self.publisher.as_ref()?.tokens.as_ref();
        let exposed = self.exposed().map(|failure| failure.to_string());
        exposed.or_else(|| tokens.and_then(PoolMonitor::refusal))
    }

    /// What ends publishing for the present epoch.
    fn exposed(&self) -> Option<ProofFailure> {
        let epoch = self.own.exposed?;
        let tokens = self.publisher.as_ref()?.tokens.as_ref();
        let is_present = tokens.is_none_or(|tokens| tokens.epoch() <= epoch);
        is_present.then_some(ProofFailure::IdentityExposed { epoch })
    }

    /// Two messages have revealed a secret; says whether it is that of this node's member, which then
    /// publishes no more in the epoch.
    pub(crate) fn is_own_secret(&mut self, epoch: Epoch, secret: &RecoveredSecret) -> bool {
        let own = self.publisher.as_ref().and_then(|p| p.commitment);
        let is_own = own.is_some_and(|own| own == secret.commitment());
        if is_own {
            self.own.exposed = self.own.exposed.max(Some(epoch));
        }
        is_own
    }

    /// So many message ids were used by another node.
    pub(crate) fn count_taken(&mut self, ids: u32) {
        self.own.ids_taken += u64::from(ids);
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
            refusal: self.refusal(),
            ids_taken_total: self.own.ids_taken,
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

    /// Asks for a proof; with `skips_taken` for one with an id that no other node has used.
    ///
    /// # Errors
    /// At once when this node is no member, or another node has exposed its secret in the epoch.
    pub(crate) fn prove(
        &self,
        token: u64,
        epoch: Epoch,
        x: Fr,
        skips_taken: bool,
    ) -> Result<(), ProofFailure> {
        let publisher = self.publisher.as_ref();
        let publisher = publisher.ok_or(ProofFailure::NoMembership)?;
        if self.own.exposed == Some(epoch) {
            return Err(ProofFailure::IdentityExposed { epoch });
        }
        let job = ProveJob {
            token,
            epoch,
            x,
            skips_taken,
        };
        publisher
            .jobs
            .send(job)
            .map_err(|_| ProofFailure::NoMembership)
    }
}

/// What is known of the member's identity being used elsewhere.
#[derive(Debug, Default)]
struct OwnIdentity {
    /// The last epoch in which two messages under one message id made its secret public.
    exposed: Option<Epoch>,
    /// Message ids that another node used first, since the start.
    ids_taken: u64,
}

fn prove(
    job: &ProveJob,
    source: &mut dyn ProofSource,
    events: &mpsc::UnboundedSender<RlnEvent>,
) -> Result<RateLimitProof, ProofFailure> {
    let epoch = job.epoch;
    if job.skips_taken {
        let mut is_taken = |nullifier| {
            let (reply, answer) = std_mpsc::channel();
            let asked = events.send(RlnEvent::IsTaken {
                epoch,
                nullifier,
                reply,
            });
            // A loop that has ended sends no message either.
            asked.is_ok() && answer.recv().unwrap_or(false)
        };
        let ids = source.skip_taken(epoch, &mut is_taken)?;
        // As above.
        let _ = events.send(RlnEvent::Skipped { epoch, ids });
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
        let token = job.token;
        let result = Box::new(match has_ended.load(Ordering::Relaxed) {
            false => prove(&job, &mut *source, events),
            true => Err(ProofFailure::NoMembership),
        });
        if events.send(RlnEvent::Proved { token, result }).is_err() {
            return;
        }
    }
}
