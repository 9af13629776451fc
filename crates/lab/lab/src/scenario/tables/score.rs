//! `[relay.thresholds]`, `[relay.score]`, `[relay.score.topic]`, `[relay.score.topics.NAME]`.

use std::collections::BTreeSet;
use std::net::IpAddr;

use undertone_gossip::{Evaluation, ScoreParams, Thresholds, TopicScoreParams};
use undertone_settings::{Error, MS, S, SectionKey, TomlEntry, keys};

use super::key::{FieldKey, Table, fields};
use super::values::{list, text};

pub(super) const THRESHOLDS: &[FieldKey<Thresholds>] = fields![
    any_number(): gossip, publish, graylist, accept_px, opportunistic_graft;
];

const EVALUATIONS: &[(&str, Evaluation)] = &[
    ("on-demand", Evaluation::OnDemand),
    ("at-decay", Evaluation::AtDecay),
];

const SCORE: &[FieldKey<ScoreParams>] = fields![
    word(EVALUATIONS): evaluation;
    any_number(): topic_score_cap, application_weight, ip_colocation_weight, behaviour_weight,
        behaviour_threshold, behaviour_decay, slow_peer_weight, slow_peer_threshold, slow_peer_decay,
        decay_to_zero;
    whole(0, 1_000_000): ip_colocation_threshold;
    duration(S): decay_interval_s = decay_interval, retain_score_s = retain_score;
    flag(): whole_quanta;
];

const TOPIC: &[FieldKey<TopicScoreParams>] = fields![
    any_number(): topic_weight, time_in_mesh_weight, time_in_mesh_cap, first_deliveries_weight,
        first_deliveries_decay, first_deliveries_cap, mesh_deliveries_weight, mesh_deliveries_decay,
        mesh_deliveries_cap, mesh_deliveries_threshold, mesh_failure_weight, mesh_failure_decay,
        invalid_messages_weight, invalid_messages_decay;
    duration(MS): time_in_mesh_quantum_ms = time_in_mesh_quantum,
        mesh_deliveries_window_ms = mesh_deliveries_window;
    duration(S): mesh_deliveries_activation_s = mesh_deliveries_activation;
];

/// The score parameters. A table without `enabled` turns scoring on.
pub(super) fn score_params(
    table: &Table<'_>,
    score: &mut Option<ScoreParams>,
) -> Result<(), Error> {
    keys!(table, SCORE => enabled, ip_colocation_allowed, topic, topics);
    let mut is_on = table.is_present() || score.is_some();
    enabled.flag(&mut is_on)?;
    *score = is_on.then(|| score.take().unwrap_or_default());
    if let Some(params) = score {
        table.fill(SCORE, params)?;
        ip_colocation_allowed.both(
            &mut params.ip_colocation_allowed,
            read_addresses,
            |allowed| {
                Some(list(
                    allowed.iter().map(|address| text(address.to_string())),
                ))
            },
        )?;
        topic.fields(TOPIC, &mut params.default_topic)?;
        let (topics_of, default) = (&mut params.topics, &params.default_topic);
        let expected = "tables [relay.score.topics.NAME]";
        topics.named(topics_of, default, expected, |table, topic| {
            keys!(table, TOPIC =>);
            table.fill(TOPIC, topic)
        })?;
    }
    table.check_all_read("relay.score.enabled is false")
}

fn read_addresses(key: SectionKey<'_>) -> Result<Option<BTreeSet<IpAddr>>, Error> {
    let Some(items) = key.list(|| "a list of IP addresses".to_owned())? else {
        return Ok(None);
    };
    let address = |item: &TomlEntry| item.as_text()?.parse().ok();
    let addresses = items
        .iter()
        .map(|item| address(item).ok_or_else(|| key.bad_item(item, "an IP address")));
    addresses.collect::<Result<_, _>>().map(Some)
}
