//! Rate limiting from the configuration: registry, verifier, and our own membership if we have one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use undertone_membership::evm::{EvmConfig, EvmRegistry};
use undertone_membership::{MembershipView, Registry, RegistryError, SqliteRegistry, View};
use undertone_rln::{
    Generation, IdentityFile, Key, MessageIdCounter, Prover, TableFileOutcome, Verifier,
};

use super::AssembleError;
use crate::config::{ChainConfig, RlnConfig};
use crate::driver::{MemberProofs, PooledProofs, ProofSource, RlnOptions, StartError};

pub(super) fn open(
    config: &RlnConfig,
    relay: &undertone_relay::RlnConfig,
) -> Result<RlnOptions, AssembleError> {
    let key = Key::load()?;
    let limit = u32::try_from(config.params.user_message_limit).unwrap_or(u32::MAX);
    let Members {
        registry,
        view,
        snapshot_file,
    } = match &config.chain {
        Some(chain) => contract(chain, relay.root_window)?,
        None => file(config, limit, relay.root_window)?,
    };
    let candidate = Candidate {
        config: config.clone(),
        generation: relay.policy.generation,
        epoch_size_s: relay.policy.epoch_size_s,
        key: Arc::clone(&key),
        registry: Arc::clone(&registry),
        view,
    };
    let view = Arc::clone(&candidate.view);
    let proofs = match candidate.look()? {
        Standing::Member(proofs) => Some(proofs),
        Standing::NoIdentity => {
            tracing::warn!(
                identity_file = %config.identity_file.display(),
                "no identity: this node relays but cannot publish; make one with \
                 `undertone rln keygen` and `undertone rln register`"
            );
            None
        }
        Standing::NotRegistered => {
            tracing::warn!(
                identity_file = %config.identity_file.display(),
                "the identity is not registered: this node relays but cannot publish; register \
                 it with `undertone rln register`"
            );
            None
        }
    };
    Ok(RlnOptions {
        registry,
        verifier: Verifier::new(&key),
        verifier_threads: config.verifier_threads,
        batches: config.batches,
        proofs,
        joining: Some(Box::new(move || candidate.joined())),
        view,
        snapshot_file,
    })
}

/// Where members are known from.
struct Members {
    registry: Arc<dyn Registry>,
    view: Arc<Mutex<dyn View>>,
    snapshot_file: Option<PathBuf>,
}

/// The contract. It is followed by a thread of its own; this does not wait for it.
fn contract(chain: &ChainConfig, root_window: usize) -> Result<Members, AssembleError> {
    let registry = EvmRegistry::start(EvmConfig::new(
        chain.contract,
        chain.urls.clone(),
        chain.store.clone(),
        root_window,
    ))?;
    Ok(Members {
        view: registry.view(),
        registry: Arc::new(registry),
        snapshot_file: None,
    })
}

fn file(config: &RlnConfig, limit: u32, root_window: usize) -> Result<Members, AssembleError> {
    let registry =
        SqliteRegistry::open_or_create(&config.registry, limit).map_err(RegistryError::from)?;
    let view = followed(&config.tree_file, &registry, root_window)?;
    Ok(Members {
        registry: Arc::new(registry),
        view: Arc::new(Mutex::new(view)),
        snapshot_file: Some(config.tree_file.clone()),
    })
}

/// The membership up to now: from the snapshot where there is one, and from the registry alone
/// where it is missing, damaged or another registry's.
fn followed(
    snapshot: &Path,
    registry: &dyn Registry,
    root_window: usize,
) -> Result<MembershipView, RegistryError> {
    match MembershipView::load(snapshot, registry.id(), root_window) {
        Ok(Some(mut view)) => match view.refresh(registry) {
            Ok(_) => return Ok(view),
            Err(error @ (RegistryError::RolledBack { .. } | RegistryError::Gap { .. })) => {
                tracing::warn!(%error, "the saved membership tree is ahead of its registry; building it anew");
            }
            Err(error) => return Err(error),
        },
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(%error, "cannot use the saved membership tree; building it anew");
        }
    }
    let mut view = MembershipView::new(root_window);
    view.refresh(registry)?;
    Ok(view)
}

/// A node that may be a member, or become one while it runs.
struct Candidate {
    config: RlnConfig,
    generation: Generation,
    epoch_size_s: u64,
    key: Arc<Key>,
    registry: Arc<dyn Registry>,
    view: Arc<Mutex<dyn View>>,
}

enum Standing {
    NoIdentity,
    NotRegistered,
    Member(Box<dyn ProofSource>),
}

impl Candidate {
    /// Whether it has become a member; what stands in the way is logged.
    fn joined(&self) -> Option<Box<dyn ProofSource>> {
        match self.look() {
            Ok(Standing::Member(proofs)) => Some(proofs),
            Ok(_) => None,
            Err(error) => {
                tracing::error!(%error, "cannot publish yet; will look again when the registry changes");
                None
            }
        }
    }

    fn look(&self) -> Result<Standing, AssembleError> {
        let config = &self.config;
        if !config.identity_file.exists() {
            return Ok(Standing::NoIdentity);
        }
        let identity = IdentityFile::read(&config.identity_file)?;
        let Some(member) = self.registry.find(identity.commitment())? else {
            return Ok(Standing::NotRegistered);
        };
        // The registry's limit is part of the leaf, so proofs are for that; the node may hold
        // itself to less.
        let own_limit = u32::try_from(config.message_limit)
            .unwrap_or(u32::MAX)
            .min(member.limit);
        let proofs = MemberProofs {
            counter: MessageIdCounter::open(&config.counter_file, own_limit)?,
            identity,
            index: member.index,
            limit: member.limit,
            generation: self.generation,
            prover: Arc::new(prover(config, &self.key)),
            view: Arc::clone(&self.view),
        };
        let pooled = PooledProofs::start(proofs, config.tokens, self.epoch_size_s)
            .map_err(StartError::Thread)?;
        Ok(Standing::Member(Box::new(pooled)))
    }
}

/// The prover, with its tables from the file or put there.
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
