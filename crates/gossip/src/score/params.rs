//! Parameters of the score function (GossipSub v1.1, "Peer Scoring").

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

/// When a score is computed from its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// Whenever it is asked for, from the live counters (go-libp2p-pubsub, rust-libp2p).
    OnDemand,
    /// At the decay tick only, before decaying; cached in between (nim-libp2p).
    AtDecay,
}

/// Parameters that hold for a peer as a whole. `P1` to `P7` are the terms of the specification.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreParams {
    /// When scores are computed.
    pub evaluation: Evaluation,
    /// Upper bound on the sum of the topic scores; 0 for none.
    pub topic_score_cap: f64,
    /// Weight of the value the application sets (P5).
    pub application_weight: f64,
    /// Weight of the squared surplus of peers on one address (P6); not positive. A peer's surplus counts
    /// the peers that were connected from its [`AddressGroup`](crate::AddressGroup) before it.
    pub ip_colocation_weight: f64,
    /// Peers that may share an address.
    pub ip_colocation_threshold: u32,
    /// Addresses that never count for P6.
    pub ip_colocation_allowed: BTreeSet<IpAddr>,
    /// Weight of the squared surplus of misbehaviour (P7); not positive.
    pub behaviour_weight: f64,
    /// Offences that are free. An honest peer commits some: its messages are lost when its stream is
    /// reset, and its GRAFT crosses our PRUNE.
    pub behaviour_threshold: f64,
    /// Decay factor of the misbehaviour counter, in (0, 1).
    pub behaviour_decay: f64,
    /// Weight of the surplus of dropped frames (rust-libp2p and nim-libp2p only); not positive.
    pub slow_peer_weight: f64,
    /// Dropped frames that are free.
    pub slow_peer_threshold: f64,
    /// Decay factor of dropped frames, in (0, 1).
    pub slow_peer_decay: f64,
    /// Time between decays.
    pub decay_interval: Duration,
    /// A counter below this becomes 0.
    pub decay_to_zero: f64,
    /// How long a bad score outlives the connection.
    pub retain_score: Duration,
    /// Whether P1 counts whole quanta only (go-libp2p-pubsub) or fractions too (rust-libp2p).
    pub whole_quanta: bool,
    /// Parameters of a topic that is not in `topics`.
    pub default_topic: TopicScoreParams,
    /// Parameters by topic name.
    pub topics: BTreeMap<String, TopicScoreParams>,
}

/// Parameters of one topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicScoreParams {
    /// Weight of the topic in the sum; not negative.
    pub topic_weight: f64,
    /// P1 weight; not negative.
    pub time_in_mesh_weight: f64,
    /// P1 unit of time.
    pub time_in_mesh_quantum: Duration,
    /// P1 cap, quanta.
    pub time_in_mesh_cap: f64,
    /// P2 weight; not negative.
    pub first_deliveries_weight: f64,
    /// P2 decay, in (0, 1).
    pub first_deliveries_decay: f64,
    /// P2 cap, messages.
    pub first_deliveries_cap: f64,
    /// P3 weight; not positive.
    pub mesh_deliveries_weight: f64,
    /// P3 decay, in (0, 1).
    pub mesh_deliveries_decay: f64,
    /// P3 cap, messages.
    pub mesh_deliveries_cap: f64,
    /// P3 messages below which there is a deficit.
    pub mesh_deliveries_threshold: f64,
    /// How long after validation a duplicate still counts as near-first.
    pub mesh_deliveries_window: Duration,
    /// Time in the mesh before a deficit counts.
    pub mesh_deliveries_activation: Duration,
    /// P3b weight; not positive.
    pub mesh_failure_weight: f64,
    /// P3b decay, in (0, 1).
    pub mesh_failure_decay: f64,
    /// P4 weight; not positive.
    pub invalid_messages_weight: f64,
    /// P4 decay, in (0, 1).
    pub invalid_messages_decay: f64,
}

impl Default for TopicScoreParams {
    /// Waku's topic parameters: P3 and P3b off.
    fn default() -> Self {
        Self {
            topic_weight: 1.0,
            time_in_mesh_weight: 0.01,
            time_in_mesh_quantum: Duration::from_secs(1),
            time_in_mesh_cap: 10.0,
            first_deliveries_weight: 1.0,
            first_deliveries_decay: 0.5,
            first_deliveries_cap: 10.0,
            mesh_deliveries_weight: 0.0,
            mesh_deliveries_decay: 0.5,
            mesh_deliveries_cap: 1.0,
            mesh_deliveries_threshold: 0.0,
            mesh_deliveries_window: Duration::from_millis(5),
            mesh_deliveries_activation: Duration::from_secs(1),
            mesh_failure_weight: 0.0,
            mesh_failure_decay: 0.5,
            invalid_messages_weight: -100.0,
            invalid_messages_decay: 0.5,
        }
    }
}

impl Default for ScoreParams {
    /// Waku's global parameters, but for `behaviour_threshold`.
    fn default() -> Self {
        Self {
            evaluation: Evaluation::OnDemand,
            topic_score_cap: 0.0,
            application_weight: 0.0,
            ip_colocation_weight: -50.0,
            ip_colocation_threshold: 5,
            ip_colocation_allowed: BTreeSet::new(),
            behaviour_weight: -10.0,
            // nwaku's weight is for offences that count 0.1 each, with none of them free. Ours count 1, as
            // in go-libp2p-pubsub, whose users set this threshold with weights of the same size.
            behaviour_threshold: 6.0,
            behaviour_decay: 0.986,
            slow_peer_weight: 0.0,
            slow_peer_threshold: 0.0,
            slow_peer_decay: 0.2,
            decay_interval: Duration::from_secs(12),
            decay_to_zero: 0.01,
            retain_score: Duration::from_secs(600),
            whole_quanta: false,
            default_topic: TopicScoreParams::default(),
            topics: BTreeMap::new(),
        }
    }
}

/// Score below which a peer loses a privilege. All lie at or below 0 but the last two.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// Below: no gossip to or from the peer.
    pub gossip: f64,
    /// Below: own messages are not flood-published to the peer.
    pub publish: f64,
    /// Below: everything from the peer is ignored.
    pub graylist: f64,
    /// At or above: peers offered in a PRUNE are accepted.
    pub accept_px: f64,
    /// Median mesh score below which better peers are grafted; 0 turns it off.
    pub opportunistic_graft: f64,
}

impl Default for Thresholds {
    /// Waku's thresholds, but for `opportunistic_graft`.
    fn default() -> Self {
        Self {
            gossip: -100.0,
            publish: -1000.0,
            graylist: -10_000.0,
            accept_px: 0.0,
            // nwaku turns it off. With Waku's weights a member that brings nothing reaches 0.1 at most, and each
            // message that a peer brings first is worth 1.
            opportunistic_graft: 0.2,
        }
    }
}
