//! Gathering the results of a run from its nodes and their logs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;
use undertone_sim::outcome::{Counters, FirstCopy, MeshDegree, Message, Outcome, trace_back};
use undertone_sim::{Plan, Scenario};
use undertone_testbed::{Host, Testbed, TestbedError};

use super::error::RunError;
use super::log::{self, NodeLog};
use super::node::NodeProcess;

/// Outcome of a run, with the times that only real nodes report.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    pub(crate) outcome: Outcome,
    /// Times at which messages left their publishers, after their proofs, nanoseconds; by message number.
    pub(crate) sent_ns: Vec<u64>,
    /// Times from the last byte to the verdict, nanoseconds, in the order of the deliveries.
    pub(crate) validate_ns: Vec<u64>,
    /// Times for making each proof, nanoseconds.
    pub(crate) prove_ns: Vec<u64>,
}

/// Data that the logs do not contain, most of it requested from the nodes before they end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    /// Numbers of the messages that did not leave their publishers.
    pub(crate) unsent: BTreeSet<u32>,
    counters: Vec<Counters>,
    meshes: Vec<u32>,
    connections: Vec<u32>,
}

/// Asks every running node for its totals.
pub(crate) fn ask(nodes: &[NodeProcess], testbed: &Testbed) -> Result<Ends, RunError> {
    let mut ends = Ends::default();
    for node in nodes {
        let host = &testbed.hosts()[node.index as usize];
        let (received, sent) = wire_bytes(host)?;
        let wire = Counters {
            wire_sent_bytes: sent,
            wire_received_bytes: received,
            ..Counters::default()
        };
        // A node that has ended or never started cannot be asked.
        if !node.runs() {
            ends.counters.push(wire);
            ends.connections.push(0);
            continue;
        }
        let ask = |path| Ok::<_, RunError>(node.ask(host, path)?.unwrap_or_default());
        let gossip = ask("/debug/v1/gossip")?;
        let count = |key: &str| gossip[key].as_u64().unwrap_or(0);
        ends.counters.push(Counters {
            duplicates: count("duplicatesReceived"),
            first_copies: count("firstCopiesReceived"),
            ..wire
        });
        let mesh = ask("/admin/v1/peers/mesh")?;
        let of_shard = |shard: &Value| shard["peers"].as_array().map_or(0, Vec::len) as u32;
        ends.meshes
            .extend(mesh.as_array().into_iter().flatten().map(of_shard));
        let connected = ask("/admin/v1/peers/connected")?;
        ends.connections
            .push(connected.as_array().map_or(0, Vec::len) as u32);
    }
    Ok(ends)
}

