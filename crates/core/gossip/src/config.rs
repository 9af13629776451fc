//! Parameters of the router, and the rules between them.

use std::collections::BTreeMap;
use std::time::Duration;

use thiserror::Error;

use crate::limits::Limits;
use crate::parameters::{Dandelion, Degrees, FloodPublish, LargeMessages, Parameters};
use crate::policy::RouterPolicy;
use crate::score::{ScoreParams, Thresholds, TopicScoreParams};
use crate::strategy::{StrategyChoice, StrategyKind};
use crate::traffic::TopicBudget;
use crate::types::Topic;

/// Configuration of a [`crate::Router`]. [`Config::waku`] and [`Config::libp2p`] are the two presets; start from one
/// of them and set the fields that differ.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// Strategy that chooses the receivers of a message.
    pub strategy: StrategyChoice,
    /// Parameters of the strategies for large messages.
    pub large: LargeMessages,
    /// Parameters of Dandelion++.
    pub dandelion: Dandelion,
    /// Flooding: interval at which queued copies are sent; zero sends at once.
    pub flood_interval: Duration,
    /// Target sizes of meshes and gossip rounds.
    pub degrees: Degrees,
    /// Time between two heartbeats.
    pub heartbeat: Duration,
    /// Time from the start of the router to the first heartbeat.
    pub heartbeat_delay: Duration,
    /// Share of eligible peers that get gossip, 0 to 1, if that is more than `d_lazy`.
    pub gossip_factor: f64,
    /// Number of heartbeats for which a message stays available to IWANT.
    pub history_length: usize,
    /// Number of heartbeats for which a message is advertised in IHAVE.
    pub history_gossip: usize,
    /// Time for which a fanout outlives the last message published to it.
    pub fanout_ttl: Duration,
    /// Time for which a message id is remembered as seen.
    pub seen_ttl: Duration,
    /// Backoff after a PRUNE, during which the peer must not be grafted.
    pub prune_backoff: Duration,
    /// Backoff after leaving a topic.
    pub unsubscribe_backoff: Duration,
    /// Time added to a backoff before this node grafts the peer again.
    pub backoff_slack: Duration,
    /// A GRAFT sooner than this after the PRUNE counts as a flood.
    pub graft_flood_threshold: Duration,
    /// How widely messages published by this node are flooded.
    pub flood_publish: FloodPublish,
    /// Number of heartbeats between opportunistic grafts and replacements of idle mesh members; 0 turns them off.
    pub opportunistic_graft_heartbeats: u64,
    /// Maximum number of peers grafted, or members replaced, on such a heartbeat.
    pub opportunistic_graft_peers: usize,
    /// Time after which another peer is asked for a message that one has not delivered.
    pub iwant_give_up: Duration,
    /// Shorter time for a peer that left an earlier request unanswered.
    pub iwant_give_up_dubious: Duration,
    /// Time within which a requested message must arrive; afterwards the promise counts as broken.
    pub iwant_followup: Duration,
    /// Maximum number of times that one message is sent to one peer on request.
    pub gossip_retransmissions: u8,
    /// Maximum number of peers asked for the same message at the same time; other holders are asked later.
    pub iwant_in_flight_max: usize,
    /// Upper limit when that number grows: it grows by one for each request left unanswered by a peer of unproven
    /// reliability.
    pub iwant_in_flight_retry_max: usize,
    /// Number of consecutive overdue requests from which a peer's broken promises become an offence (P7). Fewer
    /// count as an accident: a stream was reset, or an answer was too long for the peer's queue.
    pub broken_promises_habit: u32,
    /// Data longer than this is announced by IDONTWANT, bytes; `usize::MAX` turns it off.
    pub idontwant_threshold_bytes: usize,
    /// Number of heartbeats for which an IDONTWANT is honoured.
    pub idontwant_ttl_heartbeats: u64,
    /// Rules on which implementations differ.
    pub policy: RouterPolicy,
    /// Whether PRUNE offers other peers, and whether peers offered to this node are used.
    pub peer_exchange: bool,
    /// Maximum number of peers offered in a PRUNE, and accepted from one.
    pub peer_exchange_peers: usize,
    /// Score thresholds for privileges of peers.
    pub thresholds: Thresholds,
    /// Parameters of the score function; without them every score is 0.
    pub score: Option<ScoreParams>,
    /// Whether a graylisted peer is disconnected instead of only ignored.
    pub disconnect_graylisted: bool,
    /// Bandwidth that each topic may use; `None` for no limit.
    pub topic_budget: Option<TopicBudget>,
    /// Bandwidth of single topics, in place of `topic_budget`.
    pub topic_budgets: BTreeMap<Topic, TopicBudget>,
    /// Limits on what remote peers can make the router hold or do.
    pub limits: Limits,
}

impl Config {
    /// Preset for Waku Relay: nwaku's values, except where [`ScoreParams`] and [`Thresholds`] say otherwise.
    pub fn waku() -> Self {
        Self {
            strategy: StrategyKind::EagerMesh.into(),
            large: LargeMessages::default(),
            dandelion: Dandelion::default(),
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
            policy: RouterPolicy::default(),
            peer_exchange: false,
            peer_exchange_peers: 16,
            thresholds: Thresholds::default(),
            score: Some(ScoreParams::default()),
            disconnect_graylisted: true,
            topic_budget: None,
            topic_budgets: BTreeMap::new(),
            limits: Limits::default(),
        }
    }

