//! Configuration of the relay and its rate limit.

use std::num::NonZeroU16;
use std::ops::Deref;
use std::sync::Arc;

use undertone_gossip::Config;
use undertone_message::{NetworkPreset, PubsubTopic, RlnGeneration, RlnParams};
use undertone_rln::{Generation, NullifierLimits, Policy, RlnIdentifier};

use crate::nullifier_senders::NullifierSenderLimits;

/// Configuration of a relay: its network and its own options.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RelayConfig {
    /// Configuration of the gossip router.
    pub gossip: Config,
    /// Cluster whose shards may be joined.
    pub cluster_id: u16,
    /// Number of shards to which automatic sharding maps content topics. A message on another shard than that of its
    /// content topic is ignored. `None` for static sharding, where content topics may be on any shard.
    pub num_shards: Option<NonZeroU16>,
    /// Whether topics that are not shards may be joined.
    pub named_topics: bool,
    /// Whether messages may be published on topics of the network that are not joined, through peers that the router
    /// keeps for this purpose (fanout).
    pub publish_unjoined: bool,
    /// Longest allowed encoded `WakuMessage`, bytes.
    pub max_message_bytes: usize,
    /// Payload length above which a message is published in fragments of about this length,
    /// bytes; `None` turns fragmentation off. The driver implements it with
    /// [`crate::split_message`] and [`crate::Reassembly`].
    pub fragment_bytes: Option<usize>,
    /// Rate limit; `None` for a network without RLN.
    pub rln: Option<RlnConfig>,
}

/// Relay configuration that many relays in one process can share. A single relay's [`RelayConfig`] converts into it.
#[derive(Clone, Debug)]
pub struct SharedRelayConfig {
    pub(crate) relay: Arc<RelayConfig>,
    pub(crate) gossip: Arc<Config>,
}

impl Deref for SharedRelayConfig {
    type Target = RelayConfig;

    fn deref(&self) -> &RelayConfig {
        &self.relay
    }
}

impl From<RelayConfig> for SharedRelayConfig {
    fn from(config: RelayConfig) -> Self {
        Self {
            gossip: Arc::new(config.gossip.clone()),
            relay: Arc::new(config),
        }
    }
}

/// Rate limit (RLN) of a network.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RlnConfig {
    /// Rules that a proof must satisfy.
    pub policy: Policy,
    /// Number of newest membership roots that the driver should accept.
    pub root_window: usize,
    /// Time for which a message with an unknown root waits for newer roots before it is dropped,
    /// nanoseconds; 0 drops it at once. See [`crate::Relay::wants_roots`].
    pub unknown_root_timeout_ns: u64,
    /// Limits of the nullifier log.
    pub nullifiers: NullifierLimits,
    /// Limits of the record of which peer sent which nullifier.
    pub nullifier_senders: NullifierSenderLimits,
    /// Whether messages may reuse nullifiers, which makes the member's secret public. Only for attackers in the
    /// laboratory.
    pub sends_reused_ids: bool,
    /// Maximum number of messages waiting for verification of their proof. The driver should stop reading at
    /// [`crate::Relay::is_saturated`], so that this is never reached.
    pub checks_max: usize,
    /// Limits on waiting messages of single peers.
    pub checks_of_peer: PeerChecks,
}

/// Limits on messages of peers that wait for the verification of their proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerChecks {
    /// Limits for a peer that has delivered a valid proof.
    pub proven: CheckBounds,
    /// Limits for a peer without a valid proof on record.
    pub newcomer: CheckBounds,
    /// Limits for a peer that has delivered an invalid proof within the last minute.
    pub suspect: CheckBounds,
    /// Maximum number of waiting messages of all newcomers and suspects together.
    pub strangers_max: usize,
}

/// Limits on the waiting messages of one peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckBounds {
    /// Number of waiting messages at which the driver stops reading from the peer: back-pressure instead of loss.
    pub pause_at: usize,
    /// Maximum number of waiting messages; the rest of a frame is dropped and may be sent again.
    pub max: usize,
}

impl CheckBounds {
    /// Limits that pause the peer at `pause_at` waiting messages and drop those above `max`.
    pub const fn new(pause_at: usize, max: usize) -> Self {
        Self { pause_at, max }
    }
}

impl PeerChecks {
    /// Limits that are never reached, for every kind of peer.
    pub fn unbounded() -> Self {
        let all = CheckBounds::new(usize::MAX, usize::MAX);
        Self {
            proven: all,
            newcomer: all,
            suspect: all,
            strangers_max: usize::MAX,
        }
    }
}

impl Default for PeerChecks {
    /// Allows a proven peer two full batches before it is paused, and other peers few messages.
    fn default() -> Self {
        Self {
            proven: CheckBounds::new(64, 128),
            newcomer: CheckBounds::new(4, 32),
            suspect: CheckBounds::new(1, 1),
            strangers_max: 128,
        }
    }
}

impl RelayConfig {
    /// Configuration of a private network: static shards of `cluster_id`, no rate limit, no fragments. The longest
    /// frame that `gossip` admits should be slightly longer than `max_message_bytes`.
    pub fn new(gossip: Config, cluster_id: u16, max_message_bytes: usize) -> Self {
        Self {
            gossip,
            cluster_id,
            num_shards: None,
            named_topics: false,
            publish_unjoined: false,
            max_message_bytes,
            fragment_bytes: None,
            rln: None,
        }
    }

    /// Configuration for a known network, with Waku's gossip parameters.
    pub fn for_network(network: &NetworkPreset) -> Self {
        let mut gossip = Config::waku();
        // A frame holds a message, its topic and a few tags; control entries share the frame.
        gossip.limits.frame_bytes_max = network.max_message_bytes + (64 << 10);
        Self {
            num_shards: network
                .one_shard_per_content_topic
                .then_some(network.num_shards),
            named_topics: network.named_topics,
            rln: network.rln.map(|params| RlnConfig::for_network(&params)),
            ..Self::new(gossip, network.cluster_id, network.max_message_bytes)
        }
    }

    /// Whether a topic belongs to the network and may be joined.
    pub fn is_in_network(&self, topic: &PubsubTopic) -> bool {
        match topic.shard() {
            Some(shard) => shard.cluster == self.cluster_id,
            None => self.named_topics,
        }
    }
}

impl RlnConfig {
    /// Rate limit with these rules, a window of 50 roots, and limits suited to a network of thousands of members.
    pub fn new(policy: Policy, nullifiers: NullifierLimits) -> Self {
        Self {
            policy,
            root_window: 50,
            unknown_root_timeout_ns: 0,
            nullifiers,
            nullifier_senders: NullifierSenderLimits::default(),
            sends_reused_ids: false,
            checks_max: 256,
            checks_of_peer: PeerChecks::default(),
        }
    }

    fn for_network(params: &RlnParams) -> Self {
        let generation = match params.generation {
            RlnGeneration::Direct => Generation::Direct,
            RlnGeneration::Hashed => Generation::Hashed,
        };
        let policy = Policy {
            generation,
            identifier: RlnIdentifier::WAKU,
            epoch_size_s: params.epoch_size_s,
            max_clock_gap_ns: params.max_clock_gap_s.saturating_mul(1_000_000_000),
        };
        let nullifiers = NullifierLimits::new(params.max_messages_per_epoch);
        Self {
            root_window: params.root_window,
            ..Self::new(policy, nullifiers)
        }
    }
}
