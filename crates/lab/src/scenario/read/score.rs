//! Reader of `[relay.thresholds]`, `[relay.score]`, `[relay.score.topic]`, `[relay.score.topics.NAME]`.

use std::net::IpAddr;

use undertone_gossip::{Evaluation, ScoreParams, Thresholds, TopicScoreParams};

use super::super::ScenarioError;
use super::super::section::{MS, S, Section};
use super::super::tree::{Entry, Value};

const THRESHOLDS: &[&str] = &[
    "gossip",
    "publish",
    "graylist",
    "accept_px",
    "opportunistic_graft",
];

const SCORE: &[&str] = &[
    "enabled",
    "evaluation",
    "topic_score_cap",
    "application_weight",
    "ip_colocation_weight",
    "ip_colocation_threshold",
    "ip_colocation_allowed",
    "behaviour_weight",
    "behaviour_threshold",
    "behaviour_decay",
    "slow_peer_weight",
    "slow_peer_threshold",
    "slow_peer_decay",
    "decay_interval_s",
    "decay_to_zero",
    "retain_score_s",
    "whole_quanta",
    "topic",
    "topics",
];

const TOPIC: &[&str] = &[
    "topic_weight",
    "time_in_mesh_weight",
    "time_in_mesh_quantum_ms",
    "time_in_mesh_cap",
    "first_deliveries_weight",
    "first_deliveries_decay",
    "first_deliveries_cap",
    "mesh_deliveries_weight",
    "mesh_deliveries_decay",
    "mesh_deliveries_cap",
    "mesh_deliveries_threshold",
    "mesh_deliveries_window_ms",
    "mesh_deliveries_activation_s",
    "mesh_failure_weight",
    "mesh_failure_decay",
    "invalid_messages_weight",
    "invalid_messages_decay",
];

pub(super) fn thresholds(
    relay: &Section<'_>,
    thresholds: &mut Thresholds,
) -> Result<(), ScenarioError> {
    let section = relay.below("thresholds", THRESHOLDS)?;
    for (key, target) in [
        ("gossip", &mut thresholds.gossip),
        ("publish", &mut thresholds.publish),
        ("graylist", &mut thresholds.graylist),
        ("accept_px", &mut thresholds.accept_px),
        ("opportunistic_graft", &mut thresholds.opportunistic_graft),
    ] {
        section.set_number(key, target)?;
    }
    Ok(())
}

/// Reads the score parameters. A table without `enabled` turns scoring on.
pub(super) fn score(
    relay: &Section<'_>,
    score: &mut Option<ScoreParams>,
) -> Result<(), ScenarioError> {
    let section = relay.below("score", SCORE)?;
    if section.is_present() {
        let enabled = section.flag("enabled")?.unwrap_or(true);
        *score = enabled.then(|| score.take().unwrap_or_default());
    }
    if let Some(params) = score {
        peer(&section, params)?;
        topic(&section.below("topic", TOPIC)?, &mut params.default_topic)?;
        topics(&section, params)?;
    }
    section.check_all_read("relay.score.enabled is false")
}

fn peer(section: &Section<'_>, params: &mut ScoreParams) -> Result<(), ScenarioError> {
    let words = [
        ("on-demand", Evaluation::OnDemand),
        ("at-decay", Evaluation::AtDecay),
    ];
    if let Some(evaluation) = section.word("evaluation", &words)? {
        params.evaluation = evaluation;
    }
    for (key, target) in [
        ("topic_score_cap", &mut params.topic_score_cap),
        ("application_weight", &mut params.application_weight),
        ("ip_colocation_weight", &mut params.ip_colocation_weight),
        ("behaviour_weight", &mut params.behaviour_weight),
        ("behaviour_threshold", &mut params.behaviour_threshold),
        ("behaviour_decay", &mut params.behaviour_decay),
        ("slow_peer_weight", &mut params.slow_peer_weight),
        ("slow_peer_threshold", &mut params.slow_peer_threshold),
        ("slow_peer_decay", &mut params.slow_peer_decay),
        ("decay_to_zero", &mut params.decay_to_zero),
    ] {
        section.set_number(key, target)?;
    }
    let colocation = &mut params.ip_colocation_threshold;
    section.set_whole("ip_colocation_threshold", colocation, 0, 1_000_000)?;
    section.set_time("decay_interval_s", &mut params.decay_interval, S)?;
    section.set_time("retain_score_s", &mut params.retain_score, S)?;
    section.set_flag("whole_quanta", &mut params.whole_quanta)?;
    if let Some(entry) = section.get("ip_colocation_allowed") {
        let Value::List(items) = &entry.value else {
            return Err(section.bad("ip_colocation_allowed", "a list of IP addresses"));
        };
        let addresses = items.iter().map(|item| {
            let expected = "an IP address";
            address(item).ok_or_else(|| section.bad_entry("ip_colocation_allowed", item, expected))
        });
        params.ip_colocation_allowed = addresses.collect::<Result<_, _>>()?;
    }
    Ok(())
}

fn address(item: &Entry) -> Option<IpAddr> {
    match &item.value {
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}

fn topics(section: &Section<'_>, params: &mut ScoreParams) -> Result<(), ScenarioError> {
    let Some(entry) = section.get("topics") else {
        return Ok(());
    };
    let Value::Table(table) = &entry.value else {
        return Err(section.bad("topics", "tables [relay.score.topics.NAME]"));
    };
    for (name, entry) in table {
        let mut topic_params = params.default_topic.clone();
        let full = format!("relay.score.topics.{name}");
        topic(&Section::new(entry, full, TOPIC)?, &mut topic_params)?;
        params.topics.insert(name.clone(), topic_params);
    }
    Ok(())
}

fn topic(section: &Section<'_>, params: &mut TopicScoreParams) -> Result<(), ScenarioError> {
    for (key, target) in [
        ("topic_weight", &mut params.topic_weight),
        ("time_in_mesh_weight", &mut params.time_in_mesh_weight),
        ("time_in_mesh_cap", &mut params.time_in_mesh_cap),
        (
            "first_deliveries_weight",
            &mut params.first_deliveries_weight,
        ),
        ("first_deliveries_decay", &mut params.first_deliveries_decay),
        ("first_deliveries_cap", &mut params.first_deliveries_cap),
        ("mesh_deliveries_weight", &mut params.mesh_deliveries_weight),
        ("mesh_deliveries_decay", &mut params.mesh_deliveries_decay),
        ("mesh_deliveries_cap", &mut params.mesh_deliveries_cap),
        (
            "mesh_deliveries_threshold",
            &mut params.mesh_deliveries_threshold,
        ),
        ("mesh_failure_weight", &mut params.mesh_failure_weight),
        ("mesh_failure_decay", &mut params.mesh_failure_decay),
        (
            "invalid_messages_weight",
            &mut params.invalid_messages_weight,
        ),
        ("invalid_messages_decay", &mut params.invalid_messages_decay),
    ] {
        section.set_number(key, target)?;
    }
    section.set_time(
        "time_in_mesh_quantum_ms",
        &mut params.time_in_mesh_quantum,
        MS,
    )?;
    section.set_time(
        "mesh_deliveries_window_ms",
        &mut params.mesh_deliveries_window,
        MS,
    )?;
    section.set_time(
        "mesh_deliveries_activation_s",
        &mut params.mesh_deliveries_activation,
        S,
    )
}
