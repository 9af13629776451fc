//! Gossip parameters from the configuration.

use std::time::Duration;

use undertone_gossip::{Config, FloodPublish, StrategyKind, Topic, TopicBudget};
use undertone_message::{PubsubTopic, Shard};

use crate::config::{GossipOverrides, ShardBandwidth};

/// Delay in reduced sending after which a message that has not arrived is requested with IWANT. Nearly all
/// copies arrive earlier.
const IWANT_DELAY: Duration = Duration::from_millis(500);

/// Applies the gossip parameters that the configuration sets.
pub(super) fn apply(config: &mut Config, overrides: &GossipOverrides) {
    let degrees = &mut config.degrees;
    set(&mut degrees.d, overrides.d);
    set(&mut degrees.d_low, overrides.d_low);
    set(&mut degrees.d_high, overrides.d_high);
    set(&mut degrees.d_score, overrides.d_score);
    set(&mut degrees.d_out, overrides.d_out);
    set(&mut degrees.d_lazy, overrides.d_lazy);
    set(
        &mut config.heartbeat,
        overrides.heartbeat_ms.map(Duration::from_millis),
    );
    set(&mut config.gossip_factor, overrides.gossip_factor);
    set(&mut config.history_length, overrides.history_length);
    set(&mut config.history_gossip, overrides.history_gossip);
    set(
        &mut config.seen_ttl,
        overrides.seen_ttl_s.map(Duration::from_secs),
    );
    set(
        &mut config.prune_backoff,
        overrides.prune_backoff_s.map(Duration::from_secs),
    );
    set(&mut config.strategy, overrides.strategy.map(Into::into));
    if overrides.strategy == Some(StrategyKind::Reduced) {
        config.large.push = config.degrees.d_low.saturating_sub(1).max(1);
        config.large.iwant_delay = IWANT_DELAY;
    }
    set(&mut config.peer_exchange, overrides.peer_exchange);
    if overrides.flood_publish == Some(false) {
        config.flood_publish = FloodPublish::Off;
    }
}

/// Sets the bandwidth limits of the shards of a cluster.
pub(super) fn limit_shards(config: &mut Config, bandwidth: &ShardBandwidth, cluster: u16) {
    config.topic_budget = bandwidth.each_bytes_per_s.map(TopicBudget::per_second);
    let of_shard = bandwidth.of_shard.iter().map(|(index, bytes_per_s)| {
        let shard = Shard {
            cluster,
            index: *index,
        };
        let topic = PubsubTopic::Static(shard).to_string();
        (Topic::new(&topic), TopicBudget::per_second(*bytes_per_s))
    });
    config.topic_budgets = of_shard.collect();
}

fn set<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}
