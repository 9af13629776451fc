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
    /// Shards of the cluster, for automatic sharding.
    pub num_shards: NonZeroU16,
    /// Whether topics that name no shard may be joined.
    pub named_topics: bool,
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
    /// Messages that wait for their proof to be checked; the driver should stop reading at
    /// [`crate::Relay::is_saturated`], so that this is never reached.
    pub checks_max: usize,
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
            num_shards: network.num_shards,
            named_topics: network.named_topics,
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
            // About 60 MB when full: what a network at its total rate limit needs many times over.
            nullifiers: NullifierLimits {
                max_entries_per_epoch: 200_000,
            },
            // About 2 MB as a rule, 13 MB when full. Spam under way is among the newest.
            senders: SenderLimits {
                max_nullifiers: 20_000,
                max_peers_per_nullifier: 64,
            },
            checks_max: 256,
        }
    }
}
