//! Groups of nodes that differ from the rest.

use undertone_gossip::PROFILES;
use undertone_sim::Scenario;
use undertone_sim::scenario::{Cpu, Group, GroupRelay, Members, Topology};

use crate::support::{have_all, simulate, with_messages};

const NODES: u32 = 60;
const MS: u64 = 1_000_000;

fn with_group(group: Group) -> Scenario {
    let mut scenario = with_messages(NODES, 10);
    scenario.groups = vec![group];
    scenario
}

fn latest_ns(scenario: &Scenario) -> (u64, u64) {
    let outcome = simulate(scenario);
    assert!(have_all(&outcome, 0..NODES));
    let latest = |is_in: bool| {
        let of = outcome
            .deliveries
            .iter()
            .filter(|d| scenario.group_of(d.receiver).is_some() == is_in);
        let latencies =
            of.map(|d| d.received_ns - outcome.messages[d.message as usize].published_ns);
        latencies.max().expect("there are deliveries")
    };
    (latest(false), latest(true))
}

/// Two groups that differ in nothing change nothing.
#[test]
fn equal_groups_are_none() {
    let plain = with_messages(NODES, 10);
    let mut grouped = plain.clone();
    let relay = GroupRelay {
        protocol: plain.relay.protocol.clone(),
        gossip: plain.relay.gossip.clone(),
    };
    let mut listed = Group::new("listed", Members::Listed(vec![3, 7, 8]));
    listed.relay = Some(relay);
    let mut counted = Group::new("counted", Members::Count(20));
    counted.uplink_bytes_per_s = Some(plain.network.uplink_bytes_per_s);
    counted.cpu = Some(Cpu::default());
    grouped.groups = vec![counted, listed];
    let (plain, grouped) = (simulate(&plain), simulate(&grouped));
    assert_eq!(plain.trace_hash, grouped.trace_hash);
    assert_eq!(plain.deliveries, grouped.deliveries);
}

/// Nodes far away, with slow processors or slow links are late; those near them are not.
#[test]
fn nodes_are_as_slow_as_their_group() {
    let mut far = Group::new("far", Members::Count(10));
    far.added_delay_ns = 300 * MS;
    let mut slow = Group::new("slow", Members::Count(10));
    slow.cpu = Some(Cpu {
        per_frame_ns: 20 * MS,
        per_kb_ns: 0,
    });
    let mut thin = Group::new("thin", Members::Count(10));
    thin.downlink_bytes_per_s = Some(15_000);
    for group in [far, slow, thin] {
        let name = group.name.clone();
        let (others_ns, own_ns) = latest_ns(&with_group(group));
        assert!(
            own_ns > others_ns + 15 * MS,
            "{name}: {own_ns} and {others_ns}"
        );
    }
}

/// Nodes behind a NAT dial, and nobody dials them; they get every message.
#[test]
fn nodes_that_accept_no_connections_only_dial() {
    let mut scenario = with_group(Group::new("home", Members::Count(40)));
    scenario.topology = Topology::Dials(4);
    scenario.groups[0].accepts_connections = false;
    let outcome = simulate(&scenario);
    assert!(have_all(&outcome, 0..NODES));
    assert_eq!(outcome.connections[20..], [4; 40]);
}

/// Topics by group: each message reaches the nodes that subscribe to its topic, and a publisher that subscribes to
/// nothing reaches them, too.
#[test]
fn groups_have_topics_of_their_own() {
    let mut scenario = with_messages(NODES, 10);
    scenario.relay.topics = 2;
    let mut second = Group::new("second", Members::Count(20));
    second.topics = Some(vec![1]);
    let mut silent = Group::new("publisher", Members::Listed(vec![0]));
    silent.topics = Some(Vec::new());
    scenario.groups = vec![second, silent];
    let outcome = simulate(&scenario);
    // Node 0 publishes five messages on each topic.
    assert_eq!(outcome.expected, 5 * 39 + 5 * 59);
    assert_eq!(outcome.deliveries.len() as u64, outcome.expected);
}

/// Half of the network follows the rules of one implementation, half those of another; all get everything.
#[test]
fn implementations_share_a_network() {
    let mut group = Group::new("go", Members::Count(30));
    let mut gossip = with_messages(NODES, 1).relay.gossip;
    let go = PROFILES
        .iter()
        .find(|profile| profile.name == "go")
        .unwrap();
    go.apply(&mut gossip, true);
    let protocol = "/meshsub/1.1.0".to_owned();
    group.relay = Some(GroupRelay { protocol, gossip });
    let outcome = simulate(&with_group(group));
    assert!(have_all(&outcome, 0..NODES));
    let idontwant = |nodes: std::ops::Range<usize>| {
        outcome.nodes[nodes]
            .iter()
            .map(|n| n.idontwant.count)
            .sum::<u64>()
    };
    assert_eq!(idontwant(30..60), 0, "1.1 has no IDONTWANT");
}
