//! Tests that each rule checked at the end of a run can be violated.

use undertone_gossip::wire::Encoder;
use undertone_gossip::{Config, Limits, Time, Usage};
use undertone_relay::Input;

use super::*;
use crate::layout::{Layout, RankPart};
use crate::node::event::Event;
use crate::outcome::Violation;
use crate::scenario::Scenario;
use crate::shard::NodeShard;

const MS: u64 = 1_000_000;

/// A network of ten nodes, stopped at a given time of its run.
fn stopped_at(at_ns: u64) -> (World, Vec<NodeShard>) {
    let world = crate::run::plan::world(&Scenario::plain(10), 1, RankPart::WHOLE).unwrap();
    let mut shard = NodeShard::new(&world, &Layout::alone(1), 0);
    shard.run(&world, at_ns);
    (world, vec![shard])
}

/// A network with a message in transit, with packets in every place where packets can be.
fn busy() -> (World, Vec<NodeShard>) {
    let (world, _) = stopped_at(0);
    stopped_at(world.messages[0].published_ns + 30 * MS)
}

fn check_packets(world: &World, shards: &mut [NodeShard]) {
    let total = checks::packets(shards);
    checks::check_packets(world, shards, total);
}

fn rules(shards: &[NodeShard]) -> Vec<&'static str> {
    let all = shards.iter().flat_map(|s| &s.scratch.violations);
    all.map(|violation: &Violation| violation.rule).collect()
}

#[test]
fn a_sound_network_breaks_no_rule() {
    for (world, mut shards) in [stopped_at(20_000 * MS), busy()] {
        check_packets(&world, &mut shards);
        checks::check_bounds(&world, &mut shards);
        meshes::check(&world, &mut shards, &mut []);
        assert_eq!(rules(&shards), [""; 0]);
    }
}

#[test]
fn a_packet_that_vanishes_breaks_a_rule() {
    let (world, mut shards) = busy();
    let mut under_way = std::iter::from_fn(|| shards[0].events.pop(u64::MAX));
    let data = under_way.find(|scheduled| match &scheduled.event {
        Event::Arrival(arrival) => arrival.packets() > 0,
        _ => false,
    });
    assert!(data.is_some(), "the message is under way");
    check_packets(&world, &mut shards);
    assert_eq!(
        rules(&shards),
        ["packets sent are received, dropped or in flight"]
    );
}

#[test]
fn a_packet_from_nowhere_breaks_a_rule() {
    let (world, mut shards) = busy();
    let (_, mut others) = busy();
    let mut under_way = std::iter::from_fn(|| others[0].events.pop(u64::MAX));
    let data = under_way.find(|scheduled| match &scheduled.event {
        Event::Arrival(arrival) => arrival.packets() > 0,
        _ => false,
    });
    shards[0]
        .events
        .push(data.expect("the message is under way"));
    check_packets(&world, &mut shards);
    assert_eq!(
        rules(&shards),
        ["packets sent are received, dropped or in flight"]
    );
}

#[test]
fn a_mesh_of_one_side_breaks_a_rule() {
    let (world, mut shards) = stopped_at(20_000 * MS);
    let topic = names(&world).remove(0);
    let node = &mut shards[0].nodes[4];
    let relay = node.relay.as_mut().unwrap();
    let mesh = relay.router().mesh(&topic).to_vec();
    let mut encoder = Encoder::default();
    encoder.prune(&topic, Some(60), &[]);
    let prune = Input::Frame {
        peer: mesh[0],
        frame: encoder.finish().unwrap().into(),
    };
    // The peer itself sent no such change.
    relay.handle(Time::from_nanos(world.end_ns), prune).unwrap();
    meshes::check(&world, &mut shards, &mut []);
    assert_eq!(rules(&shards), ["a mesh is mutual within a round trip"]);
    let peer = world.ends(4)[mesh[0].0 as usize].remote;
    assert_eq!(shards[0].scratch.violations[0].node, peer);
}

#[test]
fn a_change_that_is_under_way_breaks_none() {
    let (world, mut shards) = stopped_at(20_000 * MS);
    let topic = names(&world).remove(0);
    let node = &mut shards[0].nodes[4];
    let relay = node.relay.as_mut().unwrap();
    let peer = *relay.router().mesh(&topic).iter().next().unwrap();
    let mut encoder = Encoder::default();
    encoder.prune(&topic, Some(60), &[]);
    let frame = encoder.finish().unwrap();
    let prune = Input::Frame {
        peer,
        frame: frame.into(),
    };
    relay.handle(Time::from_nanos(world.end_ns), prune).unwrap();
    node.checks.mesh_changed_ns = world.end_ns - 50 * MS;
    meshes::check(&world, &mut shards, &mut []);
    assert_eq!(rules(&shards), [""; 0]);
}

#[test]
fn a_collection_over_its_bound_breaks_a_rule() {
    let config = Config::waku();
    let limits: &Limits = &config.limits;
    let mut full = Usage::default();
    full.topics = limits.topics_max;
    full.seen = limits.seen_max;
    full.pending = limits.pending_max;
    full.pending_bytes = limits.pending_bytes_max;
    full.cache_bytes = limits.cache_bytes_max.max(limits.frame_bytes_max);
    full.iwant_requests = limits.promises_max;
    full.iwant_waiting = limits.promises_max;
    // Bounded by the connections that there are.
    full.transfers = 0;
    full.delayed_messages = limits.delayed_messages_max;
    full.backoffs = limits.backoffs_max;
    full.departed = limits.retained_peers_max;
    full.subscriptions_of_a_peer = limits.subscriptions_per_peer_max;
    full.idontwant_of_a_peer = limits.idontwant_ids_per_heartbeat_max * 6;
    full.cancellable_of_a_peer = limits.cancellable_per_peer_max;
    assert!(checks::is_within(&full, &config));
    let fields: [fn(&mut Usage) -> &mut usize; 13] = [
        |usage| &mut usage.topics,
        |usage| &mut usage.seen,
        |usage| &mut usage.pending,
        |usage| &mut usage.pending_bytes,
        |usage| &mut usage.cache_bytes,
        |usage| &mut usage.iwant_requests,
        |usage| &mut usage.iwant_waiting,
        |usage| &mut usage.delayed_messages,
        |usage| &mut usage.backoffs,
        |usage| &mut usage.departed,
        |usage| &mut usage.subscriptions_of_a_peer,
        |usage| &mut usage.idontwant_of_a_peer,
        |usage| &mut usage.cancellable_of_a_peer,
    ];
    for (number, field) in fields.into_iter().enumerate() {
        let mut over = full;
        *field(&mut over) += 1;
        assert!(!checks::is_within(&over, &config), "field {number}");
    }
}
