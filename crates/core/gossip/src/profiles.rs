//! Profiles of other implementations of GossipSub as data, to compare networks with theirs.

use std::time::Duration;

use crate::config::Config;
use crate::policy::{MeshTrim, RouterPolicy, SendOrder};

/// More peers than ever announce a message, so that each announcer is asked at once.
const ALL_AT_ONCE: usize = 1_000;

/// Behaviour of one implementation, as far as this router can imitate it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RouterProfile {
    /// Name of the profile.
    pub name: &'static str,
    /// Origin of every number and rule.
    pub source: &'static str,
    /// Rules that differ from this router's; `None` for its own profile.
    pub differs: Option<ProfileRules>,
}

/// Numbers and rules of another implementation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProfileRules {
    /// Rules of [`RouterPolicy`].
    pub policy: RouterPolicy,
    /// Number of members that a trimmed mesh keeps for their score, unless the network's preset sets it.
    pub d_score: usize,
    /// Number of outbound members of a mesh, unless the network's preset sets it.
    pub d_out: usize,
    /// Maximum number of peers asked for one message at a time; `ALL_AT_ONCE` if each is asked when it announces the
    /// message.
    pub iwant_in_flight_max: usize,
    /// Time after which another peer is asked, unless all are asked at once.
    pub iwant_retry: Duration,
    /// Maximum number of ids requested from one peer between two heartbeats.
    pub iwant_ids_per_heartbeat_max: usize,
    /// Maximum number of times that one message is sent to one peer on request.
    pub gossip_retransmissions: u8,
    /// Data longer than this is announced by IDONTWANT, bytes.
    pub idontwant_threshold_bytes: usize,
    /// Number of heartbeats for which an IDONTWANT is honoured.
    pub idontwant_ttl_heartbeats: u64,
    /// Time from the start to the first heartbeat.
    pub heartbeat_delay: Duration,
}

const fn policy(
    profile: &'static str,
    trim: MeshTrim,
    grafts_newcomers: bool,
    cancels_queued: bool,
    send_order: SendOrder,
) -> RouterPolicy {
    RouterPolicy {
        profile,
        trim,
        grafts_newcomers,
        cancels_queued,
        send_order,
    }
}

/// Known profiles; the first is the default.
pub const PROFILES: [RouterProfile; 5] = [
    RouterProfile {
        name: "undertone",
        source: "this crate",
        differs: None,
    },
    RouterProfile {
        name: "nim",
        source: "nim-libp2p 12f25f0, protocols/pubsub/gossipsub/behavior.nim (rebalanceMesh, handleIHave, handleIWant), \
                 gossipsub.nim (validateAndRelay, isLargeMessage, GossipSubParams.init), types.nim (IHavePeerBudget), \
                 pubsubpeer.nim (queues, which IDONTWANT does not reach)",
        differs: Some(ProfileRules {
            policy: policy(
                "nim",
                MeshTrim::AllBelowScore,
                true,
                false,
                SendOrder::Fixed,
            ),
            d_score: 4,
            d_out: 3,
            iwant_in_flight_max: ALL_AT_ONCE,
            iwant_retry: Duration::from_secs(1),
            iwant_ids_per_heartbeat_max: 10,
            gossip_retransmissions: 1,
            idontwant_threshold_bytes: 512,
            idontwant_ttl_heartbeats: 5,
            heartbeat_delay: Duration::from_millis(100),
        }),
    },
    RouterProfile {
        name: "go",
        source: "go-libp2p-pubsub 41b11d5, gossipsub.go (heartbeat, handleIHave, Preprocess, rpcs, DefaultGossipSubParams)",
        differs: Some(ProfileRules {
            policy: policy("go", MeshTrim::ReachedToD, false, false, SendOrder::Random),
            d_score: 4,
            d_out: 2,
            iwant_in_flight_max: ALL_AT_ONCE,
            iwant_retry: Duration::from_secs(1),
            iwant_ids_per_heartbeat_max: 5_000,
            gossip_retransmissions: 3,
            idontwant_threshold_bytes: 1_023,
            idontwant_ttl_heartbeats: 3,
            heartbeat_delay: Duration::from_millis(100),
        }),
    },
    RouterProfile {
        name: "rust",
        source: "libp2p-gossipsub 0.50.1, behaviour.rs (heartbeat, handle_ihave, handle_received_subscriptions, \
                 handle_received_message), queue.rs (remove_data_messages), config.rs",
        differs: Some(ProfileRules {
            policy: policy("rust", MeshTrim::ReachedToD, true, true, SendOrder::Random),
            d_score: 4,
            d_out: 2,
            iwant_in_flight_max: 1,
            iwant_retry: Duration::from_secs(3),
            iwant_ids_per_heartbeat_max: 5_000,
            gossip_retransmissions: 3,
            idontwant_threshold_bytes: 1_000,
            idontwant_ttl_heartbeats: 3,
            heartbeat_delay: Duration::from_secs(5),
        }),
    },
    RouterProfile {
        name: "js",
        source: "@libp2p/gossipsub 17.1.1, src/gossipsub.ts (heartbeat, handleIHave, graftOnSubscribe, \
                 validateReceivedMessage, forwardMessage), src/constants.ts",
        differs: Some(ProfileRules {
            policy: policy("js", MeshTrim::AboveToD, true, false, SendOrder::Fixed),
            d_score: 4,
            d_out: 2,
            iwant_in_flight_max: ALL_AT_ONCE,
            iwant_retry: Duration::from_secs(1),
            iwant_ids_per_heartbeat_max: 5_000,
            gossip_retransmissions: 3,
            idontwant_threshold_bytes: 511,
            idontwant_ttl_heartbeats: 5,
            heartbeat_delay: Duration::from_millis(100),
        }),
    },
];

impl RouterProfile {
    /// Applies the differing rules to a configuration. With `keeps_degrees`, the degrees of its preset stay: a
    /// network's preset sets them for every implementation.
    pub fn apply(&self, config: &mut Config, keeps_degrees: bool) {
        let Some(rules) = &self.differs else {
            return;
        };
        config.policy = rules.policy;
        if !keeps_degrees {
            config.degrees.d_score = rules.d_score;
            config.degrees.d_out = rules.d_out;
        }
        config.iwant_in_flight_max = rules.iwant_in_flight_max;
        config.iwant_in_flight_retry_max = rules.iwant_in_flight_max;
        config.large.iwant_retry = rules.iwant_retry;
        config.iwant_give_up = rules.iwant_retry;
        config.iwant_give_up_dubious = rules.iwant_retry;
        // None of them waits for incoming copies, or asks less of a peer that left requests unanswered.
        config.large.transfer_wait = Duration::ZERO;
        config.limits.iwant_ids_per_heartbeat_max = rules.iwant_ids_per_heartbeat_max;
        config.limits.iwant_ids_of_dubious_per_heartbeat_max = rules.iwant_ids_per_heartbeat_max;
        config.limits.iwant_bytes_per_heartbeat_max = 1 << 30;
        config.gossip_retransmissions = rules.gossip_retransmissions;
        config.idontwant_threshold_bytes = rules.idontwant_threshold_bytes;
        config.idontwant_ttl_heartbeats = rules.idontwant_ttl_heartbeats;
        config.heartbeat_delay = rules.heartbeat_delay;
    }
}
