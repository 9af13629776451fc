//! Parameters of the score function (GossipSub v1.1, "Peer Scoring").

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

/// When a score is computed from its counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// At every query, from the live counters (go-libp2p-pubsub, rust-libp2p).
    OnDemand,
    /// Only at the decay tick, before decaying; cached in between (nim-libp2p).
    AtDecay,
}

/// Parameters of the score that concern a peer as a whole. `P1` to `P7` are the terms of the specification.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScoreParams {
    /// When scores are computed.
    pub evaluation: Evaluation,
    /// Upper bound on the sum of the topic scores; 0 for none.
    pub topic_score_cap: f64,
    /// Weight of the value that the application sets (P5).
    pub application_weight: f64,
    /// Weight of the squared surplus of peers on one address (P6); not positive. A peer's surplus counts
    /// the peers that were connected from its [`AddressGroup`](crate::AddressGroup) before it.
    pub ip_colocation_weight: f64,
    /// Number of peers that may share an address without a penalty (P6).
    pub ip_colocation_threshold: u32,
    /// Addresses that are exempt from P6.
    pub ip_colocation_allowed: BTreeSet<IpAddr>,
    /// Weight of the squared surplus of the misbehaviour counter (P7); not positive.
    pub behaviour_weight: f64,
    /// Number of offences without a penalty (P7). An honest peer commits some: its messages are lost when
    /// its stream is reset, and its GRAFT crosses our PRUNE.
    pub behaviour_threshold: f64,
    /// Decay factor of the misbehaviour counter, in (0, 1).
    pub behaviour_decay: f64,
    /// Weight of the surplus of dropped frames (an extension of rust-libp2p and nim-libp2p); not positive.
    pub slow_peer_weight: f64,
    /// Number of dropped frames without a penalty.
    pub slow_peer_threshold: f64,
    /// Decay factor of the counter of dropped frames, in (0, 1).
    pub slow_peer_decay: f64,
    /// Time between two decay ticks.
    pub decay_interval: Duration,
    /// Value below which a decaying counter becomes 0.
    pub decay_to_zero: f64,
    /// Time for which a bad score outlives the connection.
    pub retain_score: Duration,
    /// Whether P1 counts whole quanta only (go-libp2p-pubsub) or fractions too (rust-libp2p).
    pub whole_quanta: bool,
    /// Parameters of every topic that is not in `topics`.
    pub default_topic: TopicScoreParams,
    /// Parameters by topic name.
    pub topics: BTreeMap<String, TopicScoreParams>,
}

impl ScoreParams {
    /// Exempts the loopback addresses from P6: peers that connect from them are other nodes on this machine, or clients
    /// of a proxy in front of this one.
    pub fn allow_loopback(&mut self) {
        let loopback: [IpAddr; 2] = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        self.ip_colocation_allowed.extend(loopback);
    }
}

/// Parameters of the score in one topic.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TopicScoreParams {
    /// Weight of the topic in the sum of topic scores; not negative.
    pub topic_weight: f64,
    /// Weight of P1 (time in mesh); not negative.
    pub time_in_mesh_weight: f64,
    /// Unit of time of P1.
    pub time_in_mesh_quantum: Duration,
    /// Cap of P1, in quanta.
    pub time_in_mesh_cap: f64,
    /// Weight of P2 (first deliveries); not negative.
    pub first_deliveries_weight: f64,
    /// Decay factor of P2, in (0, 1).
    pub first_deliveries_decay: f64,
    /// Cap of P2, in messages.
    pub first_deliveries_cap: f64,
    /// Weight of P3 (mesh deliveries); not positive.
    pub mesh_deliveries_weight: f64,
    /// Decay factor of P3, in (0, 1).
    pub mesh_deliveries_decay: f64,
    /// Cap of P3, in messages.
    pub mesh_deliveries_cap: f64,
    /// Number of mesh deliveries (P3) below which there is a deficit.
    pub mesh_deliveries_threshold: f64,
    /// Time after validation in which a duplicate still counts as near-first (P3).
    pub mesh_deliveries_window: Duration,
    /// Time in the mesh before a deficit counts (P3).
    pub mesh_deliveries_activation: Duration,
    /// Weight of P3b (mesh delivery failures); not positive.
    pub mesh_failure_weight: f64,
    /// Decay factor of P3b, in (0, 1).
    pub mesh_failure_decay: f64,
    /// Weight of P4 (invalid messages); not positive.
    pub invalid_messages_weight: f64,
    /// Decay factor of P4, in (0, 1).
    pub invalid_messages_decay: f64,
}

impl Default for TopicScoreParams {
    /// Waku's topic parameters, with P3 and P3b off.
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
    /// Waku's global parameters, except `behaviour_threshold`.
    fn default() -> Self {
        Self {
            evaluation: Evaluation::OnDemand,
            topic_score_cap: 0.0,
            application_weight: 0.0,
            ip_colocation_weight: -50.0,
            ip_colocation_threshold: 5,
            ip_colocation_allowed: BTreeSet::new(),
            behaviour_weight: -10.0,
            // nwaku's weight is for offences that count 0.1 each, with no free ones. Here an offence counts
            // 1, as in go-libp2p-pubsub, whose users set this threshold with weights of the same size.
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

/// Score thresholds for privileges. All are at or below 0 except the last two.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Thresholds {
    /// Score below which no gossip is exchanged with the peer.
    pub gossip: f64,
    /// Score below which the peer gets no flooded messages and is not in a fanout.
    pub publish: f64,
    /// Score below which everything from the peer is ignored (graylist).
    pub graylist: f64,
    /// Score from which peers offered in a PRUNE are used.
    pub accept_px: f64,
    /// Median mesh score below which better peers are grafted; 0 turns it off.
    pub opportunistic_graft: f64,
}

impl Default for Thresholds {
    /// Waku's thresholds, except `opportunistic_graft`.
    fn default() -> Self {
        Self {
            gossip: -100.0,
            publish: -1000.0,
            graylist: -10_000.0,
            accept_px: 0.0,
            // nwaku turns it off. With Waku's weights a member that delivers nothing reaches 0.1 at most,
            // and each first delivery is worth 1.
            opportunistic_graft: 0.2,
        }
    }
}
