//! RLN state that the nodes of one process share: the key, the prover's tables, the verifier, the
//! registry and one view of it, so that there is one tree for any number of nodes.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use undertone_membership::{
    MemberIndex, MembershipLog, MembershipView, RegistryError, SqliteRegistry,
};
use undertone_message::RlnParams;
use undertone_node::driver::{MembershipSource, ProofSource, RlnOptions};
use undertone_rln::{
    Fr, Generation, Identity, Key, MerklePath, MessageIdCounter, Prover, Verifier,
};

use super::error::NodesError;
use super::hoard::{Hoarded, Hoarder, Stock};
use super::tokens::{Proofs, Publisher, Terms, TokenThread};
use crate::commands::demo::reused_ids::ReusedIds;

/// Members of the network and the sources of their proofs.
pub(super) struct Rln {
    registry: Arc<SqliteRegistry>,
    view: Arc<Mutex<MembershipView>>,
    indices: Vec<MemberIndex>,
    prover: Arc<Prover>,
    verifier: Verifier,
    terms: Terms,
    publishers: Vec<Arc<Publisher>>,
    /// Thread that prepares the publishers' tokens, once started.
    tokens: Option<TokenThread>,
}

impl Rln {
    /// Registers `nodes` members with identities of their own, and others up to `members`.
    pub(super) fn new(
        folder: &Path,
        params: &RlnParams,
        generation: Generation,
        nodes: usize,
        members: u32,
    ) -> Result<Self, NodesError> {
        let key = Key::load()?;
        let limit = u32::try_from(params.user_message_limit).unwrap_or(u32::MAX);
        let registry = SqliteRegistry::open_or_create(folder.join("members.sqlite"), limit)
            .map_err(RegistryError::from)?;
        let ours = (0..nodes).map(|node| identity(node).commitment());
        // No node publishes as one of the others, so any number will do as a commitment.
        let others = (nodes as u64..u64::from(members)).map(|other| Fr::from(other + 1));
        let all: Vec<_> = ours.chain(others).map(|member| (member, limit)).collect();
        let mut indices = registry.register_all(&all)?;
        indices.truncate(nodes);
        let mut view = MembershipView::new(params.root_window);
        view.refresh(&registry)?;
        Ok(Self {
            registry: Arc::new(registry),
            view: Arc::new(Mutex::new(view)),
            indices,
            prover: Arc::new(Prover::new(Arc::clone(&key))),
            verifier: Verifier::new(&key),
            terms: Terms {
                generation,
                limit,
                epoch_size_s: params.epoch_size_s,
            },
            publishers: Vec::new(),
            tokens: None,
        })
    }

    /// Returns the source of proofs of a node that keeps to its limit.
    pub(super) fn honest(&mut self, node: usize, folder: &Path) -> Result<Proofs, NodesError> {
        let path = self.path(node);
        let limit = self.terms.limit;
        let member = self.prover.member(&identity(node), limit, &path)?;
        let counter = folder.join(format!("node-{node}.counter"));
        let counter = MessageIdCounter::open(counter, limit)?;
        let publisher = Arc::new(Publisher::new(member, counter, self.terms));
        self.publishers.push(Arc::clone(&publisher));
        Ok(Proofs(publisher))
    }

    /// Starts to prepare tokens for the honest nodes added so far.
    pub(super) fn prepare_tokens(&mut self) -> Result<(), NodesError> {
        let publishers = self.publishers.clone();
        self.tokens = Some(TokenThread::start(publishers).map_err(NodesError::Tokens)?);
        Ok(())
    }

    /// Whether every honest node has enough tokens for one epoch.
    pub(super) fn has_tokens(&self) -> bool {
        self.publishers.iter().all(|publisher| publisher.is_ready())
    }

    fn path(&self, node: usize) -> MerklePath {
        let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        view.path(self.indices[node])
    }

    /// Returns the source of proofs of a spammer: tokens of `stock` first, then full proofs.
    pub(super) fn spammer(&self, node: usize, stock: Stock) -> Hoarded<ReusedIds> {
        let otherwise = ReusedIds {
            identity: identity(node),
            index: self.indices[node],
            limit: self.terms.limit,
            next: 0,
            generation: self.terms.generation,
            prover: Arc::clone(&self.prover),
            view: self.view.clone(),
        };
        Hoarded { stock, otherwise }
    }

    /// Returns the hoarder that prepares tokens for a spammer, with a new stock.
    pub(super) fn hoarder(&self, node: usize, folder: &Path) -> Result<Hoarder, NodesError> {
        let path = self.path(node);
        let member = self
            .prover
            .member(&identity(node), self.terms.limit, &path)?;
        Hoarder::new(member, self.terms, folder, Stock::default())
    }

    /// Returns a node's RLN options with this source of proofs.
    pub(super) fn options(&self, proofs: Option<Box<dyn ProofSource>>) -> RlnOptions {
        let membership = MembershipSource::Log {
            log: Arc::clone(&self.registry) as Arc<dyn MembershipLog>,
            view: self.view.clone(),
            snapshot_file: None,
        };
        RlnOptions::new(membership, self.verifier.clone()).proofs(proofs)
    }
}

/// Returns the identity of a node, the same in every run because no deposit depends on its secret.
pub(super) fn identity(node: usize) -> Identity {
    Identity::from_seed(format!("undertone lab member {node}").as_bytes())
}
