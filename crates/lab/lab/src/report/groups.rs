//! Figures of a run by group of nodes.

use serde::Serialize;
use undertone_sim::scenario::Group;
use undertone_sim::{Outcome, Scenario};

use super::{Latency, Sorted, Summary, by_message, latency_ms};
use crate::record::Table;

/// Name under which nodes in no group are reported.
const OTHERS: &str = "other nodes";

/// Figures of one group of nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupSummary {
    /// Name of the group.
    pub name: String,
    /// Number of its nodes.
    pub nodes: usize,
    /// Deliveries to its nodes, including the warm-up.
    pub delivered: usize,
    /// Latency of the counted deliveries to its nodes; `None` without any.
    pub latency_ms: Option<Latency>,
    /// Mean number of bytes that a node of the group sent on the wire.
    pub wire_bytes_per_node: f64,
    /// Latencies of the counted deliveries to its nodes.
    #[serde(skip)]
    pub sorted_ms: Sorted,
    /// Numbers of its nodes.
    #[serde(skip)]
    pub members: Vec<u32>,
}

impl GroupSummary {
    /// Figures of all groups, in the order of the scenario, then those of the nodes in none.
    pub(super) fn all(scenario: &Scenario, outcome: &Outcome) -> Vec<Self> {
        let is_honest = |group: &&Group| group.policy.is_none();
        if !scenario.groups.iter().any(|group| is_honest(&group)) {
            return Vec::new();
        }
        let others = scenario.groups.len();
        let names = scenario.groups.iter().map(|group| group.name.as_str());
        let mut groups: Vec<_> = names.chain([OTHERS]).map(Self::named).collect();
        let group_of: Vec<_> = (0..scenario.nodes)
            .map(|node| scenario.group_of(node).unwrap_or(others))
            .collect();
        for (node, group) in (0..).zip(&group_of) {
            groups[*group].members.push(node);
        }
        let mut latencies = vec![Vec::new(); groups.len()];
        for (message, deliveries) in by_message(outcome) {
            for delivery in deliveries {
                let group = group_of[delivery.receiver as usize];
                groups[group].delivered += 1;
                if !message.warm_up {
                    latencies[group].push(latency_ms(message, delivery));
                }
            }
        }
        for (group, latencies) in groups.iter_mut().zip(latencies) {
            let of_nodes = group.members.iter();
            let sent = of_nodes.filter_map(|node| outcome.nodes.get(*node as usize));
            let sent_bytes: u64 = sent.map(|counters| counters.wire_sent_bytes).sum();
            group.nodes = group.members.len();
            group.wire_bytes_per_node = sent_bytes as f64 / group.nodes.max(1) as f64;
            group.sorted_ms = Sorted::new(latencies);
            group.latency_ms = Latency::of(&group.sorted_ms);
        }
        groups.retain(|group| group.nodes > 0);
        groups
    }

    fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            nodes: 0,
            delivered: 0,
            latency_ms: None,
            wire_bytes_per_node: 0.0,
            sorted_ms: Sorted::new(Vec::new()),
            members: Vec::new(),
        }
    }
}

/// Names of the groups of all nodes, by number; `None` for a scenario without groups.
pub(crate) fn group_names(summary: &Summary) -> Option<Vec<&str>> {
    let mut names = (!summary.groups.is_empty()).then(|| vec![OTHERS; summary.nodes as usize])?;
    for group in &summary.groups {
        for node in &group.members {
            names[*node as usize] = &group.name;
        }
    }
    Some(names)
}

/// Table of the groups of named runs; `None` if no run has any. One run needs no name.
pub fn group_table(runs: &[(String, &Summary)]) -> Option<Table> {
    let columns = [
        "group",
        "nodes",
        "delivered",
        "p50, ms",
        "p99, ms",
        "max, ms",
        "MB sent per node",
    ];
    let mut table = Table::new("Groups of nodes", &columns);
    for (run, summary) in runs {
        for group in &summary.groups {
            let figure = |figure: fn(&Latency) -> f64| {
                let figure = group.latency_ms.as_ref().map(figure);
                figure.map_or("none".to_owned(), |ms| format!("{ms:.1}"))
            };
            table.push([
                match runs {
                    [_] => group.name.clone(),
                    _ => format!("{run}, {}", group.name),
                },
                group.nodes.to_string(),
                group.delivered.to_string(),
                figure(|latency| latency.p50),
                figure(|latency| latency.p99),
                figure(|latency| latency.max),
                format!("{:.2}", group.wire_bytes_per_node / 1e6),
            ]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}
