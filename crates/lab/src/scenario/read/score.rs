//! TreeReader of `[relay.thresholds]`, `[relay.score]`, `[relay.score.topic]`, `[relay.score.topics.NAME]`.

use std::net::IpAddr;

use undertone_gossip::{Evaluation, ScoreParams, Thresholds, TopicScoreParams};
use undertone_settings::{Error, MS, S, Section, SectionKey, TomlEntry, keys};

use super::key_table::{KeyTable, key_table};

pub(in crate::scenario) const THRESHOLDS: KeyTable<Thresholds> = key_table![
    any_number(): gossip, publish, graylist, accept_px, opportunistic_graft;
];

const EVALUATIONS: &[(&str, Evaluation)] = &[
    ("on-demand", Evaluation::OnDemand),
    ("at-decay", Evaluation::AtDecay),
];

pub(in crate::scenario) const SCORE: KeyTable<ScoreParams> = key_table![
    word(EVALUATIONS): evaluation;
    any_number(): topic_score_cap, application_weight, ip_colocation_weight, behaviour_weight,
        behaviour_threshold, behaviour_decay, slow_peer_weight, slow_peer_threshold, slow_peer_decay,
        decay_to_zero;
    whole(0, 1_000_000): ip_colocation_threshold;
    duration(S): decay_interval_s = decay_interval, retain_score_s = retain_score;
    flag(): whole_quanta;
];

pub(in crate::scenario) const TOPIC: KeyTable<TopicScoreParams> = key_table![
    any_number(): topic_weight, time_in_mesh_weight, time_in_mesh_cap, first_deliveries_weight,
        first_deliveries_decay, first_deliveries_cap, mesh_deliveries_weight, mesh_deliveries_decay,
        mesh_deliveries_cap, mesh_deliveries_threshold, mesh_failure_weight, mesh_failure_decay,
        invalid_messages_weight, invalid_messages_decay;
    duration(MS): time_in_mesh_quantum_ms = time_in_mesh_quantum,
        mesh_deliveries_window_ms = mesh_deliveries_window;
    duration(S): mesh_deliveries_activation_s = mesh_deliveries_activation;
];

pub(super) fn read_thresholds(
    key: SectionKey<'_>,
    thresholds: &mut Thresholds,
) -> Result<(), Error> {
    let section = key.table()?;
    keys!(section, THRESHOLDS.read =>);
    section.fill(THRESHOLDS.read, thresholds)
}

/// Reads the score parameters. A table without `enabled` turns scoring on.
pub(super) fn read_score(
    key: SectionKey<'_>,
    score: &mut Option<ScoreParams>,
) -> Result<(), Error> {
    let section = key.table()?;
    keys!(section, SCORE.read => enabled, ip_colocation_allowed, topic, topics);
    if section.is_present() {
        let enabled = enabled.flag()?.unwrap_or(true);
        *score = enabled.then(|| score.take().unwrap_or_default());
    }
    if let Some(params) = score {
        section.fill(SCORE.read, params)?;
        if let Some(items) = ip_colocation_allowed.list(|| "a list of IP addresses".to_owned())? {
            let addresses = items.iter().map(|item| {
                address(item).ok_or_else(|| ip_colocation_allowed.bad_item(item, "an IP address"))
            });
            params.ip_colocation_allowed = addresses.collect::<Result<_, _>>()?;
        }
        read_topic(&topic.table()?, &mut params.default_topic)?;
        for (name, section) in topics.tables("tables [relay.score.topics.NAME]")? {
            let mut topic = params.default_topic.clone();
            read_topic(&section, &mut topic)?;
            params.topics.insert(name.to_owned(), topic);
        }
    }
    section.check_all_read("relay.score.enabled is false")
}

fn address(item: &TomlEntry) -> Option<IpAddr> {
    item.as_text()?.parse().ok()
}

fn read_topic(section: &Section<'_>, params: &mut TopicScoreParams) -> Result<(), Error> {
    keys!(section, TOPIC.read =>);
    section.fill(TOPIC.read, params)
}
