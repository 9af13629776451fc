//! Honest peers that come back: after a restart, announced or not, and after a connection that died.

use std::time::Duration;

use super::net::Net;
use super::raw;
use super::solo::{Solo, misdeeds, outbound, peer, said, topic};
use crate::{Config, Input, Topic};

/// Number of shards, as in Waku's network.
fn shards() -> Vec<Topic> {
    let names = (0..8).map(|n| format!("/waku/2/rs/1/{n}"));
    names.map(|name| Topic::new(&name)).collect()
}

/// Encodes the same control entry for every shard, in one frame.
fn for_each_shard(entry: fn(&str) -> Vec<u8>) -> Vec<u8> {
    let shards = shards();
    shards
        .iter()
        .flat_map(|topic| entry(topic.as_str()))
        .collect()
}

fn prune_for_five_seconds(topic: &str) -> Vec<u8> {
    raw::prune(topic, Some(5), &[])
}

/// A router with eight shards and a peer that is in the mesh of each.
fn eight_shards() -> Solo {
    let mut solo = Solo::new(Config::waku());
    for topic in shards() {
        solo.input(Input::Subscribe(topic));
    }
    solo.connect(peer(0));
    solo.frame(0, for_each_shard(raw::subscribe));
    solo.frame(0, for_each_shard(raw::graft));
    assert!(meshes(&solo).all(|mesh| mesh == 1));
    solo
}

fn meshes(solo: &Solo) -> impl Iterator<Item = usize> {
    shards()
        .into_iter()
        .map(|topic| solo.router.mesh(&topic).len())
}

/// Observed with real nodes: the score was -2560, and nothing was delivered for 23 to 105 minutes.
#[test]
fn a_peer_that_said_goodbye_is_welcome_two_seconds_later() {
    for with_goodbye in [true, false] {
        let mut solo = eight_shards();
        if with_goodbye {
            solo.frame(0, for_each_shard(prune_for_five_seconds));
        }
        solo.disconnect(0);
        solo.advance_ms(2_000);
        solo.connect(peer(0));
        solo.frame(0, for_each_shard(raw::subscribe));
        let outputs = solo.frame(0, for_each_shard(raw::graft));
        assert_eq!(misdeeds(&outputs), []);
        assert!(said(&outputs, 0).prune.is_empty(), "nothing is refused");
        assert!(meshes(&solo).all(|mesh| mesh == 1));
        assert!(solo.score(0) >= 0.0);
    }
}

#[test]
fn a_peer_that_is_told_to_stay_away_on_this_connection_is_still_held_to_it() {
    let mut solo = eight_shards();
    solo.disconnect(0);
    solo.advance_ms(2_000);
    solo.connect(peer(0));
    solo.frame(0, for_each_shard(raw::subscribe));
    solo.frame(0, for_each_shard(prune_for_five_seconds));
    let outputs = solo.frame(0, for_each_shard(raw::graft));
    assert_eq!(
        misdeeds(&outputs).len(),
        1,
        "one offence, however many topics"
    );
    assert_eq!(said(&outputs, 0).prune.len(), 8, "each is answered");
    assert!(solo.score(0) >= 0.0, "one offence is free");
}

#[test]
fn grafting_again_and_again_during_a_backoff_ends_below_zero() {
    let mut solo = eight_shards();
    solo.frame(0, for_each_shard(prune_for_five_seconds));
    for _ in 0..3 {
        solo.frame(0, for_each_shard(raw::graft));
        assert!(solo.score(0) >= 0.0);
    }
    solo.frame(0, for_each_shard(raw::graft));
    assert!(solo.score(0) < 0.0);
}

/// A peer that reconnects does not get past a full mesh.
#[test]
fn a_peer_that_reconnects_finds_a_full_mesh_full() {
    let mut solo = Solo::joined(Config::waku());
    (0..8).for_each(|n| solo.mesh_peer(peer(n)));
    for _ in 0..3 {
        solo.subscriber(peer(8));
        let outputs = solo.frame(8, raw::graft(super::solo::TOPIC));
        assert_eq!(said(&outputs, 8).prune.len(), 1);
        solo.disconnect(8);
        solo.advance_ms(1_000);
    }
    assert_eq!(solo.mesh().len(), 8);
}

#[test]
fn our_own_graft_still_waits_for_the_backoff_of_an_earlier_connection() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(outbound(0));
    solo.frame(0, raw::prune(super::solo::TOPIC, Some(30), &[]));
    solo.disconnect(0);
    let mut outputs = solo.subscriber(outbound(0));
    outputs.extend(solo.advance_ms(29_000));
    assert!(
        said(&outputs, 0).graft.is_empty(),
        "another implementation may still remember it"
    );
    assert_eq!(
        said(&solo.advance(Duration::from_secs(5)), 0).graft.len(),
        1
    );
}

/// Both sides are this implementation: in whichever way one of them left, the next message arrives.
#[test]
fn messages_flow_at_once_after_a_restart_in_good_order() {
    for pause_ms in [0, 2_000, 15_000, 70_000] {
        let mut net = Net::pair(&Config::waku());
        net.input(1, Input::Unsubscribe(topic()));
        net.run_ms(100);
        net.disconnect(0, 1);
        net.run_ms(pause_ms);
        net.restart(1, &Config::waku());
        net.connect(1, 0);
        net.input(1, Input::Subscribe(topic()));
        net.run_ms(1_500);
        assert_eq!(
            (net.mesh(0), net.mesh(1)),
            (vec![1], vec![0]),
            "after {pause_ms} ms"
        );
        net.publish(0, b"to the one that came back");
        net.publish(1, b"from the one that came back");
        net.run_ms(100);
        assert_eq!(
            net.delivered[1].last().unwrap().1,
            "to the one that came back"
        );
        assert_eq!(
            net.delivered[0].last().unwrap().1,
            "from the one that came back"
        );
        let score = |node: usize, peer| net.routers[node].score(crate::PeerIx(peer));
        assert!(score(0, 1) >= 0.0 && score(1, 0) >= 0.0);
    }
}
