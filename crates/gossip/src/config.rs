//! Parameters of the router, and the rules between them.

use std::time::Duration;

use thiserror::Error;

use crate::limits::Limits;
use crate::score::{ScoreParams, Thresholds, TopicScoreParams};
use crate::strategy::StrategyKind;

/// Mesh degrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Degrees {
    /// Target.
    pub d: usize,
    /// Graft below.
    pub d_low: usize,
    /// Prune above.
    pub d_high: usize,
    /// Best-scoring peers kept when pruning.
    pub d_score: usize,
    /// Peers that we dialled ourselves, at least.
    pub d_out: usize,
    /// Peers that get gossip each heartbeat, at least.
    pub d_lazy: usize,
}

/// How own messages are flooded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloodPublish {
    /// To the mesh (or fanout) only.
    Off,
    /// To every subscriber with a score above the publish threshold.
    On,
    /// As `On`, but to no more peers than this rate can serve within a heartbeat (and at least
    /// `d_low`), as nim-libp2p bounds it; its estimate is 12 500 bytes per millisecond.
    BoundedByRate {
        /// Assumed uplink, bytes per millisecond.
        rate_bytes_per_ms: usize,
    },
}

/// How the strategies for large messages spread them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeMessages {
    /// Data longer than this is large, bytes.
    pub threshold_bytes: usize,
    /// Staggered: copies that leave at the same time.
    pub group: usize,
    /// Staggered: time until the next ones do.
    pub gap: Duration,
    /// Reduced: copies that are sent without being asked for.
    pub push: usize,
    /// Time for which an unknown id is left alone before it is asked for: its copy may be under way.
    pub iwant_delay: Duration,
    /// Time after which the next peer is asked.
    pub iwant_retry: Duration,
    /// A frame longer than this is waited for, bytes: what a connection's first window of ten segments
    /// does not carry at once.
    pub transfer_bytes: usize,
    /// Longest time for which nothing is asked for because a long frame is coming in; zero asks
    /// whatever comes in.
    pub transfer_wait: Duration,
}

impl Default for LargeMessages {
    /// nim-libp2p's bound and group, and its 35 ms between sends; ids are asked for at once.
    fn default() -> Self {
        Self {
            threshold_bytes: 2_000,
            group: 2,
            gap: Duration::from_millis(35),
            push: 3,
            iwant_delay: Duration::ZERO,
            iwant_retry: Duration::from_secs(1),
            transfer_bytes: 14_480,
            transfer_wait: Duration::from_secs(1),
        }
    }
}

/// Everything that can be set. [`Config::waku`] and [`Config::libp2p`] are the two presets.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How messages are spread.
    pub strategy: StrategyKind,
    /// What the strategies for large messages do with them.
    pub large: LargeMessages,
    /// Flooding: time between two moments at which what waits is sent; zero sends at once.
    pub flood_interval: Duration,
    /// Mesh degrees.
    pub degrees: Degrees,
    /// Time between heartbeats.
    pub heartbeat: Duration,
    /// Time from the start to the first heartbeat.
    pub heartbeat_delay: Duration,
    /// Share of eligible peers that get gossip, if that is more than `d_lazy`.
    pub gossip_factor: f64,
    /// Heartbeats for which a message can be asked for.
    pub history_length: usize,
    /// Heartbeats for which a message is advertised.
    pub history_gossip: usize,
    /// How long a fanout outlives the last message published to it.
    pub fanout_ttl: Duration,
    /// How long a message id is remembered.
    pub seen_ttl: Duration,
    /// How long a pruned peer stays out.
    pub prune_backoff: Duration,
    /// The same, after leaving a topic.
    pub unsubscribe_backoff: Duration,
    /// Added to a backoff before we graft again.
    pub backoff_slack: Duration,
    /// A GRAFT this soon after the PRUNE counts as a flood.
    pub graft_flood_threshold: Duration,
    /// How own messages are flooded.
    pub flood_publish: FloodPublish,
    /// Heartbeats between opportunistic grafts.
    pub opportunistic_graft_heartbeats: u64,
    /// Peers grafted then.
    pub opportunistic_graft_peers: usize,
    /// Time after which another peer is asked for what one has not delivered.
    pub iwant_give_up: Duration,
    /// The same for a peer that has not delivered when it was asked before.
    pub iwant_give_up_dubious: Duration,
    /// Time in which an asked-for message must arrive.
    pub iwant_followup: Duration,
    /// Times the same message is sent to the same peer on request.
    pub gossip_retransmissions: u8,
    /// Peers asked for the same message at the same time; others that have it come next.
    pub iwant_in_flight_max: usize,
    /// The same after peers that never delivered anything have left requests for it unanswered.
    pub iwant_in_flight_retry_max: usize,
    /// Requests that a peer must leave unanswered, one after the other, before they are an offence (P7).
    /// Fewer are an accident: a stream was reset, an answer was too long for the peer's queue.
    pub broken_promises_habit: u32,
    /// Data longer than this is announced by IDONTWANT, bytes; `usize::MAX` turns it off.
    pub idontwant_threshold_bytes: usize,
    /// Heartbeats for which an IDONTWANT is honoured.
    pub idontwant_ttl_heartbeats: u64,
    /// Whether PRUNE offers other peers.
    pub peer_exchange: bool,
    /// How many.
    pub peer_exchange_peers: usize,
    /// Score thresholds.
    pub thresholds: Thresholds,
    /// Score parameters; without them every score is 0.
    pub score: Option<ScoreParams>,
    /// Whether a peer below the graylist threshold is disconnected, not only ignored.
    pub disconnect_graylisted: bool,
    /// Bounds.
    pub limits: Limits,
}

