//! What a scenario may not ask of real nodes and real kernels.

use undertone_gossip::Config;
use undertone_node::assemble::relay_config;
use undertone_node::config::NodeConfig;
use undertone_sim::Scenario;
use undertone_sim::scenario::FaultKind;

use super::RunError;

/// Processes that a machine of ordinary size holds.
pub(crate) const MAX_NODES: u32 = 100;

/// Messages for which a thread and a body are prepared.
const MAX_MESSAGES: u32 = 10_000;

const SIMULATE: &str = "leave it away, or run it with `undertone sim`";

fn refuse(
    key: impl Into<String>,
    value: impl ToString,
    cannot: &'static str,
    remedy: &'static str,
) -> RunError {
    RunError::Unsupported {
        key: key.into(),
        value: value.to_string(),
        cannot,
        remedy,
    }
}

/// Checks a scenario against the configuration that its nodes would get.
pub(crate) fn check(scenario: &Scenario, node: &NodeConfig) -> Result<(), RunError> {
    let Scenario { nodes, traffic, .. } = scenario;
    if *nodes > MAX_NODES {
        let cannot = "starts at most 100 processes";
        return Err(refuse(
            "scenario.nodes",
            nodes,
            cannot,
            "set scenario.nodes=100 (`--set scenario.nodes=100`), or run it with `undertone sim`",
        ));
    }
    if traffic.messages > MAX_MESSAGES {
        let cannot = "publishes at most 10000 messages";
        return Err(refuse(
            "traffic.messages",
            traffic.messages,
            cannot,
            "take fewer",
        ));
    }
    for (index, fault) in scenario.faults.iter().enumerate() {
        let kind = match fault.kind {
            FaultKind::ClockSkew { .. } => "\"clock-skew\"",
            FaultKind::Spam { .. } => "\"spam\"",
            _ => continue,
        };
        let key = format!("faults.{index}.kind");
        return Err(refuse(key, kind, "has no such fault", SIMULATE));
    }
    rate_limit(scenario, node)?;
    gossip(&scenario.relay.gossip, &relay_config(node).gossip)
}

fn rate_limit(scenario: &Scenario, node: &NodeConfig) -> Result<(), RunError> {
    let (Some(rln), Some(network)) = (&scenario.rln, &node.network.rln) else {
        return Ok(());
    };
    let cannot = "has the limit of the network `local`";
    if rln.epoch_s != network.epoch_size_s {
        let remedy = "set rln.epoch_s = 600";
        return Err(refuse("rln.epoch_s", rln.epoch_s, cannot, remedy));
    }
    if u64::from(rln.message_limit) > network.user_message_limit {
        let remedy = "set rln.message_limit = 100 at most";
        return Err(refuse(
            "rln.message_limit",
            rln.message_limit,
            cannot,
            remedy,
        ));
    }
    Ok(())
}

/// Every parameter of the router that a node cannot be told must be what a node has.
fn gossip(wanted: &Config, node: &Config) -> Result<(), RunError> {
    let differs = |differs: bool, key: &'static str| differs.then_some(key);
    // A bound on frames follows from the longest message, in the simulator as in a node.
    let mut limits = wanted.limits.clone();
    limits.frame_bytes_max = node.limits.frame_bytes_max;
    let keys = [
        differs(wanted.degrees != node.degrees, "relay.d and its like"),
        differs(wanted.strategy != node.strategy, "relay.strategy"),
        differs(wanted.heartbeat != node.heartbeat, "relay.heartbeat_ms"),
        differs(
            wanted.heartbeat_delay != node.heartbeat_delay,
            "relay.heartbeat_delay_ms",
        ),
        differs(
            wanted.gossip_factor != node.gossip_factor,
            "relay.gossip_factor",
        ),
        differs(
            wanted.history_length != node.history_length,
            "relay.history_length",
        ),
        differs(
            wanted.history_gossip != node.history_gossip,
            "relay.history_gossip",
        ),
        differs(wanted.fanout_ttl != node.fanout_ttl, "relay.fanout_ttl_s"),
        differs(wanted.seen_ttl != node.seen_ttl, "relay.seen_ttl_s"),
        differs(
            wanted.prune_backoff != node.prune_backoff,
            "relay.prune_backoff_s",
        ),
        differs(
            wanted.unsubscribe_backoff != node.unsubscribe_backoff,
            "relay.unsubscribe_backoff_s",
        ),
        differs(
            wanted.backoff_slack != node.backoff_slack,
            "relay.backoff_slack_s",
        ),
        differs(
            wanted.graft_flood_threshold != node.graft_flood_threshold,
            "relay.graft_flood_threshold_s",
        ),
        differs(
            wanted.flood_publish != node.flood_publish,
            "relay.flood_publish",
        ),
        differs(
            wanted.opportunistic_graft_heartbeats != node.opportunistic_graft_heartbeats,
            "relay.opportunistic_graft_heartbeats",
        ),
        differs(
            wanted.opportunistic_graft_peers != node.opportunistic_graft_peers,
            "relay.opportunistic_graft_peers",
        ),
        differs(
            wanted.iwant_followup != node.iwant_followup,
            "relay.iwant_followup_s",
        ),
        differs(
            wanted.gossip_retransmissions != node.gossip_retransmissions,
            "relay.gossip_retransmissions",
        ),
        differs(
            wanted.iwant_in_flight_max != node.iwant_in_flight_max,
            "relay.iwant_in_flight_max",
        ),
        differs(
            wanted.idontwant_threshold_bytes != node.idontwant_threshold_bytes,
            "relay.idontwant",
        ),
        differs(
            wanted.idontwant_ttl_heartbeats != node.idontwant_ttl_heartbeats,
            "relay.idontwant_ttl_heartbeats",
        ),
        differs(
            (wanted.peer_exchange, wanted.peer_exchange_peers)
                != (node.peer_exchange, node.peer_exchange_peers),
            "relay.peer_exchange",
        ),
        differs(wanted.thresholds != node.thresholds, "relay.thresholds"),
        differs(wanted.score != node.score, "relay.score"),
        differs(
            wanted.disconnect_graylisted != node.disconnect_graylisted,
            "relay.disconnect_graylisted",
        ),
        differs(limits != node.limits, "relay.limits"),
    ];
    match keys.into_iter().flatten().next() {
        None => Ok(()),
        Some(key) => {
            let value = "another value than a node has";
            let cannot = "runs `undertone node`, which has no flag for it";
            Err(refuse(key, value, cannot, SIMULATE))
        }
    }
}

#[cfg(test)]
mod tests;
