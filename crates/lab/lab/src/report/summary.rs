//! Figures of one run: the file `summary.json`.

use std::collections::BTreeMap;

use serde::Serialize;
use undertone_sim::outcome::{Counters, Delivery, KindCounter, Message};
use undertone_sim::{Outcome, Scenario};

use super::{AttackSummary, GroupSummary, Latency, RunCosts, ServicesSummary, Sorted};
use crate::scenario::ResolvedScenario;
use crate::validity::{OutsideChecked, validity};

/// Number of nodes reached, by number of hops.
pub(crate) type Hops = BTreeMap<u16, u64>;

/// Figures of one run. Statistics do not include the warm-up messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// Number of nodes in the scenario.
    pub nodes: u32,
    /// Commit of the program.
    pub commit: String,
    /// Every parameter of the scenario with its origin; left out where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<ResolvedScenario>,
    /// Whether the run was stopped before its end; left out if it was not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Virtual time that passed, seconds.
    pub virtual_s: f64,
    /// Wall time, processor time and memory.
    #[serde(flatten)]
    pub measured: RunCosts,
    /// Number of events handled.
    pub events: u64,
    /// Deliveries that a network without faults would make, including the warm-up.
    pub expected: u64,
    /// Deliveries made, including the warm-up.
    pub delivered: u64,
    /// Latency of the counted deliveries; `None` without any.
    pub latency_ms: Option<Latency>,
    /// Counted deliveries, by the hops that the first copy crossed.
    pub hops: BTreeMap<u16, u64>,
    /// Figures of every message, including the warm-up.
    pub per_message: Vec<PerMessage>,
    /// Figures of the warm-up, which the statistics above leave out; `None` if there is none.
    pub warm_up: Option<WarmUp>,
    /// Mesh sizes at the end of the run.
    pub mesh_degree: MeshDegreeSummary,
    /// Traffic sent by all nodes.
    pub bytes: Bytes,
    /// Figures of each group of nodes, and of the nodes in none; left out of the file without groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupSummary>,
    /// What an attack did and cost; left out of the file without adversaries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attack: Option<AttackSummary>,
    /// Services and light clients; left out of the file without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub services: Option<ServicesSummary>,
    /// Profile of the router.
    pub router_profile: &'static str,
    /// Multiplexer of the connections; left out for a run on real clocks, whose nodes have their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mux: Option<&'static str>,
    /// Unvalidated mechanisms of the run; empty for a run on real clocks.
    pub validity: Vec<OutsideChecked>,
    /// Rules that were violated.
    pub violations: Vec<String>,
    /// SHA-256 over the traces of all nodes, hex; `None` for a run on real clocks.
    pub trace_hash: Option<String>,
    /// Latencies of the counted deliveries, for histograms and quantiles.
    #[serde(skip)]
    pub sorted_ms: Sorted,
}

/// Figures of one message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerMessage {
    /// Number of the message, from 0.
    pub index: u32,
    /// Node that published the message.
    pub publisher: u32,
    /// Length of the payload, bytes.
    pub size_bytes: u32,
    /// Whether the message only warms up connections.
    pub warm_up: bool,
    /// Latency of the message; `None` if no node received it.
    pub latency_ms: Option<Latency>,
    /// Deliveries of the message, by hops.
    pub hops: BTreeMap<u16, u64>,
}

/// Figures of the messages that warm up connections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WarmUp {
    /// Number of these messages.
    pub messages: usize,
    /// Latency of their deliveries; `None` without any.
    pub latency_ms: Option<Latency>,
    /// Deliveries of these messages, by hops.
    pub hops: BTreeMap<u16, u64>,
}

/// Number of peers in a mesh, over all nodes and topics.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeshDegreeSummary {
    /// Size of the smallest mesh.
    pub min: u32,
    /// Mean size of a mesh.
    pub mean: f64,
    /// Size of the largest mesh.
    pub max: u32,
}

/// Traffic of all nodes, from start to end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bytes {
    /// Bytes of frames with messages.
    pub payload: u64,
    /// Bytes of all other frames.
    pub control: u64,
    /// Bytes sent on the wire, including multiplexing, TCP and IP.
    pub wire: u64,
    /// Copies received, first ones and duplicates, for each delivery; `None` without deliveries.
    pub copies_per_delivery: Option<f64>,
    /// Frames or control entries, by kind.
    pub kinds: BTreeMap<&'static str, KindTotal>,
    /// Packets dropped by random loss or by a queue.
    pub packets_dropped: u64,
}

/// Number and length of frames or entries of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KindTotal {
    /// Number of frames or entries.
    pub count: u64,
    /// Bytes of these frames or entries.
    pub bytes: u64,
}

