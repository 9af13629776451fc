//! Options that the services of a node are started with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use libp2p::Multiaddr;
use undertone_archive::{ArchiveUrl, RetentionPolicy};
use undertone_services::rate_limit::RateLimits;
use undertone_services::sharding::Sharding;

use super::PastProofs;

/// Services of a node, and the peers whose services it uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServicesConfig {
    /// Archive of the store, `None` when messages are not kept.
    pub store: Option<StoreConfig>,
    /// Whether messages are pushed to light clients.
    pub filter: bool,
    /// Whether messages of light clients are published.
    pub lightpush: bool,
    /// Whether the node's own membership is used to prove light clients' messages without a proof.
    pub lightpush_proofs: bool,
    /// Configuration keys of services that are requested but not offered, because the node does not relay.
    pub unserved: Vec<&'static str>,
    /// Whether peers can ask for records of other nodes.
    pub peer_exchange: bool,
    /// Whether peers can register, and ask for registered peers.
    pub rendezvous: bool,
    /// Stores to ask for history.
    pub store_peers: Vec<Multiaddr>,
    /// Peers to receive messages from.
    pub filter_peers: Vec<Multiaddr>,
    /// Peers to ask for node records.
    pub exchange_peers: Vec<Multiaddr>,
    /// Peers to publish through.
    pub lightpush_peers: Vec<Multiaddr>,
    /// File of the send queue; `None` for a queue in memory.
    pub send_queue: Option<PathBuf>,
    /// Limits on requests.
    pub rate_limits: RateLimits,
}

impl ServicesConfig {
    /// Returns a warning for an operator who requests services that a node without relay does not offer.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        (!self.unserved.is_empty()).then(|| {
            let keys = self.unserved.join(", ");
            format!(
                "{keys}: not served, because relay is false; set relay = true, or leave this out"
            )
        })
    }

    /// Whether messages from other stores are added to the archive.
    pub fn takes_history(&self) -> bool {
        let store = self.store.as_ref();
        store.is_some_and(|store| store.sync.is_some() || store.resume)
    }
}

/// Settings of a store's archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// Database that stores the messages.
    pub url: ArchiveUrl,
    /// Retention policy of the archive.
    pub retention: RetentionPolicy,
    /// Settings of synchronisation with other stores, `None` when off.
    pub sync: Option<StoreSyncConfig>,
    /// Whether other stores are asked for the messages published while the node was offline.
    pub resume: bool,
}

/// Settings of synchronisation with other stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSyncConfig {
    /// Time between two sessions that this node begins, seconds; 0 to begin none.
    pub interval_s: u64,
    /// Length of the synchronised period, seconds.
    pub range_s: u64,
    /// Age below which messages are not compared, because they may still be on their way; seconds.
    pub relay_jitter_s: u64,
}

/// Services of a node, and what they need to know about it.
pub struct ServicesOptions {
    /// Services requested by the configuration.
    pub config: ServicesConfig,
    /// Settings of the accountable sender.
    pub sender: SenderSettings,
    /// Topics that the store keeps.
    pub topics: Vec<Arc<str>>,
    /// Maximum number of connections, including those of light clients.
    pub connections_max: u32,
    /// Whether messages pushed to this node must have a proof.
    pub needs_proof: bool,
    /// Verifier of messages from other stores; `None` on a network without rate limiting.
    pub proofs: Option<PastProofs>,
    /// Directory for persistent files.
    pub data_dir: PathBuf,
}

/// Settings of the sender, most of which other services use too.
#[derive(Clone, Debug)]
pub struct SenderSettings {
    /// File of the queue; `None` for a queue in memory.
    pub queue: Option<PathBuf>,
    /// Cluster and number of shards of the network.
    pub sharding: Sharding,
    /// Maximum size of a message, bytes.
    pub max_message_bytes: usize,
    /// Payload length above which a message is sent in fragments, bytes.
    pub fragment_bytes: Option<usize>,
    /// Whether the node relays; if not, messages go through lightpush peers.
    pub relays: bool,
    /// Rate limit of own messages; `None` if the node generates no proofs.
    pub rate_limit: Option<SenderRateLimit>,
    /// Offset of the node's clock from that of the operating system, nanoseconds.
    pub clock_ahead_ns: i64,
}

/// RLN rate limit that applies to a sender.
#[derive(Clone, Copy, Debug)]
pub struct SenderRateLimit {
    /// Length of an epoch, seconds.
    pub epoch_s: u64,
    /// Maximum difference between a message's timestamp and a verifier's clock.
    pub max_clock_gap: Duration,
}
