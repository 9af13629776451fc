//! Joining, leaving, GRAFT, PRUNE, backoff, and the heartbeat's upkeep of a mesh.

use std::time::Duration;

use super::net::Net;
use super::raw;
use super::solo::{Solo, TOPIC, features, grafted, outbound, peer, said, scored, sends, topic};
use crate::{Config, Input, NewPeer, Output, Report};

fn subscribers(solo: &mut Solo, peers: impl IntoIterator<Item = NewPeer>) {
    for peer in peers {
        solo.subscriber(peer);
    }
}

#[test]
fn joining_tells_everybody_and_grafts_d_subscribers() {
    let mut solo = Solo::new(Config::waku());
    subscribers(&mut solo, (0..10).map(peer));
    solo.connect(peer(10));
    let outputs = solo.input(Input::Subscribe(topic()));
    for n in 0..11 {
        let subscriptions = said(&outputs, n).subscriptions;
        assert_eq!(subscriptions.len(), 1, "peer {n}");
        assert!(subscriptions[0].subscribe);
    }
    assert_eq!(solo.mesh().len(), 6);
    assert_eq!(grafted(&outputs), solo.mesh());
}

#[test]
fn two_nodes_find_each_other() {
    let net = Net::pair(&Config::waku());
    assert_eq!((net.mesh(0), net.mesh(1)), (vec![1], vec![0]));
}

#[test]
fn leaving_prunes_with_the_unsubscribe_backoff_in_seconds() {
    let mut solo = Solo::joined(Config::waku());
    subscribers(&mut solo, (0..3).map(peer));
    solo.connect(peer(9));
    assert_eq!(solo.mesh(), [0, 1, 2]);
    let outputs = solo.input(Input::Unsubscribe(topic()));
    for n in [0, 1, 2] {
        let prune = &said(&outputs, n).prune;
        assert_eq!(prune.len(), 1);
        assert_eq!(prune[0].backoff_s, Some(5));
    }
    assert!(said(&outputs, 9).prune.is_empty());
    assert!(!said(&outputs, 9).subscriptions[0].subscribe);
    assert!(solo.mesh().is_empty() && solo.router.joined().is_empty());
}

#[test]
fn rejoining_waits_for_the_unsubscribe_backoff_and_the_slack() {
    let mut solo = Solo::joined(Config::waku());
    subscribers(&mut solo, (0..3).map(peer));
    solo.input(Input::Unsubscribe(topic()));
    let mut outputs = solo.input(Input::Subscribe(topic()));
    outputs.extend(solo.advance_ms(6_999));
    assert_eq!(grafted(&outputs), [0; 0]);
    assert_eq!(grafted(&solo.advance_ms(1_200)), [0, 1, 2]);
}

#[test]
fn whom_a_peer_pruned_stays_away_for_as_long_as_it_said() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    let outputs = solo.frame(0, raw::prune(TOPIC, Some(30), &[]));
    assert!(matches!(
        &outputs[..],
        [Output::Report(Report::Pruned { .. })]
    ));
    assert_eq!(grafted(&solo.advance_ms(31_999)), [0; 0]);
    assert_eq!(grafted(&solo.advance_ms(1_200)), [0]);
}

#[test]
fn a_prune_without_backoff_means_the_default() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    solo.frame(0, raw::prune(TOPIC, None, &[]));
    assert_eq!(grafted(&solo.advance_ms(61_999)), [0; 0]);
    assert_eq!(grafted(&solo.advance_ms(1_200)), [0]);
}

#[test]
fn a_backoff_outlives_the_connection() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    solo.frame(0, raw::prune(TOPIC, Some(30), &[]));
    solo.disconnect(0);
    let mut outputs = solo.subscriber(peer(0));
    outputs.extend(solo.advance_ms(20_000));
    assert_eq!(grafted(&outputs), [0; 0]);
}