impl Config {
    /// Waku Relay as nwaku runs it.
    pub fn waku() -> Self {
        Self {
            strategy: StrategyKind::EagerMesh,
            large: LargeMessages::default(),
            flood_interval: Duration::ZERO,
            degrees: Degrees {
                d: 6,
                d_low: 4,
                d_high: 8,
                d_score: 6,
                d_out: 3,
                d_lazy: 6,
            },
            heartbeat: Duration::from_secs(1),
            heartbeat_delay: Duration::from_millis(100),
            gossip_factor: 0.25,
            history_length: 6,
            history_gossip: 3,
            fanout_ttl: Duration::from_secs(60),
            seen_ttl: Duration::from_secs(120),
            prune_backoff: Duration::from_secs(60),
            unsubscribe_backoff: Duration::from_secs(5),
            backoff_slack: Duration::from_secs(2),
            graft_flood_threshold: Duration::from_secs(10),
            flood_publish: FloodPublish::BoundedByRate {
                rate_bytes_per_ms: 12_500,
            },
            opportunistic_graft_heartbeats: 60,
            opportunistic_graft_peers: 2,
            iwant_give_up: Duration::from_secs(1),
            iwant_give_up_dubious: Duration::from_millis(300),
            iwant_followup: Duration::from_secs(3),
            gossip_retransmissions: 3,
            iwant_in_flight_max: 1,
            iwant_in_flight_retry_max: 3,
            broken_promises_habit: 8,
            idontwant_threshold_bytes: 512,
            idontwant_ttl_heartbeats: 6,
            peer_exchange: false,
            peer_exchange_peers: 16,
            thresholds: Thresholds::default(),
            score: Some(ScoreParams::default()),
            disconnect_graylisted: true,
            limits: Limits::default(),
        }
    }

    /// The defaults of the GossipSub specification, without scoring.
    pub fn libp2p() -> Self {
        Self {
            degrees: Degrees {
                d: 6,
                d_low: 4,
                d_high: 12,
                d_score: 4,
                d_out: 2,
                d_lazy: 6,
            },
            history_length: 5,
            unsubscribe_backoff: Duration::from_secs(10),
            backoff_slack: Duration::from_secs(1),
            flood_publish: FloodPublish::On,
            idontwant_threshold_bytes: 1024,
            idontwant_ttl_heartbeats: 3,
            score: None,
            disconnect_graylisted: false,
            ..Self::waku()
        }
    }

