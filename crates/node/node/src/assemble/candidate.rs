//! The node's own membership, which it may gain, lose, and regain at another leaf.

use std::sync::Arc;

use undertone_membership::{Member, MemberIndex, MemberLookup, RegistryError};
use undertone_rln::{
    CounterError, Generation, Identity, IdentityFile, Key, MessageIdCounter, Prover,
    TableFileOutcome,
};

use super::{AssembleError, MakeProofs};
use crate::config::RlnConfig;
use undertone_network::driver::{
    MemberClock, MemberProofs, MembershipState, PooledProofs, ProofSource, SharedView, StartError,
};

/// A node that may be a member, become one while it runs, or lose its membership.
pub(super) struct Candidate {
    config: RlnConfig,
    generation: Generation,
    clock: MemberClock,
    key: Arc<Key>,
    lookup: Arc<dyn MemberLookup>,
    view: SharedView,
    /// Identity of the member. Kept for good once it was a member, because another identity would need
    /// another counter.
    identity: Option<Identity>,
    /// Leaf index and message limit for which proofs are made.
    place: Option<(MemberIndex, u32)>,
    /// Whether the membership was lost; its old proof source may then still hold the counter.
    has_left: bool,
    /// Makes proof sources in place of the honest one; `None` for the honest one.
    make_proofs: Option<MakeProofs>,
}

/// Result of looking up the node's own membership.
pub(super) enum OwnMembership {
    NoIdentity,
    /// The contract has not answered yet.
    NotKnown,
    NotRegistered,
    Member(Identity, Member),
}

impl Candidate {
    pub(super) fn new(
        config: &RlnConfig,
        generation: Generation,
        clock: MemberClock,
        key: &Arc<Key>,
        lookup: Arc<dyn MemberLookup>,
        view: SharedView,
        make_proofs: Option<MakeProofs>,
    ) -> Self {
        Self {
            config: config.clone(),
            generation,
            clock,
            key: Arc::clone(key),
            lookup,
            view,
            identity: None,
            place: None,
            has_left: false,
            make_proofs,
        }
    }

    pub(super) fn find(&self) -> Result<OwnMembership, AssembleError> {
        let identity = match &self.identity {
            Some(identity) => identity.clone(),
            None if !self.config.identity_file.exists() => return Ok(OwnMembership::NoIdentity),
            None => IdentityFile::read(&self.config.identity_file)?,
        };
        match self.lookup.find(identity.commitment()) {
            Ok(Some(member)) => Ok(OwnMembership::Member(identity, member)),
            Ok(None) => Ok(OwnMembership::NotRegistered),
            Err(RegistryError::NotAnswered) => Ok(OwnMembership::NotKnown),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates the source of `member`'s proofs. The previous source must have ended.
    pub(super) fn proofs(
        &mut self,
        identity: Identity,
        member: &Member,
    ) -> Result<Box<dyn ProofSource>, AssembleError> {
        let config = &self.config;
        // The registry's limit is part of the leaf, so proofs use it; the node may restrict itself further.
        let own_limit = u32::try_from(config.message_limit)
            .unwrap_or(u32::MAX)
            .min(member.limit);
        let proofs = MemberProofs {
            // One counter for all leaves: the same id used at two leaves in one epoch would reveal the
            // secret.
            counter: MessageIdCounter::open(&config.counter_file, own_limit)?,
            identity: identity.clone(),
            index: member.index,
            limit: member.limit,
            generation: self.generation,
            clock: self.clock,
            prover: Arc::new(prover(config, &self.key)),
            view: Arc::clone(&self.view),
        };
        let source: Box<dyn ProofSource> = match &mut self.make_proofs {
            Some(make) => make(proofs).map_err(StartError::Thread)?,
            None => {
                let pooled = PooledProofs::start(proofs, config.tokens);
                Box::new(pooled.map_err(StartError::Thread)?)
            }
        };
        self.identity = Some(identity);
        self.place = Some((member.index, member.limit));
        self.has_left = false;
        Ok(source)
    }

    /// Looks the membership up and returns how it changed. Logs errors that prevent proofs.
    pub(super) fn poll(&mut self) -> MembershipState {
        let outcome = match self.find() {
            Ok(OwnMembership::Member(identity, member)) => self.follow(identity, &member),
            Ok(OwnMembership::NoIdentity | OwnMembership::NotRegistered) => Ok(self.leave()),
            Ok(OwnMembership::NotKnown) => Ok(MembershipState::Unchanged),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(standing) => standing,
            Err(AssembleError::Counter(CounterError::Locked(_))) if self.has_left => {
                MembershipState::Ending
            }
            Err(error) => {
                tracing::error!(%error, "cannot determine this node's membership; retrying on the next registry change");
                MembershipState::Unchanged
            }
        }
    }

    fn follow(
        &mut self,
        identity: Identity,
        member: &Member,
    ) -> Result<MembershipState, AssembleError> {
        match self.place {
            Some(place) if place == (member.index, member.limit) => Ok(MembershipState::Unchanged),
            Some(_) => Ok(self.leave()),
            None => Ok(MembershipState::Joined(self.proofs(identity, member)?)),
        }
    }

    fn leave(&mut self) -> MembershipState {
        match self.place.take() {
            Some(_) => {
                self.has_left = true;
                MembershipState::Left
            }
            None => MembershipState::Unchanged,
        }
    }
}

/// Creates the prover with its tables: reads them from the file, or computes and stores them.
fn prover(config: &RlnConfig, key: &Arc<Key>) -> Prover {
    let file = &config.tables_file;
    let (prover, outcome) = Prover::with_table_file(Arc::clone(key), file);
    match outcome {
        TableFileOutcome::Loaded | TableFileOutcome::Created => {}
        TableFileOutcome::Replaced(defect) => {
            tracing::warn!(tables_file = %file.display(), %defect, "the prover's tables were replaced");
        }
        TableFileOutcome::Unavailable(error) => {
            tracing::warn!(
                tables_file = %file.display(),
                %error,
                "cannot keep the prover's tables; each start computes them again"
            );
        }
    }
    prover
}
