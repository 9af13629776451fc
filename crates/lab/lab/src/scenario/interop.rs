//! Scenarios of libp2p's gossipsub-interop: a script of instructions for numbered nodes, in JSON.
//!
//! Such a file is recognised by its content and becomes a document with the tables of a scenario, so overrides and
//! errors work as for any other. It does not describe the network; `network` has the distributions that its generator
//! draws from.

mod error;
mod network;
mod parameters;
mod script;

#[cfg(test)]
#[path = "tests/interop.rs"]
mod tests;

use std::path::Path;

use serde_json::{Map, Value, json};
use undertone_settings::{Origin, TomlEntry};

use super::error::ScenarioError;
use super::resolved::from_json;

pub use error::InteropError;
use script::Script;

/// Bytes that `undertone_sim` adds to a payload to make it a Waku message, not counting the payload's length field; a
/// validation delay also adds a proof.
const ENVELOPE_BYTES: u64 = 35;
const PROOF_BYTES: u64 = 339;
/// Shortest payload, bytes; the simulator stores the message's number in it.
const PAYLOAD_BYTES_MIN: u64 = 8;
/// Number of messages at the start that the framework's own analysis leaves out.
const WARM_UP_MESSAGES: usize = 4;
/// Minimum time simulated after the last message, seconds; a script need not wait that long.
const DRAIN_S: u64 = 10;
/// Room for the envelope of the largest message, bytes.
const ROOM_BYTES: u64 = 4096;

/// Whether a file is a script: JSON with a key `script`. No TOML begins with a brace.
pub(super) fn is_script(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.contains("\"script\"")
}

/// Reads a script as the document of a scenario.
pub(super) fn document(text: &str, path: &Path) -> Result<TomlEntry, ScenarioError> {
    let failed = |source| ScenarioError::Interop {
        path: path.to_owned(),
        source,
    };
    let content: Value = serde_json::from_str(text).map_err(|error| {
        failed(InteropError::Json {
            problem: error.to_string(),
        })
    })?;
    let script = Script::read(&content).map_err(failed)?;
    let origin = Origin::File {
        place: path.to_string_lossy().into(),
        line: 1,
    };
    Ok(from_json(&scenario(&script), &origin).expect("no value of the scenario is null"))
}

/// Converts a script to the tables of a scenario.
fn scenario(script: &Script) -> Value {
    let mut relay = router(&script.relay);
    let topics = script.topics.len().max(1);
    relay.insert("topics".to_owned(), json!(topics));
    let largest = script.messages.iter().map(|message| message.bytes).max();
    let max_bytes = largest.unwrap_or(0) + ROOM_BYTES;
    relay.insert(
        "max_message_bytes".to_owned(),
        json!(max_bytes.max(150 << 10)),
    );
    let has_proofs = script.validation_s > 0.0;
    let listed: Vec<Value> = script
        .messages
        .iter()
        .map(|message| {
            let payload_bytes = payload_bytes(message.bytes, has_proofs);
            json!([message.at_s, message.node, payload_bytes, message.topic])
        })
        .collect();
    let last_s = script.messages.iter().map(|message| message.at_s).max();
    let rest_s = script.end_s.saturating_sub(last_s.unwrap_or(0));
    let warm_up = WARM_UP_MESSAGES.min(listed.len().saturating_sub(1));
    let mut tables = json!({
        "scenario": {
            "description": format!("gossipsub-interop: {} nodes, {} messages", script.nodes, listed.len()),
            "nodes": script.nodes,
            "start_spread_s": script.start_spread_s,
        },
        "topology": {"kind": "edges", "edges": script.edges, "dialling": "one-by-one"},
        "network": network::table(),
        "relay": relay,
        "traffic": {
            "listed": listed,
            "warm_up_messages": warm_up,
            "drain_s": rest_s.max(DRAIN_S),
        },
    });
    if !script.groups.is_empty() {
        let groups = (1..).zip(&script.groups).map(|(number, group)| {
            json!({
                "name": format!("group {number}"),
                "members": group.members,
                "topics": group.topics,
                "relay": router(&group.relay),
            })
        });
        tables["groups"] = groups.collect();
    }
    if has_proofs {
        // A stand-in for validation: a proof takes as long to verify, and the limit is too high to matter.
        tables["rln"] = json!({
            "generation_ms": 0,
            "verification": "wait",
            "verification_ms": script.validation_s * 1e3,
            "message_limit": 65535,
            "epoch_s": 600,
        });
    }
    tables
}

/// Table of router parameters, as those of libp2p with these changed.
fn router(changed: &Map<String, Value>) -> Map<String, Value> {
    let mut relay = Map::new();
    relay.insert("base".to_owned(), json!("libp2p"));
    relay.extend(changed.clone());
    relay
}

/// Length of the payload of a message with the given length on the wire, bytes.
fn payload_bytes(message_bytes: u64, has_proof: bool) -> u64 {
    let proof = if has_proof { PROOF_BYTES } else { 0 };
    let rest = message_bytes.saturating_sub(ENVELOPE_BYTES + proof);
    // The payload's length is a varint, with 7 bits per byte.
    let digits = |bytes: u64| u64::from(64 - bytes.max(1).leading_zeros()).div_ceil(7);
    let payload = rest.saturating_sub(digits(rest));
    payload.max(PAYLOAD_BYTES_MIN)
}
