//! Verification and generation of proofs on dedicated threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc as std_mpsc};
use std::{fmt, io, thread};

use libp2p::PeerId;
use tokio::sync::mpsc;
use undertone_membership::evm::ChainHandle;
use undertone_relay::{ProofFailure, ProofTicket};
use undertone_rln::{Epoch, Fr, ProofStatement, RateLimitProof, RecoveredSecret, RootWindow};

use super::membership::{Follower, lock, snapshot};
use super::options::RlnOptions;
use super::tokens::PoolMonitor;
use super::verify::{Proof, VerifierPool};
use crate::command::{MembershipSnapshot, RlnSnapshot};

/// Generates proofs for the node's own messages. Runs on its own thread and may block.
pub trait ProofSource: Send {
    /// Returns a proof for the message with signal hash `x` in `epoch`.
    ///
    /// # Errors
    /// [`ProofFailure`] is passed on to the publisher.
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure>;

    /// Uses up the message ids of `epoch`, from the next one on, whose nullifiers are taken because another
    /// node has used them. Returns their number.
    ///
    /// # Errors
    /// [`ProofFailure`] is passed on to the publisher, for example when no id is left.
    fn skip_taken(
        &mut self,
        epoch: Epoch,
        is_taken: &mut dyn FnMut(Fr) -> bool,
    ) -> Result<u32, ProofFailure> {
        let _ = (epoch, is_taken);
        Ok(0)
    }

    /// Identity commitment of the prover, if leaks of its secret are to be detected: it is compared with the
    /// commitment of each secret that two messages reveal.
    fn commitment(&self) -> Option<Fr> {
        None
    }

    /// Whether the source reuses message ids on purpose, as an attacker of the laboratory does.
    fn reuses_ids(&self) -> bool {
        false
    }

    /// Monitor of the token pool behind this source, if there is one.
    fn tokens(&self) -> Option<PoolMonitor> {
        None
    }
}

/// Change of this node's membership since the last check.
pub enum Standing {
    /// No change, as far as is known.
    Same,
    /// The node has become a member; from now on this source makes its proofs.
    Joined(Box<dyn ProofSource>),
    /// The node lost its membership or was moved to another leaf: drop its source of proofs and check again.
    Left,
    /// The dropped source has not ended yet: check again.
    Ending,
}

/// Checks this node's membership. Called on the membership thread after each registry change; may block.
pub type Joining = Box<dyn FnMut() -> Standing + Send>;

/// Messages from the proof and membership threads to the event loop.
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
    /// Asks whether a message with this nullifier is known; a thread blocks until the answer.
    IsTaken {
        epoch: Epoch,
        nullifier: Fr,
        reply: std_mpsc::Sender<bool>,
    },
    /// Message ids of the epoch were skipped because another node had used them.
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
    /// The node lost its membership or was moved to another leaf.
    Left,
}

pub(crate) struct ProveJob {
    token: u64,
    epoch: Epoch,
    x: Fr,
    /// Whether an id was found taken, so that the ids after it must be checked, too.
    skips_taken: bool,
}

/// Thread that generates proofs. It stops when this is dropped, and requests still waiting for it fail.
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

/// The event loop's end of the proof and membership threads. They stop when it is dropped.
pub(crate) struct RlnService {
    verify: VerifierPool,
    publisher: Option<Publisher>,
    own: OwnIdentity,
    membership: MembershipSnapshot,
    chain: Option<ChainHandle>,
    /// Dropping this sender tells the membership thread to stop.
    stop: std_mpsc::Sender<()>,
    follower: thread::JoinHandle<()>,
}

