//! Strategies for large messages: staggered and reduced sending.

use std::time::Duration;

use super::net::Net;
use super::raw;
use super::solo::{Solo, TOPIC, features, outbound, peer, receivers, said, sends};
use crate::{Config, LARGE_MESSAGES_ID, MessageId, NewPeer, StrategyKind, Verdict};

const LARGE: [u8; 2_001] = [1; 2_001];
const SMALL: [u8; 2_000] = [2; 2_000];

fn with(strategy: StrategyKind) -> Config {
    let mut config = Config::waku();
    config.strategy = strategy.into();
    config.flood_publish = crate::FloodPublish::Off;
    config
}

fn agreeing(n: u32) -> NewPeer {
    NewPeer {
        features: features(LARGE_MESSAGES_ID),
        ..outbound(n)
    }
}

fn mesh_of(config: Config, count: u32) -> Solo {
    let mut solo = Solo::joined(config);
    (0..count).for_each(|n| solo.mesh_peer(agreeing(n)));
    solo
}

fn id(data: &[u8]) -> [MessageId; 1] {
    [MessageId::of(data)]
}

#[test]
fn staggered_copies_leave_two_at_a_time() {
    let mut solo = mesh_of(with(StrategyKind::Staggered), 6);
    let mut all = receivers(&solo.publish(&LARGE));
    assert_eq!(all.len(), 2);
    assert_eq!(receivers(&solo.advance_ms(34)), [0_u32; 0]);
    let second = receivers(&solo.advance_ms(1));
    assert_eq!(second.len(), 2);
    all.extend(second);
    all.extend(receivers(&solo.advance_ms(35)));
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4, 5], "everybody, once");
    assert!(receivers(&solo.advance_ms(500)).is_empty());
}

#[test]
fn small_messages_and_peers_that_did_not_agree_do_not_wait() {
    for strategy in [StrategyKind::Staggered, StrategyKind::Reduced] {
        let mut solo = mesh_of(with(strategy), 6);
        assert_eq!(receivers(&solo.publish(&SMALL)).len(), 6, "{strategy:?}");
        let mut solo = Solo::joined(with(strategy));
        (0..6).for_each(|n| solo.mesh_peer(outbound(n)));
        assert_eq!(receivers(&solo.publish(&LARGE)).len(), 6, "{strategy:?}");
    }
}

#[test]
fn a_copy_that_waits_for_its_turn_is_saved_by_idontwant_and_by_a_copy() {
    let mut solo = mesh_of(with(StrategyKind::Staggered), 6);
    let first = receivers(&solo.publish(&LARGE));
    let waiting: Vec<u32> = (0..6).filter(|n| !first.contains(n)).collect();
    solo.frame(waiting[0], raw::idontwant(&id(&LARGE)));
    solo.frame(waiting[1], raw::publish(TOPIC, &LARGE));
    solo.disconnect(waiting[2]);
    assert_eq!(receivers(&solo.advance_ms(500)), [waiting[3]]);
}

/// A profile may leave queued copies alone, but a copy that has not been queued is never sent against an IDONTWANT.
#[test]
fn idontwant_reaches_a_copy_that_is_not_queued_yet_in_every_profile() {
    let mut config = with(StrategyKind::Staggered);
    config.policy.cancels_queued = false;
    let mut solo = mesh_of(config, 3);
    let first = receivers(&solo.publish(&LARGE));
    let waiting = (0..3).find(|n| !first.contains(n)).unwrap();
    solo.frame(waiting, raw::idontwant(&id(&LARGE)));
    assert_eq!(receivers(&solo.advance_ms(500)), [0_u32; 0]);
}

#[test]
fn reduced_sending_pushes_some_copies_and_tells_the_others() {
    let mut solo = mesh_of(with(StrategyKind::Reduced), 6);
    let outputs = solo.publish(&LARGE);
    let pushed = receivers(&outputs);
    assert_eq!(pushed.len(), 3);
    let told: Vec<_> = (0..6)
        .filter(|n| {
            said(&outputs, *n)
                .ihave
                .iter()
                .any(|ihave| ihave.ids == id(&LARGE))
        })
        .collect();
    let others: Vec<_> = (0..6).filter(|n| !pushed.contains(n)).collect();
    assert_eq!(told, others);
    let answer = solo.frame(told[0], raw::iwant(&id(&LARGE)));
    assert_eq!(receivers(&answer), [told[0]]);
}

#[test]
fn those_who_did_not_agree_count_among_the_copies() {
    let mut solo = Solo::joined(with(StrategyKind::Reduced));
    (0..2).for_each(|n| solo.mesh_peer(outbound(n)));
    (2..6).for_each(|n| solo.mesh_peer(agreeing(n)));
    let pushed = receivers(&solo.publish(&LARGE));
    assert_eq!((&pushed[..2], pushed.len()), (&[0, 1][..], 3));
}

