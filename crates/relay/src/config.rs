//! Parameters of the relay.

use std::num::NonZeroU16;

use undertone_gossip::Config;
use undertone_message::{NetworkPreset, RlnGeneration, RlnParams};
use undertone_rln::{Generation, NullifierLimits, Policy, RlnIdentifier};

use crate::senders::SenderLimits;

/// Everything a relay needs to know about its network and itself.
#[derive(Clone, Debug)]
pub struct RelayConfig {
    /// The router.
    pub gossip: Config,
    /// Cluster whose shards may be joined.
    pub cluster_id: u16,
    /// Shards that content topics are spread over by automatic sharding: a message on another shard than
    /// that of its content topic is ignored. `None` for static sharding, where any may be on any.
    pub num_shards: Option<NonZeroU16>,
    /// Whether topics that name no shard may be joined.
    pub named_topics: bool,
    /// Whether messages of ours may go to topics of the network that are not joined, by way of peers that are kept
    /// for the purpose (fanout).
    pub publish_unjoined: bool,
    /// Longest encoded `WakuMessage`, bytes.
    pub max_message_bytes: usize,
    /// Payloads longer than this are published in parts of about this length, bytes; `None` cuts
    /// nothing. The driver's business, by [`crate::split_message`] and [`crate::Reassembly`].
    pub fragment_bytes: Option<usize>,
    /// Rate limit; `None` for a network without.
    pub rln: Option<RlnConfig>,
}

/// The rate limit of a network.
#[derive(Clone, Debug)]
pub struct RlnConfig {
    /// What is demanded of a proof.
    pub policy: Policy,
    /// How many of the newest membership roots the driver should accept.
    pub root_window: usize,
    /// How long a message with an unknown root waits for newer roots before it is dropped,
    /// nanoseconds; 0 drops it at once. See [`crate::Relay::wants_roots`].
    pub root_patience_ns: u64,
    /// Bounds of the nullifier log.
    pub nullifiers: NullifierLimits,
    /// Bounds of what is remembered about who sent which nullifier.
    pub senders: SenderLimits,
    /// Sends messages of our own under nullifiers that were used before, which makes their member's
    /// secret public. For attackers of the laboratory.
    pub sends_reused_ids: bool,
    /// Messages that wait for their proof to be checked; the driver should stop reading at
    /// [`crate::Relay::is_saturated`], so that this is never reached.
    pub checks_max: usize,
    /// How many of them may be of one peer.
    pub checks_of_peer: PeerChecks,
}

/// Messages of peers that may wait for their proof to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerChecks {
    /// Of a peer that has delivered a good proof.
    pub proven: CheckBounds,
    /// Of a peer none of whose proofs has been checked.
    pub newcomer: CheckBounds,
    /// Of a peer that has delivered a bad proof within the last minute.
    pub suspect: CheckBounds,
    /// Of all newcomers and suspects together.
    pub strangers_max: usize,
}

/// Bounds for one peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckBounds {
    /// From so many on, nothing more is read from it: back-pressure instead of loss.
    pub pause_at: usize,
    /// No more than this; the rest of a frame is dropped and may be sent again.
    pub max: usize,
}

impl PeerChecks {
    /// The same generous bounds for every peer.
    pub fn unbounded() -> Self {
        let all = CheckBounds {
            pause_at: usize::MAX,
            max: usize::MAX,
        };
        Self {
            proven: all,
            newcomer: all,
            suspect: all,
            strangers_max: usize::MAX,
        }
    }
}

impl Default for PeerChecks {
    /// Two full batches of a proven peer before it is paused; few of anybody else.
    fn default() -> Self {
        let bounds = |pause_at, max| CheckBounds { pause_at, max };
        Self {
            proven: bounds(64, 128),
            newcomer: bounds(4, 32),
            suspect: bounds(1, 1),
            strangers_max: 128,
        }
    }
}

impl RelayConfig {
    /// A relay of a known network, with Waku's gossip parameters.
    pub fn for_network(network: &NetworkPreset) -> Self {
        let mut gossip = Config::waku();
        // The envelope around a message is its topic and a few tags; control shares the frame.
        gossip.limits.frame_bytes_max = network.max_message_bytes + (64 << 10);
        Self {
            gossip,
            cluster_id: network.cluster_id,
            num_shards: network
                .one_shard_per_content_topic
                .then_some(network.num_shards),
            named_topics: network.named_topics,
            publish_unjoined: false,
            max_message_bytes: network.max_message_bytes,
            fragment_bytes: None,
            rln: network.rln.map(|params| RlnConfig::for_network(&params)),
        }
    }
}

impl RlnConfig {
    fn for_network(params: &RlnParams) -> Self {
        let generation = match params.generation {
            RlnGeneration::Direct => Generation::Direct,
            RlnGeneration::Hashed => Generation::Hashed,
        };
        Self {
            policy: Policy {
                generation,
                identifier: RlnIdentifier::WAKU,
                epoch_size_s: params.epoch_size_s,
                max_clock_gap_ns: params.max_clock_gap_s.saturating_mul(1_000_000_000),
            },
            root_window: params.root_window,
            root_patience_ns: 0,
            nullifiers: NullifierLimits {
                max_entries_per_epoch: params.max_messages_per_epoch,
            },
            // About 2 MB as a rule, 13 MB when full. Spam under way is among the newest.
            senders: SenderLimits {
                max_nullifiers: 20_000,
                max_peers_per_nullifier: 64,
            },
            sends_reused_ids: false,
            checks_max: 256,
            checks_of_peer: PeerChecks::default(),
        }
    }
}