    /// Bandwidth that a topic may use, if it is limited.
    pub fn budget_of(&self, topic: &Topic) -> Option<TopicBudget> {
        self.topic_budgets.get(topic).copied().or(self.topic_budget)
    }

    /// Preset with the defaults of the GossipSub specification, without scoring.
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

    /// Returns the part of the configuration that a strategy reads.
    pub(crate) fn parameters(&self) -> Parameters<'_> {
        Parameters {
            degrees: &self.degrees,
            large: &self.large,
            dandelion: &self.dandelion,
            flood_publish: self.flood_publish,
            flood_interval: self.flood_interval,
            heartbeat: self.heartbeat,
            publish_threshold: self.thresholds.publish,
        }
    }

    /// Checks all rules for the parameters.
    ///
    /// # Errors
    /// Returns [`ConfigError`] with the first violated rule.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let degrees = &self.degrees;
        rule(
            degrees.d_low <= degrees.d && degrees.d <= degrees.d_high,
            Rule::DegreeOrder,
        )?;
        rule(degrees.d_score <= degrees.d_high, Rule::ScoreDegree)?;
        let bootstrapper = degrees.d == 0 && degrees.d_out == 0;
        let quota = degrees.d_out < degrees.d_low && degrees.d_out <= degrees.d / 2;
        let outbound = Rule::OutboundDegree {
            d_out: degrees.d_out,
            d_low: degrees.d_low,
            d: degrees.d,
        };
        rule(bootstrapper || quota, outbound)?;
        rule(!self.heartbeat.is_zero(), Rule::Heartbeat)?;
        let large = &self.large;
        let paced = large.group > 0 && !large.gap.is_zero() && !large.iwant_retry.is_zero();
        rule(paced, Rule::LargeMessages)?;
        let dandelion = &self.dandelion;
        let timed = !dandelion.epoch.is_zero() && !dandelion.embargo_mean.is_zero();
        let has_odds = (0.0..=1.0).contains(&dandelion.diffuser_probability);
        rule(timed && has_odds, Rule::Dandelion)?;
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
        for budget in self.topic_budget.iter().chain(self.topic_budgets.values()) {
            let flows = budget.bytes_per_s > 0 && budget.burst_bytes > 0;
            rule(flows, Rule::TopicBudget)?;
        }
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

/// Configuration that breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("gossip configuration: {0}")]
pub struct ConfigError(pub Rule);

/// Rules that a configuration must obey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rule {
    /// Ranges of the parameters of Dandelion++.
    #[error(
        "dandelion.epoch and dandelion.embargo_mean must be longer than 0, dandelion.diffuser_probability must lie \
         between 0 and 1"
    )]
    Dandelion,
    /// Range of the decay factors, `decay_to_zero` and `decay_interval`.
    #[error("decay factors and decay_to_zero must lie between 0 and 1, decay_interval above 0")]
    Decay,
    /// Order of `d_low`, `d` and `d_high`.
    #[error("d_low <= d <= d_high must hold")]
    DegreeOrder,
    /// Range of `gossip_factor`, 0 to 1.
    #[error("gossip_factor must lie between 0 and 1")]
    GossipFactor,
    /// Heartbeat interval longer than zero.
    #[error("the heartbeat must be longer than 0")]
    Heartbeat,
    /// Order of `history_gossip` and `history_length`.
    #[error("history_gossip must not exceed history_length")]
    History,
    /// Group size and intervals of large messages above zero.
    #[error("large.group must be above 0, large.gap and large.iwant_retry longer than 0")]
    LargeMessages,
    /// Cap of P3 not below its threshold.
    #[error("mesh_deliveries_cap must not be below mesh_deliveries_threshold")]
    MeshDeliveriesCap,
    /// Outbound quota `d_out` below `d_low` and at most `d / 2`.
    #[error(
        "d_out = {d_out} must be below d_low = {d_low} and at most half of d = {d}; set d_out to {} or less, or d_low to {} or \
         more and d to {} or more",
        .d_low.saturating_sub(1).min(.d / 2), .d_out + 1, .d_out * 2
    )]
    OutboundDegree {
        /// Number of mesh connections that the node must have dialled.
        d_out: usize,
        /// Minimum size of the mesh.
        d_low: usize,
        /// Target size of the mesh.
        d: usize,
    },
    /// Sign of the weights of P3, P3b, P4, P6, P7 and slow peers.
    #[error("weights of penalties must not be positive")]
    PenaltySign,
    /// Time quantum of P1 longer than zero.
    #[error("time_in_mesh_quantum must be longer than 0")]
    Quantum,
    /// Sign of the weights of P1, P2 and topics.
    #[error("weights of rewards must not be negative")]
    RewardSign,
    /// Order of `d_score` and `d_high`.
    #[error("d_score must not exceed d_high")]
    ScoreDegree,
    /// Bandwidth of topics above zero.
    #[error("the bandwidth of a topic must be above 0 bytes per second, with a burst above 0")]
    TopicBudget,
    /// Order and sign of the score thresholds.
    #[error("graylist <= publish <= gossip <= 0 <= accept_px, opportunistic_graft must hold")]
    Thresholds,
}
