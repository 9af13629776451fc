//! Rate limiting from the configuration: registry, verifier, and our own membership if we have one.

use std::sync::{Arc, Mutex};

use undertone_membership::{MembershipView, Registry, RegistryError, SqliteRegistry};
use undertone_rln::{
    Identity, IdentityFile, Key, MessageIdCounter, Prover, TableFileOutcome, Verifier,
};

use super::AssembleError;
use crate::config::RlnConfig;
use crate::driver::{MemberProofs, PooledProofs, ProofSource, RlnOptions, StartError};

pub(super) fn open(
    config: &RlnConfig,
    relay: &undertone_relay::RlnConfig,
) -> Result<RlnOptions, AssembleError> {
    let key = Key::load()?;
    let limit = u32::try_from(config.params.user_message_limit).unwrap_or(u32::MAX);
    let registry = Arc::new(
        SqliteRegistry::open_or_create(&config.registry, limit).map_err(RegistryError::from)?,
    );
    let mut view = MembershipView::new(relay.root_window);
    view.refresh(&*registry)?;
    let view = Arc::new(Mutex::new(view));
    let proofs = match identity(config)? {
        Some(identity) => member(config, relay, &key, &*registry, identity, &view)?,
        None => None,
    };
    Ok(RlnOptions {
        registry,
        verifier: Verifier::new(&key),
        verifier_threads: config.verifier_threads,
        batches: config.batches,
        proofs,
        view,
    })
}

fn identity(config: &RlnConfig) -> Result<Option<Identity>, AssembleError> {
    let path = &config.identity_file;
    if !path.exists() {
        tracing::warn!(
            identity_file = %path.display(),
            "no identity: this node relays but cannot publish; make one with \
             `undertone rln keygen` and `undertone rln register`"
        );
        return Ok(None);
    }
    Ok(Some(IdentityFile::read(path)?))
}

fn member(
    config: &RlnConfig,
    relay: &undertone_relay::RlnConfig,
    key: &Arc<Key>,
    registry: &dyn Registry,
    identity: Identity,
    view: &Arc<Mutex<MembershipView>>,
) -> Result<Option<Box<dyn ProofSource>>, AssembleError> {
    let Some(member) = registry.find(identity.commitment())? else {
        tracing::warn!(
            registry = %config.registry.display(),
            identity_file = %config.identity_file.display(),
            "the identity is not registered: this node relays but cannot publish; register it \
             with `undertone rln register` and start again"
        );
        return Ok(None);
    };
    // The registry's limit is part of the leaf, so proofs are for that; the node may hold itself
    // to less.
    let own_limit = u32::try_from(config.message_limit)
        .unwrap_or(u32::MAX)
        .min(member.limit);
    let proofs = MemberProofs {
        counter: MessageIdCounter::open(&config.counter_file, own_limit)?,
        identity,
        index: member.index,
        limit: member.limit,
        generation: relay.policy.generation,
        prover: Arc::new(prover(config, key)),
        view: Arc::clone(view),
    };
    let epoch_size_s = relay.policy.epoch_size_s;
    let pooled =
        PooledProofs::start(proofs, config.tokens, epoch_size_s).map_err(StartError::Thread)?;
    Ok(Some(Box::new(pooled)))
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
