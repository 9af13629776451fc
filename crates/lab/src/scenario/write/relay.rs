//! Conversion of the relay and its router to `[relay]`.

use undertone_gossip::{Config, FloodPublish, ScoreParams};
use undertone_settings::TomlValue;
use undertone_sim::scenario::RelaySetup;

use super::values::{WrittenTable, count, list, tables, text};
use crate::scenario::read::{LARGE, LIMITS, ROUTER, SCORE, THRESHOLDS, TOPIC};
use crate::scenario::strategies;

pub(super) fn write(setup: &RelaySetup) -> TomlValue {
    let mut table = WrittenTable::default();
    let config = &setup.gossip;
    table.set("profile", text(config.policy.profile));
    table.set("protocol", text(&setup.protocol));
    table.set("max_message_bytes", count(setup.max_message_bytes as u64));
    table.set("topics", count(setup.topics));
    if let Some(per_node) = setup.topics_per_node {
        table.set("topics_per_node", count(per_node));
    }
    table.set("fragments", count(setup.fragments));
    table.fill(ROUTER.write, config);
    let mut known = strategies::all().into_iter();
    if let Some((name, _)) = known.find(|(_, choice)| *choice == config.strategy) {
        table.set("strategy", text(name));
    }
    flood_publish(&mut table, config.flood_publish);
    if config.idontwant_threshold_bytes == usize::MAX {
        table.set("idontwant", TomlValue::Bool(false));
    } else {
        let bytes = config.idontwant_threshold_bytes as u64;
        table.set("idontwant_threshold_bytes", count(bytes));
    }
    table.set("thresholds", thresholds(config));
    table.set("score", score(config.score.as_ref()));
    let mut large = WrittenTable::default();
    large.fill(LARGE.write, &config.large);
    table.set("large", large.finish());
    let mut limits = WrittenTable::default();
    limits.fill(LIMITS.write, &config.limits);
    table.set("limits", limits.finish());
    table.finish()
}

fn flood_publish(table: &mut WrittenTable, flood: FloodPublish) {
    let name = match flood {
        FloodPublish::Off => "off",
        FloodPublish::On => "on",
        FloodPublish::BoundedByRate { rate_bytes_per_ms } => {
            let rate = count(rate_bytes_per_ms as u64);
            table.set("flood_publish_bytes_per_ms", rate);
            "bounded-by-rate"
        }
    };
    table.set("flood_publish", text(name));
}

fn thresholds(config: &Config) -> TomlValue {
    let mut table = WrittenTable::default();
    table.fill(THRESHOLDS.write, &config.thresholds);
    table.finish()
}

fn score(score: Option<&ScoreParams>) -> TomlValue {
    let mut table = WrittenTable::default();
    table.set("enabled", TomlValue::Bool(score.is_some()));
    if let Some(score) = score {
        table.fill(SCORE.write, score);
        let allowed = score.ip_colocation_allowed.iter();
        let allowed = allowed.map(|address| text(address.to_string()));
        table.set("ip_colocation_allowed", list(allowed));
        table.set("topic", topic(&score.default_topic));
        if !score.topics.is_empty() {
            table.set("topics", tables(&score.topics, topic));
        }
    }
    table.finish()
}

fn topic(topic: &undertone_gossip::TopicScoreParams) -> TomlValue {
    let mut table = WrittenTable::default();
    table.fill(TOPIC.write, topic);
    table.finish()
}
