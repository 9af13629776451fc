//! Times that follow from a scenario's network and faults.

use undertone_sim::Scenario;
use undertone_sim::scenario::{Delay, Fault, FaultKind, Members, Policy};

use crate::support::{MS, S};

/// The transport doubles its patience with each loss of a packet, up to 256 times the first.
pub(super) const DOUBLINGS_MAX: i32 = 8;

pub(super) fn policies(scenario: &Scenario) -> impl Iterator<Item = (&Policy, u32)> {
    let groups = scenario.groups.iter();
    groups.filter_map(|group| match (&group.policy, &group.members) {
        (Some(policy), Members::Count(count)) => Some((&**policy, *count)),
        _ => None,
    })
}

fn is_lossy(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Lossy { loss } if loss > 0.0)
}

/// The longest one-way delay between two nodes.
pub(super) fn longest_delay_ns(scenario: &Scenario) -> u64 {
    let of_network = match &scenario.network.delay {
        Delay::Constant { one_way_ns } => *one_way_ns,
        Delay::Places { one_way_ns } => one_way_ns.iter().flatten().copied().max().unwrap_or(0),
        Delay::Uniform { max_ns, .. } => *max_ns,
    };
    let added = scenario.groups.iter().map(|group| group.added_delay_ns);
    of_network + 2 * added.max().unwrap_or(0) + scenario.network.jitter_ns
}

/// First patience of the transport with a packet.
pub(super) fn patience_ns(scenario: &Scenario) -> u64 {
    2 * longest_delay_ns(scenario) + 200 * MS
}

/// Rate of the slowest link while all is well.
pub(super) fn slowest_bytes_per_s(scenario: &Scenario) -> u64 {
    let network = &scenario.network;
    let groups = scenario.groups.iter();
    let of_groups = groups.flat_map(|g| [g.uplink_bytes_per_s, g.downlink_bytes_per_s]);
    let of_network = network.uplink_bytes_per_s.min(network.downlink_bytes_per_s);
    of_groups.flatten().fold(of_network, u64::min)
}

/// Time from which no fault begins, ends or is noticed.
fn over_ns(scenario: &Scenario) -> u64 {
    let faults = scenario.faults.iter().map(|fault| {
        fault.at_ns
            + match fault.kind {
                FaultKind::Partition { for_ns } => for_ns,
                FaultKind::Crash { noticed_after_ns } => noticed_after_ns,
                FaultKind::Join => scenario.start_spread_ns,
                _ => 0,
            }
    });
    let left = policies(scenario).filter_map(|(policy, _)| policy.leaves_ns);
    faults.chain(left).max().unwrap_or(0)
}

/// Time after the faults until messages are expected to arrive.
///
/// - Connections are made one after another, and a new one brings subscriptions: ten seconds.
/// - Backoffs are over, and meshes are full: the backoff of a minute, its slack, and some heartbeats.
/// - A packet that was lost again and again is sent again at last.
/// - What waits behind a link that was slow has left. Traffic takes a quarter of the rate at most, so what gathered
///   has left after as long a time as it gathered, at the slow rate if it had been handed to the device.
/// - Nodes that look for peers have found some: the connection manager has a minute after a long absence.
fn settle_ns(scenario: &Scenario) -> u64 {
    let mut settle_ns = 10 * S + 20 * longest_delay_ns(scenario) * 8 + 70 * S;
    if scenario.faults.iter().any(is_lossy) {
        settle_ns += patience_ns(scenario) << DOUBLINGS_MAX;
    }
    let slow = |fault: &&Fault| matches!(fault.kind, FaultKind::Slow { factor } if factor < 1.0);
    if scenario.faults.iter().any(|fault| slow(&fault)) {
        let times = scenario.faults.iter().map(|fault| fault.at_ns);
        settle_ns += times.clone().max().unwrap_or(0) - times.min().unwrap_or(0);
    }
    if scenario.topology.discovery().is_some() {
        settle_ns += 60 * S;
    }
    settle_ns
}

/// Time from which messages are expected to arrive, whatever the traffic.
pub(super) fn from_ns(scenario: &Scenario) -> u64 {
    over_ns(scenario) + settle_ns(scenario)
}
