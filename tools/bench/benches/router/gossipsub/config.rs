//! Translates the parameters of Undertone's router to `libp2p-gossipsub`.

use std::collections::HashMap;
use std::time::Duration;

use libp2p_gossipsub::{
    Config, ConfigBuilder, IdentTopic, MessageId, PeerScoreParams, PeerScoreThresholds,
    TopicScoreParams, ValidationMode,
};
use sha2::{Digest, Sha256};
use undertone_gossip as ours;

use crate::frames::TOPIC;

/// Heartbeat interval longer than any run: the clock cannot be stopped, and no heartbeat should be measured.
const NEVER: Duration = Duration::from_secs(1 << 20);

/// Returns the configuration for anonymous messages with the SHA-256 of their data as id, validated by the
/// application, with the mesh parameters of `from`.
pub(crate) fn config(from: &ours::Config) -> Config {
    ConfigBuilder::default()
        .validation_mode(ValidationMode::Anonymous)
        .validate_messages()
        .message_id_fn(|message| MessageId::new(Sha256::digest(&message.data).as_slice()))
        .mesh_n(from.degrees.d)
        .mesh_n_low(from.degrees.d_low)
        .mesh_n_high(from.degrees.d_high)
        .mesh_outbound_min(from.degrees.d_out)
        .retain_scores(from.degrees.d_score)
        .gossip_lazy(from.degrees.d_lazy)
        .gossip_factor(from.gossip_factor)
        .history_length(from.history_length)
        .history_gossip(from.history_gossip)
        .duplicate_cache_time(from.seen_ttl)
        .idontwant_message_size_threshold(from.idontwant_threshold_bytes)
        .max_transmit_size(1 << 20)
        .heartbeat_initial_delay(NEVER)
        .build()
        .expect("Undertone's rules for these parameters are libp2p's")
}

/// Returns the score parameters of `from`, and their thresholds.
pub(crate) fn score(from: &ours::Config) -> (PeerScoreParams, PeerScoreThresholds) {
    let score = from.score.as_ref().expect("the preset scores peers");
    let topic = (IdentTopic::new(TOPIC).hash(), topic(&score.default_topic));
    let params = PeerScoreParams {
        topics: HashMap::from([topic]),
        topic_score_cap: score.topic_score_cap,
        app_specific_weight: score.application_weight,
        ip_colocation_factor_weight: score.ip_colocation_weight,
        ip_colocation_factor_threshold: f64::from(score.ip_colocation_threshold),
        ip_colocation_factor_whitelist: score.ip_colocation_allowed.iter().copied().collect(),
        behaviour_penalty_weight: score.behaviour_weight,
        behaviour_penalty_threshold: score.behaviour_threshold,
        behaviour_penalty_decay: score.behaviour_decay,
        decay_interval: NEVER,
        decay_to_zero: score.decay_to_zero,
        retain_score: score.retain_score,
        slow_peer_weight: score.slow_peer_weight,
        slow_peer_threshold: score.slow_peer_threshold,
        slow_peer_decay: score.slow_peer_decay,
    };
    let thresholds = PeerScoreThresholds {
        gossip_threshold: from.thresholds.gossip,
        publish_threshold: from.thresholds.publish,
        graylist_threshold: from.thresholds.graylist,
        accept_px_threshold: from.thresholds.accept_px,
        opportunistic_graft_threshold: from.thresholds.opportunistic_graft,
    };
    (params, thresholds)
}

fn topic(from: &ours::TopicScoreParams) -> TopicScoreParams {
    TopicScoreParams {
        topic_weight: from.topic_weight,
        time_in_mesh_weight: from.time_in_mesh_weight,
        time_in_mesh_quantum: from.time_in_mesh_quantum,
        time_in_mesh_cap: from.time_in_mesh_cap,
        first_message_deliveries_weight: from.first_deliveries_weight,
        first_message_deliveries_decay: from.first_deliveries_decay,
        first_message_deliveries_cap: from.first_deliveries_cap,
        mesh_message_deliveries_weight: from.mesh_deliveries_weight,
        mesh_message_deliveries_decay: from.mesh_deliveries_decay,
        mesh_message_deliveries_cap: from.mesh_deliveries_cap,
        mesh_message_deliveries_threshold: from.mesh_deliveries_threshold,
        mesh_message_deliveries_window: from.mesh_deliveries_window,
        mesh_message_deliveries_activation: from.mesh_deliveries_activation,
        mesh_failure_penalty_weight: from.mesh_failure_weight,
        mesh_failure_penalty_decay: from.mesh_failure_decay,
        invalid_message_deliveries_weight: from.invalid_messages_weight,
        invalid_message_deliveries_decay: from.invalid_messages_decay,
    }
}
