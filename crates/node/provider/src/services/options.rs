//! Options that the services of a node are started with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use libp2p::Multiaddr;
use undertone_archive::{ArchiveUrl, RetentionPolicy};
use undertone_services::rate_limit::RateLimits;
use undertone_services::sharding::Sharding;

use super::PastProofs;

/// Services of a node, and peers whose services it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServicesConfig {
    /// Archive of the store, `None` when messages are not kept.
    pub store: Option<StoreConfig>,
    /// Whether messages are pushed to light clients.
    pub filter: bool,
    /// Whether messages of light clients are published.
    pub lightpush: bool,
    /// Whether the node's own membership pays for messages of light clients that have no proof.
    pub lightpush_proofs: bool,
    /// Keys of services that are asked for and not offered, because the node does not relay.
    pub unserved: Vec<&'static str>,
    /// Whether peers are told of other peers.
    pub peer_exchange: bool,
    /// Whether peers can register and are told of those that have.
    pub rendezvous: bool,
    /// Stores to ask for history.
    pub store_peers: Vec<Multiaddr>,
    /// Peers to get messages from.
    pub filter_peers: Vec<Multiaddr>,
    /// Peers to ask for records of nodes.
    pub exchange_peers: Vec<Multiaddr>,
    /// Peers to publish through.
    pub lightpush_peers: Vec<Multiaddr>,
    /// File with the messages that wait to be sent; `None` for a queue in memory.
    pub send_queue: Option<PathBuf>,
    /// Limits on requests.
    pub rate_limits: RateLimits,
}

impl ServicesConfig {
    /// Returns what to tell an operator who asks for services that a node without relay does not offer.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        (!self.unserved.is_empty()).then(|| {
            let keys = self.unserved.join(", ");
            format!(
                "{keys}: not served, because relay is false; set relay = true, or leave this out"
            )
        })
    }

    /// Whether messages of other stores are taken into the archive.
    pub fn takes_history(&self) -> bool {
        let store = self.store.as_ref();
        store.is_some_and(|store| store.sync.is_some() || store.resume)
    }
}

/// Settings of a store's archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// Database in which messages are kept.
    pub url: ArchiveUrl,
    /// Retention policy of the archive.
    pub retention: RetentionPolicy,
    /// Settings of synchronisation with other stores, `None` when off.
    pub sync: Option<StoreSyncConfig>,
    /// Whether other stores are asked for what was published while the node was away.
    pub resume: bool,
}

/// Settings of synchronisation with other stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSyncConfig {
    /// Time between two sessions that this node begins, seconds; 0 if it begins none.
    pub interval_s: u64,
    /// Length of the time that is synchronised, seconds.
    pub range_s: u64,
    /// Age below which messages are not compared, because they may still be on their way, seconds.
    pub relay_jitter_s: u64,
}

/// Services of a node, and what they have to know of it.
pub struct ServicesOptions {
    /// Services that the configuration asks for.
    pub config: ServicesConfig,
    /// Settings of the accountable sender.
    pub sender: SenderSettings,
    /// Topics that a store keeps.
    pub topics: Vec<Arc<str>>,
    /// Connections that the node has at most, those of light clients included.
    pub connections_max: u32,
    /// Whether a message that is pushed to this node must have a proof.
    pub needs_proof: bool,
    /// Judge of messages that other stores give; `None` on a network without rate limiting.
    pub proofs: Option<PastProofs>,
    /// Directory for persistent files.
    pub data_dir: PathBuf,
}

/// Settings of the sender, most of which other services need as well.
#[derive(Clone, Debug)]
pub struct SenderSettings {
    /// File of the queue; `None` for a queue in memory.
    pub queue: Option<PathBuf>,
    /// Cluster and number of shards of the network.
    pub sharding: Sharding,
    /// Maximum size of a message, bytes.
    pub max_message_bytes: usize,
    /// Length of a payload above which its message goes in fragments.
    pub fragment_bytes: Option<usize>,
    /// Whether the node relays; without it, messages go through lightpush peers.
    pub relays: bool,
    /// Rate limit of own messages; `None` if the node makes no proofs.
    pub rate_limit: Option<SenderRateLimit>,
    /// Offset of the node's clock from that of the operating system, nanoseconds.
    pub clock_ahead_ns: i64,
}

/// Rate limit (RLN) that a sender is subject to.
#[derive(Clone, Copy, Debug)]
pub struct SenderRateLimit {
    /// Length of an epoch, seconds.
    pub epoch_s: u64,
    /// Maximum difference between a message's timestamp and the clock of those that check it.
    pub max_clock_gap: Duration,
}
