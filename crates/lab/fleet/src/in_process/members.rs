//! The members as which the nodes of one process publish. They share one registry and one view of it, so
//! there is one tree for any number of nodes.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_membership::{MemberIndex, MembershipView, RegistryError, SqliteRegistry};
use undertone_message::RlnParams;
use undertone_node::driver::{ProofSource, RlnOptions};
use undertone_relay::RelayConfig;
use undertone_rln::{Fr, Identity, Key, MessageIdCounter};

use super::error::NodesError;
use super::network::SharedRln;
use super::tokens::{RateTerms, TokenProofs, TokenPublisher, TokenThread};
use crate::credentials::Credentials;

/// Members of the network and the sources of their proofs.
pub(crate) struct LocalMembers {
    rln: SharedRln,
    view: Arc<Mutex<MembershipView>>,
    indices: Vec<MemberIndex>,
    terms: RateTerms,
    publishers: Vec<Arc<TokenPublisher>>,
    /// Thread that prepares the publishers' tokens, once started.
    tokens: Option<TokenThread>,
}

impl LocalMembers {
    /// Registers `nodes` members with identities of their own, and others up to `members`.
    pub(crate) fn new(
        folder: &Path,
        params: &RlnParams,
        relay: &RelayConfig,
        nodes: usize,
        members: u32,
    ) -> Result<Self, NodesError> {
        let key = Key::load()?;
        let limit = u32::try_from(params.user_message_limit).unwrap_or(u32::MAX);
        let registry = SqliteRegistry::open_or_create(folder.join("members.sqlite"), limit)
            .map_err(RegistryError::from)?;
        let ours = (0..nodes).map(|node| identity(node).commitment());
        // No node publishes as one of the other members, so any number serves as a commitment.
        let others = (nodes as u64..u64::from(members)).map(|other| Fr::from(other + 1));
        let all: Vec<_> = ours.chain(others).map(|member| (member, limit)).collect();
        let mut indices = registry.register_all(&all)?;
        indices.truncate(nodes);
        let mut view = MembershipView::new(params.root_window);
        view.refresh(&registry)?;
        let rln = SharedRln::new(Arc::new(registry), None, &key, relay);
        Ok(Self {
            terms: RateTerms {
                generation: rln.generation,
                limit,
                epoch_size_s: params.epoch_size_s,
            },
            rln,
            view: Arc::new(Mutex::new(view)),
            indices,
            publishers: Vec::new(),
            tokens: None,
        })
    }

    /// Returns the source of proofs for a node that keeps to its limit.
    pub(crate) fn honest(&mut self, node: usize, folder: &Path) -> Result<TokenProofs, NodesError> {
        let member = self.credentials(node).member()?;
        let member = member.expect("the view of a registry in a file knows every path");
        let counter = folder.join(format!("node-{node}.counter"));
        let counter = MessageIdCounter::open(counter, self.terms.limit)?;
        let publisher = Arc::new(TokenPublisher::new(member, counter, self.terms));
        self.publishers.push(Arc::clone(&publisher));
        Ok(TokenProofs(publisher))
    }

    /// Starts to prepare tokens for the honest nodes added so far.
    pub(crate) fn prepare_tokens(&mut self) -> Result<(), NodesError> {
        let publishers = self.publishers.clone();
        self.tokens = Some(TokenThread::start(publishers).map_err(NodesError::Tokens)?);
        Ok(())
    }

    /// Whether every honest node has enough tokens for one epoch.
    pub(crate) fn has_tokens(&self) -> bool {
        self.publishers.iter().all(|publisher| publisher.is_ready())
    }

    /// Returns the identity and membership of a node.
    pub(crate) fn credentials(&self, node: usize) -> Credentials {
        Credentials {
            identity: identity(node),
            index: self.indices[node],
            limit: self.terms.limit,
            generation: self.terms.generation,
            prover: Arc::clone(&self.rln.prover),
            view: self.view.clone(),
        }
    }

    /// Returns the rate-limit rules of all members.
    pub(crate) fn terms(&self) -> RateTerms {
        self.terms
    }

    /// Returns a node's RLN options with this source of proofs.
    pub(crate) fn options(&self, proofs: Option<Box<dyn ProofSource>>) -> RlnOptions {
        self.rln.options(Arc::clone(&self.view), proofs)
    }
}

/// Returns the identity of a node, the same in every run because no deposit depends on its secret.
pub(crate) fn identity(node: usize) -> Identity {
    Identity::from_seed(format!("undertone lab member {node}").as_bytes())
}
