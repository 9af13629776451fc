//! Refusal of scenarios that real nodes and kernels cannot run.

use undertone_sim::Scenario;
use undertone_sim::scenario::FaultKind;

use super::error::RunError;
use super::nodes::part_bytes;

/// Maximum number of node processes, for a large machine.
pub(crate) const MAX_NODES: u32 = 1_000;

/// Maximum number of messages: each needs a thread and a prepared body.
const MAX_MESSAGES: u32 = 10_000;

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

/// Checks that the testbed can run a scenario.
pub(crate) fn check(scenario: &Scenario) -> Result<(), RunError> {
    let Scenario { nodes, traffic, .. } = scenario;
    if *nodes > MAX_NODES {
        let cannot = "starts at most 1000 processes";
        return Err(refuse(
            "scenario.nodes",
            nodes,
            cannot,
            "take fewer (`--set scenario.nodes=100`), or run it with `undertone sim`",
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
        match fault.kind {
            FaultKind::ClockSkew { .. } if fault.at_ns > traffic.first_ns => {
                let key = format!("faults.{index}.at_s");
                let at_s = fault.at_ns as f64 / 1e9;
                let cannot = "sets clocks when nodes start";
                let remedy = "set it to traffic.first_s at most, or run it with `undertone sim`";
                return Err(refuse(key, at_s, cannot, remedy));
            }
            FaultKind::Silent => {
                let key = format!("faults.{index}.kind");
                let cannot = "starts nodes that forward messages";
                let remedy = "run it with `undertone sim`, or attack real nodes with `cargo xtask campaign --only hostile`";
                return Err(refuse(key, "silent", cannot, remedy));
            }
            _ => {}
        }
    }
    if let Some(services) = &scenario.services {
        let cannot = "starts relays, and no light clients";
        let remedy = "leave [services] out, or run it with `undertone sim`";
        let clients = services.light_clients;
        return Err(refuse("services.light_clients", clients, cannot, remedy));
    }
    for (index, group) in scenario.groups.iter().enumerate() {
        let own = [
            ("relay", group.relay.is_some()),
            ("topics", group.topics.is_some()),
            ("cpu", group.cpu.is_some()),
            ("policy", group.policy.is_some()),
        ];
        if let Some((key, _)) = own.iter().find(|(_, is_set)| *is_set) {
            let cannot = "starts honest nodes, all with the same flags";
            let remedy = "give the group rates, delay, loss or accepts_connections alone, or run it with `undertone sim`";
            return Err(refuse(
                format!("groups.{index}.{key}"),
                &group.name,
                cannot,
                remedy,
            ));
        }
    }
    let parts = scenario.relay.fragments;
    if parts > 1 && part_bytes(scenario).is_none() {
        let cannot = "has nodes that cut messages into parts of one length, 1000 bytes at least";
        let remedy = "take payloads of one size and parts of 1000 bytes, or `undertone sim`";
        return Err(refuse("relay.fragments", parts, cannot, remedy));
    }
    Ok(())
}

#[cfg(test)]
#[path = "tests/refuse.rs"]
mod tests;