    /// Checks every rule between the parameters.
    ///
    /// # Errors
    /// The first rule that does not hold.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let degrees = &self.degrees;
        rule(
            degrees.d_low <= degrees.d && degrees.d <= degrees.d_high,
            Rule::DegreeOrder,
        )?;
        rule(degrees.d_score <= degrees.d_high, Rule::ScoreDegree)?;
        let bootstrapper = degrees.d == 0 && degrees.d_out == 0;
        let quota = degrees.d_out < degrees.d_low && degrees.d_out <= degrees.d / 2;
        rule(bootstrapper || quota, Rule::OutboundDegree)?;
        rule(!self.heartbeat.is_zero(), Rule::Heartbeat)?;
        let large = &self.large;
        let paced = large.group > 0 && !large.gap.is_zero() && !large.iwant_retry.is_zero();
        rule(paced, Rule::LargeMessages)?;
        rule(self.history_gossip <= self.history_length, Rule::History)?;
        rule(
            (0.0..=1.0).contains(&self.gossip_factor),
            Rule::GossipFactor,
        )?;
        let t = &self.thresholds;
        rule(t.gossip <= 0.0 && t.publish <= t.gossip, Rule::Thresholds)?;
        rule(t.graylist <= t.publish, Rule::Thresholds)?;
        rule(
            t.accept_px >= 0.0 && t.opportunistic_graft >= 0.0,
            Rule::Thresholds,
        )?;
        if let Some(score) = &self.score {
            validate_score(score)?;
        }
        Ok(())
    }
}

fn validate_score(score: &ScoreParams) -> Result<(), ConfigError> {
    let penalties = [
        score.ip_colocation_weight,
        score.behaviour_weight,
        score.slow_peer_weight,
    ];
    rule(penalties.iter().all(|w| *w <= 0.0), Rule::PenaltySign)?;
    rule(!score.decay_interval.is_zero(), Rule::Decay)?;
    for decay in [
        score.behaviour_decay,
        score.slow_peer_decay,
        score.decay_to_zero,
    ] {
        rule(decay > 0.0 && decay < 1.0, Rule::Decay)?;
    }
    std::iter::once(&score.default_topic)
        .chain(score.topics.values())
        .try_for_each(validate_topic)
}

fn validate_topic(topic: &TopicScoreParams) -> Result<(), ConfigError> {
    let rewards = [
        topic.topic_weight,
        topic.time_in_mesh_weight,
        topic.first_deliveries_weight,
    ];
    rule(rewards.iter().all(|w| *w >= 0.0), Rule::RewardSign)?;
    let penalties = [
        topic.mesh_deliveries_weight,
        topic.mesh_failure_weight,
        topic.invalid_messages_weight,
    ];
    rule(penalties.iter().all(|w| *w <= 0.0), Rule::PenaltySign)?;
    for decay in [
        topic.first_deliveries_decay,
        topic.mesh_deliveries_decay,
        topic.mesh_failure_decay,
        topic.invalid_messages_decay,
    ] {
        rule(decay > 0.0 && decay < 1.0, Rule::Decay)?;
    }
    rule(!topic.time_in_mesh_quantum.is_zero(), Rule::Quantum)?;
    let capped = topic.mesh_deliveries_cap >= topic.mesh_deliveries_threshold;
    rule(capped, Rule::MeshDeliveriesCap)
}

fn rule(holds: bool, rule: Rule) -> Result<(), ConfigError> {
    if holds {
        Ok(())
    } else {
        Err(ConfigError(rule))
    }
}

/// A configuration that cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("gossip configuration: {0}")]
pub struct ConfigError(pub Rule);

/// The rules a configuration must obey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rule {
    /// Decays.
    #[error("decay factors and decay_to_zero must lie between 0 and 1, decay_interval above 0")]
    Decay,
    /// Degrees.
    #[error("d_low <= d <= d_high must hold")]
    DegreeOrder,
    /// Gossip factor.
    #[error("gossip_factor must lie between 0 and 1")]
    GossipFactor,
    /// Heartbeat.
    #[error("the heartbeat must be longer than 0")]
    Heartbeat,
    /// History.
    #[error("history_gossip must not exceed history_length")]
    History,
    /// Large messages.
    #[error("large.group must be above 0, large.gap and large.iwant_retry longer than 0")]
    LargeMessages,
    /// P3.
    #[error("mesh_deliveries_cap must not be below mesh_deliveries_threshold")]
    MeshDeliveriesCap,
    /// Outbound quota.
    #[error("d_out must be below d_low and at most d / 2")]
    OutboundDegree,
    /// P3, P3b, P4, P6, P7.
    #[error("weights of penalties must not be positive")]
    PenaltySign,
    /// P1.
    #[error("time_in_mesh_quantum must be longer than 0")]
    Quantum,
    /// P1, P2, topics.
    #[error("weights of rewards must not be negative")]
    RewardSign,
    /// Degrees.
    #[error("d_score must not exceed d_high")]
    ScoreDegree,
    /// Thresholds.
    #[error("graylist <= publish <= gossip <= 0 <= accept_px, opportunistic_graft must hold")]
    Thresholds,
}
