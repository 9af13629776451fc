//! Preparation of a run: validation of the scenario, messages and start times.

mod discovery;
mod groups;
mod services;

use std::fmt::Display;

use crate::adversary;
use crate::error::SimError;
use crate::layout::RankPart;
use crate::node::input::PAYLOAD_BYTES_MIN;
use crate::outcome::Message;
use crate::scenario::{Delay, FaultKind, Group, MAX_NODES, Publishers, Scenario, Spacing};
use crate::seeds::SeededRng;
use crate::topology;
use crate::world::World;

/// Computes everything that is fixed before the first event, for one process's part of the network.
pub(crate) fn world(scenario: &Scenario, seed: u64, part: RankPart) -> Result<World, SimError> {
    validate(scenario)?;
    let mut rng = SeededRng::new(seed, "topology", 0);
    let edges = topology::edges(scenario, &mut rng)?;
    let messages = messages(scenario, seed);
    let mut ends = topology::wire(&edges, scenario.nodes, part);
    if scenario.adversaries() > 0 {
        // Their connections come after those of the nodes, which so have the same numbers as without them.
        let clients = scenario
            .services
            .as_ref()
            .map_or(0, |setup| setup.light_clients);
        let first = scenario.nodes + clients;
        ends.resize_with((first + scenario.adversaries()) as usize, Vec::new);
        topology::join(
            &mut ends,
            adversary::edges(scenario, seed, &messages, first),
        );
    }
    let starts_ns = starts_ns(scenario, seed);
    World::new(scenario, seed, (part, ends), messages, starts_ns)
}

pub(crate) fn check(
    holds: bool,
    what: &'static str,
    value: impl ToString,
    rule: &'static str,
) -> Result<(), SimError> {
    if holds {
        return Ok(());
    }
    let value = value.to_string();
    Err(SimError::Invalid { what, value, rule })
}

/// As [`check`], for a key of a group: the error names the group, too.
pub(crate) fn check_in(
    holds: bool,
    what: &'static str,
    value: impl Display,
    group: &Group,
    rule: &'static str,
) -> Result<(), SimError> {
    let value = format_args!("{value} in group {:?}", group.name);
    check(holds, what, value, rule)
}

/// Rejects scenarios whose run would be meaningless or endless.
fn validate(scenario: &Scenario) -> Result<(), SimError> {
    scenario.relay.gossip.validate()?;
    let network = &scenario.network;
    let nodes = scenario.nodes;
    let at_least_two = "it must be at least 2 and at most 4 million";
    check(
        (2..=MAX_NODES).contains(&nodes),
        "nodes",
        nodes,
        at_least_two,
    )?;
    let positive = "it must be more than 0";
    let (up, down) = (network.uplink_bytes_per_s, network.downlink_bytes_per_s);
    check(up > 0, "network.uplink", up, positive)?;
    check(down > 0, "network.downlink", down, positive)?;
    let share = "it must lie between 0 and 1";
    let is_share = |value: f64| (0.0..=1.0).contains(&value);
    check(is_share(network.loss), "network.loss", network.loss, share)?;
    for (up, down) in &network.place_rates {
        check(*up > 0, "network.uplink of a place", up, positive)?;
        check(*down > 0, "network.downlink of a place", down, positive)?;
    }
    let places = network.place_loss.len();
    for row in &network.place_loss {
        let rule = "there must be one value for each place";
        check(
            row.len() == places,
            "network.loss of a place",
            row.len(),
            rule,
        )?;
        for loss in row {
            check(is_share(*loss), "network.loss of a place", loss, share)?;
        }
    }
    validate_delay(&network.delay)?;
    if let Some(discovery) = scenario.topology.discovery() {
        discovery::validate(scenario, discovery)?;
    }
    let fragments = scenario.relay.fragments;
    let few = "it must be 1 to 64";
    check(
        (1..=64).contains(&fragments),
        "relay.fragments",
        fragments,
        few,
    )?;
    let topics = scenario.relay.topics;
    check(topics > 0, "relay.topics", topics, positive)?;
    if let Some(per_node) = scenario.relay.topics_per_node {
        let rule = "it must be at least 1 and no more than relay.topics";
        let what = "relay.topics_per_node";
        check((1..=topics).contains(&per_node), what, per_node, rule)?;
        let rule = "light clients know no shards: every node must subscribe to all topics";
        check(scenario.services.is_none(), what, per_node, rule)?;
    }
    let traffic = &scenario.traffic;
    let sizes = &traffic.payload_bytes;
    let some = "one size at least must be given";
    check(!sizes.is_empty(), "traffic.payload_bytes", "empty", some)?;
    for bytes in sizes {
        let room = "it must be 8 at least, as a payload begins with the message's number";
        check(
            *bytes >= PAYLOAD_BYTES_MIN,
            "traffic.payload_bytes",
            bytes,
            room,
        )?;
        let fits = *bytes as usize + 1024 <= scenario.relay.max_message_bytes;
        let rule = "it must be 1 kB less than relay.max_message_bytes";
        check(fits, "traffic.payload_bytes", bytes, rule)?;
    }
    match traffic.publishers {
        Publishers::One(node) => {
            let rule = "it must be a node, counted from 0";
            check(node < nodes, "traffic.publisher", node, rule)?;
        }
        Publishers::RoundRobin(count) => {
            let rule = "it must be at least 1 and no more than there are nodes";
            check(
                (1..=nodes).contains(&count),
                "traffic.publishers",
                count,
                rule,
            )?;
        }
        Publishers::Random => {}
    }
    validate_listed(scenario)?;
    if let Some(rln) = &scenario.rln {
        let limit = rln.message_limit;
        check(limit > 0, "rln.message_limit", limit, positive)?;
        check(rln.epoch_s > 0, "rln.epoch", rln.epoch_s, positive)?;
    }
    for fault in &scenario.faults {
        let rule = "it must be no more than there are nodes";
        check(fault.nodes <= nodes, "faults.nodes", fault.nodes, rule)?;
        match fault.kind {
            FaultKind::Slow { factor } => {
                let rule = "it must be more than 0 and at most 1";
                check(
                    is_share(factor) && factor > 0.0,
                    "faults.factor",
                    factor,
                    rule,
                )?;
            }
            FaultKind::Lossy { loss } => check(is_share(loss), "faults.loss", loss, share)?,
            _ => {}
        }
    }
    groups::validate(scenario)?;
    services::validate(scenario)
}