#[test]
fn both_sides_of_a_prune_remember_it() {
    let mut net = Net::pair(&Config::waku());
    net.input(0, Input::Unsubscribe(topic()));
    net.input(0, Input::Subscribe(topic()));
    net.run_ms(6_800);
    assert!(net.mesh(0).is_empty() && net.mesh(1).is_empty());
    net.arrivals.clear();
    net.run_ms(2_000);
    let refused = net.arrivals.iter().any(|a| !a.rpc.prune.is_empty());
    assert!(
        !refused,
        "one side grafted before the other side allowed it"
    );
    assert_eq!((net.mesh(0), net.mesh(1)), (vec![1], vec![0]));
}

#[test]
fn a_full_mesh_refuses_whoever_dialled_us_and_takes_whom_we_dialled() {
    let mut solo = Solo::joined(Config::waku());
    (0..8).for_each(|n| solo.mesh_peer(peer(n)));
    solo.subscriber(peer(8));
    let refused = said(&solo.frame(8, raw::graft(TOPIC)), 8).prune;
    assert_eq!(refused[0].backoff_s, Some(60));
    solo.mesh_peer(outbound(9));
    assert_eq!(solo.mesh().len(), 9);
}

#[test]
fn inbound_grafts_never_lift_the_mesh_above_d_high() {
    let mut solo = Solo::joined(Config::waku());
    for n in 0..40 {
        solo.subscriber(peer(n));
        solo.frame(n, raw::graft(TOPIC));
        assert!(solo.mesh().len() <= 8, "after peer {n}");
        if n % 7 == 0 {
            solo.heartbeat();
        }
    }
}

#[test]
fn the_heartbeat_refills_a_mesh_below_d_low_up_to_d() {
    let mut solo = Solo::joined(Config::waku());
    subscribers(&mut solo, (0..12).map(peer));
    assert_eq!(solo.mesh().len(), 4, "newcomers fill it to d_low");
    let gone = solo.mesh()[0];
    solo.disconnect(gone);
    let outputs = solo.heartbeat();
    assert_eq!(solo.mesh().len(), 6);
    assert_eq!(grafted(&outputs).len(), 3);
}

#[test]
fn a_newcomer_is_grafted_at_once_only_while_the_mesh_is_short() {
    let mut solo = Solo::joined(Config::waku());
    for n in 0..4 {
        assert_eq!(grafted(&solo.subscriber(peer(n))), [n]);
    }
    assert_eq!(grafted(&solo.subscriber(peer(4))), [0; 0]);
}

#[test]
fn trimming_keeps_the_best_and_enough_outbound_peers() {
    let mut config = scored();
    config.degrees.d_score = 2;
    let mut solo = Solo::joined(config);
    (0..8).for_each(|n| solo.mesh_peer(peer(n)));
    (8..12).for_each(|n| solo.mesh_peer(outbound(n)));
    for n in 0..12 {
        solo.set_score(n, if n == 3 || n == 5 { 50.0 } else { 1.0 });
    }
    let outputs = solo.heartbeat();
    let mesh = solo.mesh();
    assert_eq!(mesh.len(), 6);
    assert!(mesh.contains(&3) && mesh.contains(&5), "{mesh:?}");
    assert!(mesh.iter().filter(|n| **n >= 8).count() >= 3, "{mesh:?}");
    for n in (0..12).filter(|n| !mesh.contains(n)) {
        assert_eq!(said(&outputs, n).prune[0].backoff_s, Some(60));
    }
}

#[test]
fn the_outbound_quota_is_filled_in_a_mesh_that_is_large_enough() {
    let mut solo = Solo::joined(Config::waku());
    (0..6).for_each(|n| solo.mesh_peer(peer(n)));
    subscribers(&mut solo, (6..11).map(outbound));
    let outputs = solo.heartbeat();
    let new = grafted(&outputs);
    assert_eq!(new.len(), 3);
    assert!(new.iter().all(|n| *n >= 6), "{new:?}");
}

#[test]
fn a_negative_peer_is_pruned_and_not_grafted_again() {
    let mut solo = Solo::joined(scored());
    solo.mesh_peer(peer(0));
    solo.set_score(0, -1.0);
    let outputs = solo.heartbeat();
    assert_eq!(said(&outputs, 0).prune.len(), 1);
    assert_eq!(grafted(&solo.advance(Duration::from_secs(70))), [0; 0]);
    solo.set_score(0, 1.0);
    assert_eq!(grafted(&solo.heartbeat()), [0]);
}

