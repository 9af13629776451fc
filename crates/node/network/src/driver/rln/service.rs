//! The event loop's interface to the rate-limiting threads.

use std::sync::mpsc as std_mpsc;
use std::{io, thread};

use libp2p::PeerId;
use tokio::sync::mpsc;
use undertone_gossip::RequestId;
use undertone_membership::evm::ChainHandle;
use undertone_relay::{ProofFailure, ProofTicket};
use undertone_rln::{Epoch, Fr, ProofStatement, RecoveredSecret};

use super::event::RlnEvent;
use super::proof_thread::{ProofThread, ProveJob, SkipTaken};
use super::source::ProofSource;
use crate::command::{MembershipSnapshot, RlnSnapshot, SendBudget};
use crate::driver::membership::{MembershipThread, snapshot};
use crate::driver::options::RlnOptions;
use crate::driver::tokens::pool::PoolMonitor;
use crate::driver::verify::{Proof, VerifierPool};

/// The event loop's handle of the proof and membership threads. They stop when it is dropped.
pub(crate) struct RlnService {
    verify: VerifierPool,
    publisher: Option<ProofThread>,
    own: OwnIdentity,
    membership: MembershipSnapshot,
    chain: Option<ChainHandle>,
    /// Sender of events, for publishers started later.
    events: mpsc::UnboundedSender<RlnEvent>,
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
        let start = |source| ProofThread::start(source, events.clone());
        let publisher = options.proofs.map(start).transpose()?;
        let membership = snapshot(&*options.membership.view().lock());
        let follower = MembershipThread {
            probe: options.membership_probe,
            source: options.membership,
            events: events.clone(),
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
            events,
            stop,
            follower,
        })
    }

    /// Stops the threads. Waits until the message-id counter is released and the membership is saved. The receiver of
    /// events must be closed and empty: a proof may be waiting for an answer to one.
    pub(crate) fn stop(self) {
        drop(self.stop);
        if let Some(publisher) = self.publisher {
            publisher.stop();
        }
        // A panic of the thread was logged where it happened.
        let _ = self.follower.join();
    }

    pub(crate) fn set_membership(&mut self, now: MembershipSnapshot) {
        self.membership = now;
    }

    /// Requests an early poll of the registry's chain, because a peer refers to a change that this node does not know.
    /// Without a chain, the registry is always up to date.
    pub(crate) fn request_refresh(&self) {
        if let Some(chain) = &self.chain {
            chain.request_refresh();
        }
    }

    /// Returns why the known membership may be outdated, or that the node's secret is public.
    pub(crate) fn trouble(&self) -> Option<String> {
        let exposed = self.exposed().map(|failure| failure.to_string());
        exposed.or_else(|| self.chain.as_ref()?.status().staleness())
    }

    /// Returns the error that prevents message ids from being written to disk. Without that, no proofs are generated.
    pub(crate) fn disk_trouble(&self) -> Option<String> {
        self.publisher.as_ref()?.tokens.as_ref()?.trouble()
    }

    /// Returns the reason why the node cannot publish now.
    fn refusal(&self) -> Option<String> {
        let Some(publisher) = &self.publisher else {
            return Some(ProofFailure::NoMembership.to_string());
        };
        let tokens = publisher.tokens.as_ref();
        let exposed = self.exposed().map(|failure| failure.to_string());
        exposed.or_else(|| tokens.and_then(PoolMonitor::refusal))
    }

    /// Returns the failure that ends publishing for the current epoch, if any.
    fn exposed(&self) -> Option<ProofFailure> {
        let epoch = self.own.exposed?;
        let tokens = self.publisher.as_ref()?.tokens.as_ref();
        let is_present = tokens.is_none_or(|tokens| tokens.epoch() <= epoch);
        is_present.then_some(ProofFailure::IdentityExposed { epoch })
    }

    /// Returns whether a secret revealed by two messages belongs to this node's member. If so, the node stops
    /// publishing for the epoch.
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

    /// Starts a thread that generates proofs with `source`. From now on the node can publish.
    ///
    /// # Errors
    /// The operating system's error if it refuses a thread.
    pub(crate) fn start_publisher(&mut self, source: Box<dyn ProofSource>) -> io::Result<()> {
        self.publisher = Some(ProofThread::start(source, self.events.clone())?);
        Ok(())
    }

    /// Drops the thread that generates proofs. From now on the node cannot publish.
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
            allowance: tokens.and_then(PoolMonitor::allowance),
            ids_taken_total: self.own.ids_taken,
            tokens: tokens.map(PoolMonitor::snapshot),
            proofs: self
                .publisher
                .as_ref()
                .map(ProofThread::totals)
                .unwrap_or_default(),
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

    /// Reassigns a waiting proof to another peer.
    pub(crate) fn move_proof(&self, ticket: ProofTicket, from: Option<PeerId>) {
        self.verify.move_to(ticket, from);
    }

    /// Records that the event loop has handled the verdict on a proof that came from this peer.
    pub(crate) fn verdict_settled(&self, from: Option<PeerId>) {
        self.verify.settled(from);
    }

    /// Drops a proof that no longer needs to be verified.
    pub(crate) fn drop_proof(&self, ticket: ProofTicket) {
        self.verify.remove(ticket);
    }

    /// Requests a proof. With `skips_taken`, an id was found used by another node, and used ids are skipped. With
    /// `for_client`, the proof is taken only from the light clients' share of the epoch.
    ///
    /// # Errors
    /// Returns the failure at once if this node is not a member, or if its secret became public in the epoch.
    pub(crate) fn prove(
        &self,
        request: RequestId,
        (epoch, x): (Epoch, Fr),
        skips_taken: bool,
        for_client: bool,
    ) -> Result<(), ProofFailure> {
        let skip = match skips_taken {
            true => SkipTaken::AfterOne,
            false => SkipTaken::No,
        };
        self.request(ProveJob {
            request,
            epoch,
            x,
            skip,
            for_client,
        })
    }

    /// Requests a proof with an id that no other node is known to have used.
    ///
    /// # Errors
    /// As [`Self::prove`].
    pub(crate) fn prove_unused(
        &self,
        request: RequestId,
        epoch: Epoch,
        x: Fr,
    ) -> Result<(), ProofFailure> {
        self.request(ProveJob {
            request,
            epoch,
            x,
            skip: SkipTaken::Unasked,
            for_client: false,
        })
    }

    fn request(&self, job: ProveJob) -> Result<(), ProofFailure> {
        let epoch = job.epoch;
        let publisher = self.publisher.as_ref();
        let publisher = publisher.ok_or(ProofFailure::NoMembership)?;
        if self.own.exposed == Some(epoch) {
            return Err(ProofFailure::IdentityExposed { epoch });
        }
        publisher.request(job)
    }

    /// Returns the rest of the rate limit in the current epoch; `None` if the proof source does not know.
    pub(crate) fn budget(&self) -> Option<SendBudget> {
        self.publisher.as_ref()?.tokens.as_ref()?.budget()
    }
}

/// Evidence that another node also uses the member's identity.
#[derive(Debug, Default)]
struct OwnIdentity {
    /// The last epoch in which two messages with the same message id made the secret public.
    exposed: Option<Epoch>,
    /// Message ids that another node used first, since the start.
    ids_taken: u64,
}