impl Summary {
    /// Summary of a run's outcome and costs.
    pub fn new(scenario: &Scenario, outcome: &Outcome, measured: RunCosts, commit: &str) -> Self {
        let counted = MessageGroup::of(outcome, |message| !message.warm_up);
        let is_simulated = outcome.trace_hash.is_some() || outcome.interrupted;
        let warm_up = MessageGroup::of(outcome, |message| message.warm_up);
        let warm_up_messages = outcome.messages.iter().filter(|m| m.warm_up).count();
        Self {
            scenario: scenario.name.clone(),
            seed: outcome.seed,
            nodes: scenario.nodes,
            commit: commit.to_owned(),
            resolved: None,
            interrupted: outcome.interrupted,
            virtual_s: seconds(outcome.virtual_ns),
            measured,
            events: outcome.events,
            expected: outcome.expected,
            delivered: outcome.deliveries.len() as u64,
            latency_ms: counted.latency(),
            hops: counted.hops,
            per_message: per_message(outcome),
            warm_up: (warm_up_messages > 0).then(|| WarmUp {
                messages: warm_up_messages,
                latency_ms: warm_up.latency(),
                hops: warm_up.hops,
            }),
            mesh_degree: MeshDegreeSummary {
                min: outcome.mesh_degree.min,
                mean: outcome.mesh_degree.mean,
                max: outcome.mesh_degree.max,
            },
            bytes: bytes(outcome),
            groups: GroupSummary::all(scenario, outcome),
            attack: AttackSummary::new(outcome),
            services: ServicesSummary::new(scenario, outcome),
            router_profile: scenario.relay.gossip.policy.profile,
            mux: is_simulated.then_some(scenario.network.mux.0.name),
            validity: match is_simulated {
                true => validity(scenario),
                false => Vec::new(),
            },
            violations: outcome
                .violations
                .iter()
                .map(|v| format!("at {:.6} s, node {}: {}", seconds(v.at_ns), v.node, v.rule))
                .collect(),
            trace_hash: outcome.trace_hash.map(hex::encode),
            sorted_ms: counted.sorted_ms,
        }
    }

    /// Number of messages that count in the statistics.
    pub fn counted_messages(&self) -> usize {
        self.per_message.iter().filter(|m| !m.warm_up).count()
    }

    /// Adds the scenario that was run, with every parameter.
    #[must_use]
    pub fn resolved(mut self, resolved: ResolvedScenario) -> Self {
        self.resolved = Some(resolved);
        self
    }
}

/// Deliveries of some of the messages.
struct MessageGroup {
    sorted_ms: Sorted,
    hops: Hops,
}

impl MessageGroup {
    fn of(outcome: &Outcome, which: impl Fn(&Message) -> bool) -> Self {
        let mut hops = Hops::new();
        let mut latencies = Vec::new();
        for (message, deliveries) in by_message(outcome) {
            if !which(message) {
                continue;
            }
            for delivery in deliveries {
                latencies.push(latency_ms(message, delivery));
                *hops.entry(delivery.hops).or_default() += 1;
            }
        }
        Self {
            sorted_ms: Sorted::new(latencies),
            hops,
        }
    }

    fn latency(&self) -> Option<Latency> {
        Latency::of(&self.sorted_ms)
    }
}

/// Each message with its deliveries; relies on deliveries being ordered by message.
pub fn by_message(outcome: &Outcome) -> impl Iterator<Item = (&Message, &[Delivery])> {
    let mut rest = outcome.deliveries.as_slice();
    outcome.messages.iter().map(move |message| {
        let from = rest.partition_point(|delivery| delivery.message < message.index);
        let to = rest.partition_point(|delivery| delivery.message <= message.index);
        let (until, after) = rest.split_at(to);
        rest = after;
        (message, &until[from..])
    })
}

/// Time from publishing to delivery, milliseconds.
pub fn latency_ms(message: &Message, delivery: &Delivery) -> f64 {
    delivery.received_ns.saturating_sub(message.published_ns) as f64 / 1e6
}

fn per_message(outcome: &Outcome) -> Vec<PerMessage> {
    by_message(outcome)
        .map(|(message, deliveries)| {
            let latencies = deliveries.iter().map(|d| latency_ms(message, d)).collect();
            let mut hops = Hops::new();
            for delivery in deliveries {
                *hops.entry(delivery.hops).or_default() += 1;
            }
            PerMessage {
                index: message.index,
                publisher: message.publisher,
                size_bytes: message.payload_bytes,
                warm_up: message.warm_up,
                latency_ms: Latency::of(&Sorted::new(latencies)),
                hops,
            }
        })
        .collect()
}

fn bytes(outcome: &Outcome) -> Bytes {
    let sum = |field: fn(&Counters) -> u64| outcome.nodes.iter().map(field).sum::<u64>();
    let kinds =
        KINDS.map(|(name, field)| {
            let total = outcome.nodes.iter().map(field).fold(
                KindTotal { count: 0, bytes: 0 },
                |sum, kind| KindTotal {
                    count: sum.count + kind.count,
                    bytes: sum.bytes + kind.bytes,
                },
            );
            (name, total)
        });
    let payload = kinds[0].1.bytes;
    let deliveries = outcome.deliveries.len();
    let copies = sum(|node| node.first_copies) + sum(|node| node.duplicates);
    Bytes {
        payload,
        control: kinds[1..].iter().map(|(_, kind)| kind.bytes).sum(),
        wire: sum(|node| node.wire_sent_bytes),
        copies_per_delivery: (deliveries > 0).then(|| copies as f64 / deliveries as f64),
        kinds: kinds.into_iter().collect(),
        packets_dropped: sum(|node| node.packets_dropped),
    }
}

type Counter = fn(&Counters) -> KindCounter;

/// Kinds of frames and entries: messages first, then all control kinds.
const KINDS: [(&str, Counter); 7] = [
    ("messages", |node| node.messages),
    ("subscriptions", |node| node.subscriptions),
    ("graft", |node| node.graft),
    ("prune", |node| node.prune),
    ("ihave", |node| node.ihave),
    ("iwant", |node| node.iwant),
    ("idontwant", |node| node.idontwant),
];

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