/// Returns the bytes of IP packets that a namespace has received and sent; 0 where the system does not
/// report them.
fn wire_bytes(host: &Host) -> Result<(u64, u64), RunError> {
    let reading = host.spawn(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
    let what = "a table of devices";
    let table = reading.join().map_err(|_| TestbedError::Gone { what })?;
    Ok(device_bytes(&table.unwrap_or_default()).unwrap_or((0, 0)))
}

fn device_bytes(table: &str) -> Option<(u64, u64)> {
    let line = table
        .lines()
        .find_map(|line| line.trim().strip_prefix("tun0:"))?;
    let mut columns = line.split_whitespace().map(|column| column.parse().ok());
    // Eight columns for received data, then as many for sent data.
    Some((columns.next()??, columns.nth(7)??))
}

/// Combines the logs into an outcome. `zero_ns` is the start of scenario time, `now_ns` its end, both by
/// the clock of the logs. `packets` are the numbers of packets delivered and dropped.
pub(crate) fn gather(
    scenario: &Scenario,
    plan: &Plan,
    seed: u64,
    nodes: &[NodeProcess],
    ends: Ends,
    (zero_ns, now_ns): (u64, u64),
    packets: (u64, u64),
) -> Result<Observed, RunError> {
    let index_of: BTreeMap<_, _> = nodes
        .iter()
        .map(|node| (&*node.peer_id, node.index))
        .collect();
    let logs = nodes.iter().map(|node| log::read(&node.deliveries));
    let logs = logs.collect::<Result<Vec<_>, _>>()?;
    let mut messages = plan.messages().to_vec();
    let mut sent_ns = Vec::new();
    for message in &mut messages {
        let log = &logs[message.publisher as usize];
        let Some((asked, sent)) = published(log, message) else {
            if ends.unsent.contains(&message.index) {
                sent_ns.push(message.published_ns);
                continue;
            }
            return Err(RunError::Unpublished {
                message: message.index,
                node: message.publisher,
            });
        };
        message.published_ns = asked.saturating_sub(zero_ns);
        sent_ns.push(sent.saturating_sub(zero_ns));
    }
    let mut firsts = Vec::new();
    let mut validate = BTreeMap::new();
    for (node, log) in nodes.iter().zip(&logs) {
        for delivered in &log.delivered {
            let from = delivered
                .from
                .as_deref()
                .and_then(|peer| index_of.get(peer));
            let known = (delivered.message as usize) < messages.len();
            let (Some(from), true) = (from, known) else {
                continue;
            };
            firsts.push(FirstCopy {
                message: delivered.message,
                receiver: node.index,
                from: *from,
                received_ns: delivered.validated_ns.saturating_sub(zero_ns),
            });
            let took_ns = delivered.validated_ns.saturating_sub(delivered.received_ns);
            validate.insert((delivered.message, node.index), took_ns);
        }
    }
    let (delivered_packets, dropped_packets) = packets;
    let mut counters = ends.counters;
    if let Some(first) = counters.first_mut() {
        // The network knows the number of dropped packets, but not their senders.
        first.packets_dropped = dropped_packets;
    }
    let outcome = Outcome {
        seed,
        virtual_ns: now_ns.saturating_sub(zero_ns),
        events: delivered_packets,
        expected: plan.expected(),
        deliveries: trace_back(&messages, scenario.nodes, firsts),
        messages,
        nodes: counters,
        mesh_degree: mesh_degree(&ends.meshes),
        connections: ends.connections,
        trace_hash: None,
        interrupted: false,
        violations: Vec::new(),
        services: None,
        recorded: None,
        attack: None,
    };
    let validate_ns = outcome.deliveries.iter();
    let validate_ns = validate_ns
        .map(|d| validate[&(d.message, d.receiver)])
        .collect();
    let prove_ns = logs.iter().flat_map(|log| &log.proofs);
    let prove_ns = prove_ns
        .map(|(asked, made)| made.saturating_sub(*asked))
        .collect();
    Ok(Observed {
        outcome,
        sent_ns,
        validate_ns,
        prove_ns,
    })
}

/// Returns when a message reached its node, and when it left, after its proof if it has one.
fn published(log: &NodeLog, message: &Message) -> Option<(u64, u64)> {
    let own = |d: &&log::LoggedDelivery| d.message == message.index && d.from.is_none();
    let sent_ns = log.delivered.iter().find(own)?.received_ns;
    let proof = log
        .proofs
        .iter()
        .rev()
        .find(|(_, made_ns)| *made_ns <= sent_ns);
    Some((proof.map_or(sent_ns, |(asked_ns, _)| *asked_ns), sent_ns))
}

fn mesh_degree(sizes: &[u32]) -> MeshDegree {
    let sum: u64 = sizes.iter().map(|size| u64::from(*size)).sum();
    MeshDegree {
        min: sizes.iter().copied().min().unwrap_or(0),
        mean: sum as f64 / sizes.len().max(1) as f64,
        max: sizes.iter().copied().max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_has_its_bytes() {
        let table = "Inter-|   Receive\n face |bytes\n    lo:  10 1 0 0 0 0 0 0 10 1\n  \
                     tun0: 1234 5 0 0 0 0 0 0 678 9 0 0 0 0 0 0\n";
        assert_eq!(device_bytes(table), Some((1234, 678)));
        assert_eq!(device_bytes("lo: 1 2"), None);
    }

    #[test]
    fn a_message_was_asked_for_with_the_last_proof_before_it() {
        let message = Message {
            index: 4,
            publisher: 0,
            payload_bytes: 9,
            published_ns: 0,
            warm_up: false,
        };
        let own = |message, received_ns| log::LoggedDelivery {
            message,
            from: None,
            received_ns,
            validated_ns: received_ns + 1,
        };
        let mut log = NodeLog {
            delivered: vec![own(3, 100), own(4, 250), own(5, 400)],
            proofs: vec![(10, 90), (150, 240), (300, 390)],
        };
        assert_eq!(published(&log, &message), Some((150, 250)));
        log.proofs.clear();
        assert_eq!(published(&log, &message), Some((250, 250)));
        log.delivered.remove(1);
        assert_eq!(published(&log, &message), None);
    }
}
