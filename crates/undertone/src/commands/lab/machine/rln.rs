//! What rate-limited nodes of one process share: the key, the prover's tables, the verifier, the
//! registry, and one view of it, so that there is one tree however many nodes there are.

use std::path::Path;
use std::sync::{Arc, Mutex};

use undertone_membership::{MemberIndex, MembershipView, Registry, RegistryError, SqliteRegistry};
use undertone_message::RlnParams;
use undertone_node::driver::{MemberProofs, PooledProofs, ProofSource, RlnOptions};
use undertone_rln::{
    BatchPolicy, Fr, Generation, Identity, Key, MessageIdCounter, PoolConfig, Prover, Verifier,
};

use super::error::NodesError;
use crate::commands::demo::reused_ids::ReusedIds;

/// Share of a processor that a node's tokens may take, percent. Not held down: they are a part of
/// what publishing costs.
const TOKENS_CPU_PERCENT: u8 = 100;

/// The members and their proofs.
pub(super) struct Rln {
    registry: Arc<SqliteRegistry>,
    view: Arc<Mutex<MembershipView>>,
    indices: Vec<MemberIndex>,
    prover: Arc<Prover>,
    verifier: Verifier,
    generation: Generation,
    limit: u32,
    epoch_size_s: u64,
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
        // Nobody publishes as one of the others, so that any number will do.
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
            generation,
            limit,
            epoch_size_s: params.epoch_size_s,
        })
    }

    /// The proofs of a node that keeps to its limit, with tokens for all it may send.
    pub(super) fn honest(&self, node: usize, folder: &Path) -> Result<PooledProofs, NodesError> {
        let counter = folder.join(format!("node-{node}.counter"));
        let proofs = MemberProofs {
            identity: identity(node),
            index: self.indices[node],
            limit: self.limit,
            generation: self.generation,
            counter: MessageIdCounter::open(counter, self.limit)?,
            prover: Arc::clone(&self.prover),
            view: Arc::clone(&self.view),
        };
        let tokens = PoolConfig {
            size: self.limit as usize,
            max_cpu_percent: TOKENS_CPU_PERCENT,
            ..PoolConfig::default()
        };
        PooledProofs::start(proofs, tokens, self.epoch_size_s).map_err(NodesError::Tokens)
    }

    /// The proofs of a node that does not.
    pub(super) fn spammer(&self, node: usize) -> ReusedIds {
        ReusedIds {
            identity: identity(node),
            index: self.indices[node],
            limit: self.limit,
            next: 0,
            generation: self.generation,
            prover: Arc::clone(&self.prover),
            view: Arc::clone(&self.view),
        }
    }

    /// A node's options.
    pub(super) fn options(&self, proofs: Option<Box<dyn ProofSource>>) -> RlnOptions {
        RlnOptions {
            registry: Arc::clone(&self.registry) as Arc<dyn Registry>,
            verifier: self.verifier.clone(),
            verifier_threads: 1,
            batches: BatchPolicy::default(),
            proofs,
            view: Arc::clone(&self.view),
        }
    }
}

/// The identity of a node, the same in every run: nothing of value is behind it.
pub(super) fn identity(node: usize) -> Identity {
    Identity::from_seed(format!("undertone lab member {node}").as_bytes())
}