#[test]
fn an_id_is_left_alone_while_its_copy_may_be_under_way() {
    let mut config = with(StrategyKind::Reduced);
    config.large.iwant_delay = Duration::from_millis(300);
    config.iwant_in_flight_max = 2;
    let mut solo = mesh_of(config.clone(), 4);
    assert!(sends(&solo.frame(0, raw::ihave(TOPIC, &id(&LARGE)))).is_empty());
    solo.deliver(1, &LARGE);
    let later = solo.advance_ms(5_000);
    assert!((0..4).all(|n| said(&later, n).iwant.is_empty()), "it came");

    let mut solo = mesh_of(config, 4);
    solo.frame(0, raw::ihave(TOPIC, &id(&LARGE)));
    solo.advance_ms(100);
    solo.frame(1, raw::ihave(TOPIC, &id(&LARGE)));
    assert_eq!(solo.router.usage().iwant_waiting, 1);
    let early = solo.advance_ms(199);
    assert!((0..4).all(|n| said(&early, n).iwant.is_empty()));
    let due = solo.advance_ms(1);
    assert_eq!(said(&due, 0).iwant, id(&LARGE), "the first who has it");
    let retry = solo.advance_ms(1_000);
    assert_eq!(said(&retry, 1).iwant, id(&LARGE), "then the next");
    assert_eq!(solo.router.usage().iwant_waiting, 0);
}

/// One request in flight: the next holder is asked when the first request times out, and is not forgotten.
#[test]
fn with_one_request_in_flight_the_next_holder_waits_for_its_end() {
    let mut config = with(StrategyKind::Reduced);
    config.large.iwant_delay = Duration::from_millis(300);
    let mut solo = mesh_of(config, 4);
    solo.frame(0, raw::ihave(TOPIC, &id(&LARGE)));
    solo.frame(1, raw::ihave(TOPIC, &id(&LARGE)));
    let first = solo.advance_ms(300);
    assert_eq!(said(&first, 0).iwant, id(&LARGE));
    let meanwhile = solo.advance_ms(999);
    assert!((0..4).all(|n| said(&meanwhile, n).iwant.is_empty()));
    let next = solo.advance_ms(1);
    assert_eq!(said(&next, 1).iwant, id(&LARGE));
    assert!(said(&next, 0).iwant.is_empty());
}

/// Each large message is announced separately, so there are more announcements than in the gossip of
/// heartbeats.
#[test]
fn announcements_of_who_agreed_are_not_counted_as_gossip() {
    let mut config = with(StrategyKind::Reduced);
    config.limits.announcements_per_heartbeat_max = 40;
    let asked = |features: crate::Features| {
        let mut solo = Solo::joined(config.clone());
        let peer = NewPeer {
            features,
            ..outbound(0)
        };
        solo.mesh_peer(peer);
        let ids = (0..50_u8).map(|n| id(&[n]));
        let asked = ids.filter(|id| {
            let outputs = solo.frame(0, raw::ihave(TOPIC, id));
            said(&outputs, 0).iwant == *id
        });
        asked.count()
    };
    assert_eq!(asked(features("/meshsub/1.2.0")), 10);
    assert_eq!(asked(features(LARGE_MESSAGES_ID)), 40, "bounded too");
}

#[test]
fn a_holder_that_is_gone_is_not_asked() {
    let mut config = with(StrategyKind::Reduced);
    config.large.iwant_delay = Duration::from_millis(300);
    let mut solo = mesh_of(config, 4);
    solo.frame(0, raw::ihave(TOPIC, &id(&LARGE)));
    solo.frame(1, raw::ihave(TOPIC, &id(&LARGE)));
    solo.disconnect(0);
    let due = solo.advance_ms(300);
    assert_eq!(said(&due, 1).iwant, id(&LARGE));
}

/// Every strategy delivers every message to every node, on a network where the mesh alone would do.
#[test]
fn everybody_gets_every_large_message() {
    for strategy in [StrategyKind::Staggered, StrategyKind::Reduced] {
        let mut config = with(strategy);
        config.large.push = 1;
        let mut net = Net::new(vec![config; 20], 20);
        for node in 0..20 {
            for step in [1, 3, 7] {
                net.connect_with(node, (node + step) % 20, features(LARGE_MESSAGES_ID));
            }
        }
        net.subscribe_all();
        net.run_ms(5_000);
        net.publish(0, &LARGE);
        net.publish(5, &[3; 5_000]);
        net.run_ms(10_000);
        for node in 0..20 {
            let expected = if node == 0 || node == 5 { 1 } else { 2 };
            assert_eq!(
                net.delivered[node].len(),
                expected,
                "{strategy:?}, node {node}"
            );
        }
    }
}

#[test]
fn a_peer_without_the_mesh_feature_is_still_sent_its_copy() {
    let mut solo = mesh_of(with(StrategyKind::Reduced), 4);
    let floodsub = NewPeer {
        features: features("/floodsub/1.0.0"),
        ..peer(9)
    };
    solo.subscriber(floodsub);
    solo.frame(0, raw::publish(TOPIC, &LARGE));
    let outputs = solo.verdict(&LARGE, Verdict::Accept);
    assert!(receivers(&outputs).contains(&9));
}
