//! Trace of a run for the network viewer netviz of ethp2p: NDJSON of version 1 for its decoder `gossipsub`.
//!
//! The first line is a header with nodes and connections. Each further line is an event
//! `[microseconds, node, code, ...]`, in the order of time: `pb` (publish), `ms` (copy sent), `dl` (delivery) or `du`
//! (duplicate), with the peer, the topic and the message. The last line marks the trace as complete.

use std::io::{self, Write};

use serde_json::{Value, json};
use undertone_sim::{Outcome, Plan, Scenario, SimError};

/// Version of the format.
const VERSION: u32 = 1;
/// Decoder of the viewer that reads the trace.
const DECODER: &str = "gossipsub";
/// Virtual time 0 as a date, which the viewer only shows.
const TIME_ZERO: &str = "2023-11-14T22:10:00Z";
const BITS_PER_BYTE: f64 = 8.0;

/// Writes the trace of a run that recorded its copies.
///
/// # Errors
/// Fails if writing to `out` fails, or if `scenario` cannot be simulated; one that was run always can.
pub fn write_netviz<W: Write>(
    scenario: &Scenario,
    outcome: &Outcome,
    mut out: W,
) -> io::Result<()> {
    let plan = Plan::new(scenario, outcome.seed).map_err(impossible)?;
    writeln!(out, "{}", header(scenario, outcome, &plan))?;
    for (_, event) in events(outcome, &plan) {
        writeln!(out, "{event}")?;
    }
    writeln!(out, "{}", json!({"end": true}))
}

fn impossible(error: SimError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

fn header(scenario: &Scenario, outcome: &Outcome, plan: &Plan) -> Value {
    let mbit_per_s = |bytes_per_s: u64| bytes_per_s as f64 * BITS_PER_BYTE / 1e6;
    let nodes = (0..scenario.nodes).map(|node| {
        let (up, down) = plan.rates(node);
        json!({"num": node, "upload_bw_mbps": mbit_per_s(up), "download_bw_mbps": mbit_per_s(down)})
    });
    let edges = plan.dials().into_iter().map(|dial| {
        let latency_ms = plan.one_way_ns(dial.from, dial.to) as f64 / 1e6;
        json!({"source": dial.from, "target": dial.to, "latency_ms": latency_ms})
    });
    json!({
        "v": VERSION,
        "decoderName": DECODER,
        "t0": TIME_ZERO,
        "nodes": (0..scenario.nodes).map(name).collect::<Vec<_>>(),
        "topology": {"nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>()},
        "config": {"name": scenario.name, "seed": outcome.seed},
    })
}

fn name(node: u32) -> String {
    format!("n{node}")
}

/// Events in the order of time. Simultaneous events are ordered causally.
fn events(outcome: &Outcome, plan: &Plan) -> Vec<((u64, u8), Value)> {
    let micros = |ns: u64| ns as f64 / 1e3;
    let topics: Vec<String> = outcome
        .messages
        .iter()
        .map(|m| plan.topic(m.index))
        .collect();
    let topic = |message: u32| topics[message as usize].as_str();
    let mut events = Vec::new();
    for message in &outcome.messages {
        let (at_ns, number) = (message.published_ns, message.index);
        let id = number.to_string();
        let event = json!([
            micros(at_ns),
            message.publisher,
            "pb",
            topic(number),
            id,
            message.payload_bytes
        ]);
        events.push(((at_ns, 0), event));
    }
    let recorded = outcome.recorded.as_deref();
    for copy in recorded.map_or(&[][..], |recorded| &recorded.copies) {
        let (id, topic) = (copy.message.to_string(), topic(copy.message));
        let sent = json!([
            micros(copy.sent_ns),
            copy.from,
            "ms",
            name(copy.to),
            topic,
            id,
            copy.bytes
        ]);
        events.push(((copy.sent_ns, 2), sent));
        if let Some(received_ns) = copy.received_ns.filter(|_| !copy.is_first) {
            let again = json!([
                micros(received_ns),
                copy.to,
                "du",
                name(copy.from),
                topic,
                id
            ]);
            events.push(((received_ns, 3), again));
        }
    }
    for delivery in &outcome.deliveries {
        let (at_ns, id) = (delivery.received_ns, delivery.message.to_string());
        let from = name(delivery.from);
        let event = json!([
            micros(at_ns),
            delivery.receiver,
            "dl",
            from,
            topic(delivery.message),
            id
        ]);
        events.push(((at_ns, 1), event));
    }
    events.sort_by_key(|(order, _)| *order);
    events
}

#[cfg(test)]
#[path = "tests/netviz.rs"]
mod tests;