#[test]
fn a_negative_peer_is_refused() {
    let mut solo = Solo::joined(scored());
    solo.connect(peer(0));
    solo.set_score(0, -1.0);
    let outputs = solo.frame(0, raw::graft(TOPIC));
    assert_eq!(said(&outputs, 0).prune.len(), 1);
    assert!(solo.mesh().is_empty());
}

#[test]
fn opportunistic_grafting_adds_better_peers_when_the_median_is_poor() {
    let run = |threshold: f64| {
        let mut config = scored();
        config.thresholds.opportunistic_graft = threshold;
        config.opportunistic_graft_heartbeats = 3;
        config.degrees.d_out = 0;
        let mut solo = Solo::joined(config);
        (0..6).for_each(|n| solo.mesh_peer(peer(n)));
        subscribers(&mut solo, (6..12).map(peer));
        (0..9).for_each(|n| solo.set_score(n, 1.0));
        (9..12).for_each(|n| solo.set_score(n, 3.0));
        let early = [solo.heartbeat(), solo.heartbeat()].concat();
        assert_eq!(grafted(&early), [0; 0]);
        grafted(&solo.heartbeat())
    };
    let new = run(2.0);
    assert_eq!(new.len(), 2);
    assert!(new.iter().all(|n| *n >= 9), "not better: {new:?}");
    assert_eq!(run(0.5), [0; 0], "the median is good enough");
    assert_eq!(run(0.0), [0; 0], "off");
}

#[test]
fn explicit_peers_are_refused_without_blame() {
    let mut solo = Solo::joined(Config::waku());
    let explicit = true;
    solo.subscriber(NewPeer {
        explicit,
        ..peer(0)
    });
    let outputs = solo.frame(0, raw::graft(TOPIC));
    assert_eq!(said(&outputs, 0).prune.len(), 1);
    assert!(solo.mesh().is_empty() && solo.score(0) >= 0.0);
}

#[test]
fn who_grafts_counts_as_subscribed() {
    let mut solo = Solo::joined(Config::waku());
    solo.connect(peer(0));
    solo.frame(0, raw::graft(TOPIC));
    assert_eq!(solo.router.subscribers(&topic()).len(), 1);
    let outputs = solo.disconnect(0);
    assert!(solo.mesh().is_empty());
    assert!(
        outputs
            .iter()
            .any(|o| matches!(o, Output::Report(Report::Pruned { .. })))
    );
}

/// The mesh may contain only peers that are removed from it when they disconnect.
#[test]
fn a_graft_beyond_the_subscription_limit_leaves_no_ghost_behind() {
    let mut config = Config::waku();
    config.limits.subscriptions_per_peer_max = 2;
    let mut solo = Solo::joined(config);
    solo.connect(peer(0));
    solo.frame(0, [raw::subscribe("a"), raw::subscribe("b")].concat());
    let outputs = solo.frame(0, raw::graft(TOPIC));
    assert!(solo.mesh().is_empty());
    assert_eq!(
        said(&outputs, 0).prune.len(),
        1,
        "it must not think it is in our mesh"
    );
    solo.disconnect(0);
    assert!(solo.mesh().is_empty());
}

#[test]
fn unsubscribing_leaves_the_mesh_without_backoff() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    let outputs = solo.frame(0, raw::subscription(false, TOPIC));
    assert!(solo.mesh().is_empty() && sends(&outputs).is_empty());
    assert_eq!(grafted(&solo.frame(0, raw::subscribe(TOPIC))), [0]);
}

#[test]
fn a_v1_0_peer_is_pruned_without_what_v1_1_added() {
    let mut solo = Solo::joined(Config::waku());
    let features = features("/meshsub/1.0.0");
    solo.mesh_peer(NewPeer {
        features,
        ..peer(0)
    });
    let prune = said(&solo.input(Input::Unsubscribe(topic())), 0).prune;
    assert_eq!((prune[0].backoff_s, prune[0].peers.len()), (None, 0));
}
