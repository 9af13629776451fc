//! Rate limiting as configured: registry, view and verifier.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_membership::evm::{ChainHandle, EvmConfig, EvmRegistry, LightRegistry, Mode};
use undertone_membership::{
    MemberLookup, MembershipLog, MembershipView, RegistryError, SqliteRegistry,
};
use undertone_rln::{Key, Verifier};

use super::candidate::{Candidate, OwnMembership};
use super::{AssembleError, MakeProofs};
use crate::config::{ChainConfig, RlnConfig};
use undertone_network::driver::{MemberClock, MembershipSource, RlnOptions, SharedView};

pub(super) fn open(
    config: &RlnConfig,
    relay: &undertone_relay::RlnConfig,
    clock_ahead_ns: i64,
    make_proofs: Option<MakeProofs>,
) -> Result<RlnOptions, AssembleError> {
    let key = Key::of(config.params.circuit)?;
    let limit = u32::try_from(config.params.user_message_limit).unwrap_or(u32::MAX);
    let OpenedRegistry {
        lookup,
        view,
        source,
        chain,
    } = match &config.chain {
        Some(chain) => contract(chain, relay.root_window)?,
        None => file(config, limit, relay.root_window)?,
    };
    let clock = MemberClock::new(&relay.policy, clock_ahead_ns);
    let mut candidate = Candidate::new(
        config,
        relay.policy.generation,
        clock,
        &key,
        lookup,
        view,
        make_proofs,
    );
    let proofs = match candidate.find()? {
        OwnMembership::Member(identity, member) => Some(candidate.proofs(identity, &member)?),
        OwnMembership::NoIdentity => {
            tracing::warn!(
                identity_file = %config.identity_file.display(),
                "no identity: this node relays but cannot publish; make one with \
                 `undertone rln keygen` and `undertone rln register`"
            );
            None
        }
        // Not a fault yet, because reading the chain only starts now.
        OwnMembership::NotRegistered if config.chain.is_some() => {
            tracing::info!(
                identity_file = %config.identity_file.display(),
                "the identity is not among the members that were read so far: until it is, this node relays but \
                 cannot publish; if it is not registered, use `undertone rln register`"
            );
            None
        }
        OwnMembership::NotRegistered => {
            tracing::warn!(
                identity_file = %config.identity_file.display(),
                "the identity is not registered: this node relays but cannot publish; register \
                 it with `undertone rln register`"
            );
            None
        }
        OwnMembership::NotKnown => {
            tracing::info!("waiting for the contract to confirm this node's membership");
            None
        }
    };
    let options = RlnOptions::new(source, Verifier::new(&key))
        .chain(chain)
        .verifier_threads(config.verifier_threads)
        .batches(config.batches)
        .proofs(proofs)
        .membership_probe(Box::new(move || candidate.poll()));
    Ok(options)
}

/// Registry of the members, in the forms that the parts of the node use.
struct OpenedRegistry {
    lookup: Arc<dyn MemberLookup>,
    /// The same view as in `source`.
    view: SharedView,
    source: MembershipSource,
    chain: Option<ChainHandle>,
}

/// Opens the contract as registry. A separate thread follows it; this function does not wait for that thread.
fn contract(chain: &ChainConfig, root_window: usize) -> Result<OpenedRegistry, AssembleError> {
    let (contract, urls, store) = (chain.contract, chain.urls.clone(), chain.store.clone());
    let (view, lookup, chain): (SharedView, Arc<dyn MemberLookup>, _) = match chain.mode {
        Mode::Full => {
            let config = EvmConfig::new(contract, urls, store, root_window);
            let registry = EvmRegistry::start(config)?;
            let chain = registry.chain().clone();
            (registry.view(), Arc::new(registry), chain)
        }
        Mode::Light => {
            let config = EvmConfig::light(contract, urls, store, root_window);
            let registry = LightRegistry::start(config)?;
            let chain = registry.chain().clone();
            (registry.view(), Arc::new(registry), chain)
        }
    };
    Ok(OpenedRegistry {
        lookup,
        source: MembershipSource::Updated(Arc::clone(&view)),
        view,
        chain: Some(chain),
    })
}

fn file(
    config: &RlnConfig,
    limit: u32,
    root_window: usize,
) -> Result<OpenedRegistry, AssembleError> {
    let registry =
        SqliteRegistry::open_or_create(&config.registry, limit).map_err(RegistryError::from)?;
    let view = followed(&config.tree_file, &registry, root_window)?;
    let registry = Arc::new(registry);
    let view = Arc::new(Mutex::new(view));
    Ok(OpenedRegistry {
        lookup: Arc::clone(&registry) as Arc<dyn MemberLookup>,
        view: Arc::clone(&view) as SharedView,
        source: MembershipSource::Log {
            log: registry,
            view,
            snapshot_file: Some(config.tree_file.clone()),
        },
        chain: None,
    })
}

/// Returns the current membership view. Starts from the snapshot if possible, or from the registry alone if
/// the snapshot is missing, damaged, ahead of the registry or of another registry.
fn followed(
    snapshot: &Path,
    log: &dyn MembershipLog,
    root_window: usize,
) -> Result<MembershipView, RegistryError> {
    match MembershipView::load(snapshot, log.id(), root_window) {
        Ok(Some(mut view)) => match view.refresh(log) {
            Ok(_) => return Ok(view),
            Err(error @ (RegistryError::RolledBack { .. } | RegistryError::Gap { .. })) => {
                tracing::warn!(%error, "the saved membership tree is ahead of its registry; rebuilding it");
            }
            Err(error) => return Err(error),
        },
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(%error, "cannot use the saved membership tree; rebuilding it");
        }
    }
    let mut view = MembershipView::new(root_window);
    view.refresh(log)?;
    Ok(view)
}