impl RlnService {
    /// Starts the threads. `events` needs no bound, because the relay bounds the proofs in progress.
    pub(crate) fn start(
        options: RlnOptions,
        events: mpsc::UnboundedSender<RlnEvent>,
    ) -> io::Result<Self> {
        let threads = options.verifier_threads.max(1);
        let verify = VerifierPool::start(&options.verifier, options.batches, threads, &events)?;
        let start = |source| Publisher::start(source, events.clone());
        let publisher = options.proofs.map(start).transpose()?;
        let membership = snapshot(&*lock(options.membership.view()));
        let follower = Follower {
            joining: options.joining,
            source: options.membership,
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
            chain: options.chain,
            stop,
            follower,
        })
    }

    /// Stops the threads and waits until the membership is saved.
    pub(crate) fn stop(self) {
        drop(self.stop);
        // A panic of the thread was logged where it happened.
        let _ = self.follower.join();
    }

    pub(crate) fn set_membership(&mut self, now: MembershipSnapshot) {
        self.membership = now;
    }

    /// Requests an early poll of the registry's chain, because a peer refers to a change that is not known
    /// here. A registry on no chain is always up to date.
    pub(crate) fn request_refresh(&self) {
        if let Some(chain) = &self.chain {
            chain.request_refresh();
        }
    }

    /// Reason why the known membership may be outdated, or that the node's secret is public.
    pub(crate) fn trouble(&self) -> Option<String> {
        let exposed = self.exposed().map(|failure| failure.to_string());
        exposed.or_else(|| self.chain.as_ref()?.status().staleness())
    }

    /// Reason why the node cannot publish now although it has a membership.
    fn refusal(&self) -> Option<String> {
        let tokens = self.publisher.as_ref()?.tokens.as_ref();
        let exposed = self.exposed().map(|failure| failure.to_string());
        exposed.or_else(|| tokens.and_then(PoolMonitor::refusal))
    }

    /// Failure that ends publishing for the present epoch, if any.
    fn exposed(&self) -> Option<ProofFailure> {
        let epoch = self.own.exposed?;
        let tokens = self.publisher.as_ref()?.tokens.as_ref();
        let is_present = tokens.is_none_or(|tokens| tokens.epoch() <= epoch);
        is_present.then_some(ProofFailure::IdentityExposed { epoch })
    }

    /// Returns whether a secret that two messages revealed is that of this node's member. If it is, the node
    /// stops publishing for the epoch.
    pub(crate) fn is_own_secret(&mut self, epoch: Epoch, secret: &RecoveredSecret) -> bool {
        let own = self.publisher.as_ref().and_then(|p| p.commitment);
        let is_own = own.is_some_and(|own| own == secret.commitment());
        if is_own {
            self.own.exposed = self.own.exposed.max(Some(epoch));
        }
        is_own
    }

    /// Counts message ids that another node used.
    pub(crate) fn count_taken(&mut self, ids: u32) {
        self.own.ids_taken += u64::from(ids);
    }

    /// Sets the thread that generates proofs: from now on the node can publish.
    pub(crate) fn set_publisher(&mut self, publisher: Publisher) {
        self.publisher = Some(publisher);
    }

    /// Drops the thread that generates proofs: from now on the node cannot publish.
    pub(crate) fn drop_publisher(&mut self) {
        self.publisher = None;
    }

    /// Whether the node has a membership to publish with.
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
            chain: self.chain.as_ref().map(ChainHandle::status),
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

    /// Attributes a waiting proof to another peer.
    pub(crate) fn move_proof(&self, ticket: ProofTicket, from: Option<PeerId>) {
        self.verify.move_to(ticket, from);
    }

    /// Drops a proof that need not be verified any more.
    pub(crate) fn drop_proof(&self, ticket: ProofTicket) {
        self.verify.remove(ticket);
    }

    /// Requests a proof; with `skips_taken`, one with an id that no other node has used.
    ///
    /// # Errors
    /// Returns the failure at once if this node is not a member, or if its secret became public in the epoch.
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

/// Evidence that another node uses the member's identity, too.
#[derive(Debug, Default)]
struct OwnIdentity {
    /// The last epoch in which two messages with the same message id made the secret public.
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
            // An event loop that has ended sends no message either.
            asked.is_ok() && answer.recv().unwrap_or(false)
        };
        let ids = source.skip_taken(epoch, &mut is_taken)?;
        // The event loop may have ended.
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
