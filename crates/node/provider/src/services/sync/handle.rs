//! Start of synchronisation, and the program's handle to it.

use std::collections::BTreeSet;
use std::sync::Arc;

use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use rand_chacha::ChaCha8Rng;
use tokio::sync::{Semaphore, mpsc};
use undertone_archive::Archive;
use undertone_services::sync::{RECONCILIATION_PROTOCOL_ID, TRANSFER_PROTOCOL_ID};

use super::check::HistoryCheck;
use super::context::SyncContext;
use super::counts::SyncCounts;
use super::index::SyncIndex;
use super::sessions::Sessions;
use super::settings::{SyncBounds, SyncTimes};
use super::{SyncFailure, SyncOutcome, SyncTotals, intake, schedule, session};
use crate::services::StoreSyncConfig;
use crate::services::held_bytes::HeldBytes;
use crate::services::service_peers::ServicePeers;
use undertone_network::handle::NodeHandle;
use undertone_network::swarm::{InboundStream, StreamOpener};

/// Maximum number of peers' streams waiting to be accepted; further ones are reset.
const INBOUND_QUEUE: usize = 64;

/// Settings of synchronisation, and the index, which is needed before any message is stored.
pub(in crate::services) struct SyncOptions {
    pub(super) times: SyncTimes,
    pub(super) bounds: SyncBounds,
    pub(in crate::services) index: SyncIndex,
}

impl SyncOptions {
    pub(in crate::services) fn new(config: &StoreSyncConfig) -> Self {
        let bounds = SyncBounds::default();
        Self {
            times: SyncTimes::new(config),
            index: SyncIndex::new(bounds.limits),
            bounds,
        }
    }
}

/// Parts of the node that synchronisation uses.
pub(in crate::services) struct SyncParts {
    pub(in crate::services) node: NodeHandle,
    pub(in crate::services) own: PeerId,
    pub(in crate::services) streams: StreamOpener,
    pub(in crate::services) archive: Archive,
    pub(in crate::services) check: HistoryCheck,
    /// Topics that the node stores.
    pub(in crate::services) topics: Vec<Arc<str>>,
    /// Peers that offer services.
    pub(in crate::services) peers: ServicePeers,
    /// Stores named by the operator.
    pub(in crate::services) store_peers: Arc<[Multiaddr]>,
    pub(in crate::services) rng: ChaCha8Rng,
}

/// Returns the ids of the protocols whose streams synchronisation accepts.
pub(in crate::services) const fn accepted() -> [&'static str; 2] {
    [RECONCILIATION_PROTOCOL_ID, TRANSFER_PROTOCOL_ID]
}

/// Handle to synchronisation; clones share it.
#[derive(Clone)]
pub struct SyncHandle {
    pub(super) context: Arc<SyncContext>,
}

impl SyncHandle {
    /// Synchronises with a connected peer now.
    ///
    /// # Errors
    /// [`SyncFailure`]; messages that arrived before the failure are kept.
    pub async fn synchronise(&self, peer: PeerId) -> Result<SyncOutcome, SyncFailure> {
        session::initiate(&self.context, peer).await
    }

    /// Returns the counts since the start.
    #[must_use]
    pub fn totals(&self) -> SyncTotals {
        SyncTotals {
            cached: self.context.index.len(),
            ..self.context.counts.totals()
        }
    }
}

/// Starts synchronisation; returns its handle and the queue for streams of its protocols.
pub(in crate::services) fn start(
    options: SyncOptions,
    parts: SyncParts,
) -> (SyncHandle, mpsc::Sender<InboundStream>) {
    let SyncOptions {
        times,
        bounds,
        index,
    } = options;
    let SyncParts {
        node,
        own,
        streams,
        archive,
        check,
        topics,
        peers,
        store_peers,
        rng,
    } = parts;
    let trusted: BTreeSet<PeerId> = store_peers
        .iter()
        .filter_map(|address| match address.iter().last() {
            Some(Protocol::P2p(peer)) => Some(peer),
            _ => None,
        })
        .collect();
    let context = Arc::new(SyncContext {
        node,
        streams,
        archive,
        index,
        check,
        times,
        sessions: Sessions::new(own, bounds.clone(), trusted.clone()),
        payloads: HeldBytes::new(bounds.payload_bytes),
        waiting_kib: Arc::new(Semaphore::new(bounds.waiting_bytes / 1024)),
        bounds,
        counts: SyncCounts::default(),
        topics: topics.into_iter().collect(),
        trusted,
    });
    let (inbound, streams) = mpsc::channel(INBOUND_QUEUE);
    tokio::spawn(accept(Arc::clone(&context), streams));
    let scheduled = Arc::clone(&context);
    tokio::spawn(async move {
        // A pause must not keep the archive open.
        let node = scheduled.node.clone();
        tokio::select! {
            () = schedule::run(scheduled, peers, rng) => {}
            () = node.stopped() => {}
        }
    });
    (SyncHandle { context }, inbound)
}

/// Spawns a task for each stream of a peer.
async fn accept(context: Arc<SyncContext>, mut streams: mpsc::Receiver<InboundStream>) {
    while let Some(inbound) = streams.recv().await {
        let context = Arc::clone(&context);
        match inbound.protocol.as_ref() {
            RECONCILIATION_PROTOCOL_ID => {
                tokio::spawn(async move { session::respond(&context, inbound).await });
            }
            TRANSFER_PROTOCOL_ID => {
                tokio::spawn(async move { intake::receive(&context, inbound).await });
            }
            // The acceptor passes no other streams.
            _ => {}
        }
    }
}