fn validate_listed(scenario: &Scenario) -> Result<(), SimError> {
    for message in &scenario.listed {
        let (node, topic, bytes) = (message.publisher, message.topic, message.payload_bytes);
        let rule = "it must be a node, counted from 0";
        check(node < scenario.nodes, "traffic.listed", node, rule)?;
        let rule = "its topic must be one of relay.topics, counted from 0";
        check(topic < scenario.relay.topics, "traffic.listed", topic, rule)?;
        let rule = "its publisher must subscribe to its topic (relay.topics_per_node)";
        let joins = scenario.relay.joins(node, topic) || scenario.group_topics(node).is_some();
        check(joins, "traffic.listed", format!("{node} on {topic}"), rule)?;
        let fits = (PAYLOAD_BYTES_MIN..)
            .contains(&bytes)
            .then_some(bytes as usize + 1024 <= scenario.relay.max_message_bytes);
        let rule =
            "its payload must be 8 bytes at least, and 1 kB less than relay.max_message_bytes";
        check(fits == Some(true), "traffic.listed", bytes, rule)?;
    }
    let rule = "messages with times of their own have no light clients";
    let is_alone = scenario.listed.is_empty() || scenario.services.is_none();
    check(is_alone, "traffic.listed", scenario.listed.len(), rule)
}

fn validate_delay(delay: &Delay) -> Result<(), SimError> {
    match delay {
        Delay::Constant { .. } => Ok(()),
        Delay::Places { one_way_ns } => {
            let size = one_way_ns.len();
            let square = size > 0 && one_way_ns.iter().all(|row| row.len() == size);
            let rule = "it must be square and not empty";
            check(square, "network.delay matrix", format!("{size} rows"), rule)
        }
        Delay::Uniform { min_ns, max_ns } => {
            let rule = "it must not be less than the lower bound";
            check(min_ns <= max_ns, "network.delay upper bound", max_ns, rule)
        }
    }
}

/// Returns the messages in the order of their numbers.
fn messages(scenario: &Scenario, seed: u64) -> Vec<Message> {
    if !scenario.listed.is_empty() {
        return listed(scenario);
    }
    let traffic = &scenario.traffic;
    let mut rng = SeededRng::new(seed, "traffic", 0);
    let mut at_ns = traffic.first_ns;
    (0..traffic.messages)
        .map(|index| {
            let publisher = match traffic.publishers {
                Publishers::One(node) => node,
                Publishers::RoundRobin(count) => index % count,
                Publishers::Random => rng.below(u64::from(scenario.nodes)) as u32,
            };
            let publisher = services::publisher(scenario, index).unwrap_or(publisher);
            let size = index as usize % traffic.payload_bytes.len();
            let message = Message {
                index,
                publisher,
                payload_bytes: traffic.payload_bytes[size],
                published_ns: at_ns,
                warm_up: index < scenario.warm_up_messages,
            };
            let gap = match (traffic.spacing, scenario.warm_up_spacing_ns) {
                (_, Some(ns)) if message.warm_up => ns,
                (Spacing::Constant(ns), _) => ns,
                (Spacing::Poisson(mean), _) => (-(1.0 - rng.unit()).ln() * mean as f64) as u64,
            };
            at_ns = at_ns.saturating_add(gap);
            message
        })
        .collect()
}

/// Returns the messages that the scenario lists one by one.
fn listed(scenario: &Scenario) -> Vec<Message> {
    let listed = (0..).zip(&scenario.listed);
    listed
        .map(|(index, message)| Message {
            index,
            publisher: message.publisher,
            payload_bytes: message.payload_bytes,
            published_ns: message.at_ns,
            warm_up: index < scenario.warm_up_messages,
        })
        .collect()
}

/// Returns the start time of each node. A node with a join fault starts at the time of the fault.
fn starts_ns(scenario: &Scenario, seed: u64) -> Vec<u64> {
    let mut rng = SeededRng::new(seed, "starts", 0);
    let spread = |rng: &mut SeededRng| rng.below(scenario.start_spread_ns);
    let mut starts: Vec<_> = (0..scenario.nodes)
        .map(|_| scenario.start_ns + spread(&mut rng))
        .collect();
    for fault in &scenario.faults {
        if fault.kind == FaultKind::Join {
            let first = scenario.nodes.saturating_sub(fault.nodes) as usize;
            for start in &mut starts[first..] {
                *start = fault.at_ns + spread(&mut rng);
            }
        }
    }
    starts
}
