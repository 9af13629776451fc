//! Dandelion++: the stem, its end, and what others can see of it; networks are in `network`.

mod network;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;

use super::raw;
use super::solo::{
    Solo, TOPIC, cancels, delivered, features, misdeeds, outbound, peer, receivers, said, sends,
    topic,
};
use crate::types::RequestId;
use crate::wire::{self, STEM_FIELD};
use crate::{
    Config, Input, Limits, MessageId, NewPeer, Output, PeerMisbehaved, STEM_ID, StrategyKind, Time,
    Verdict,
};

const HOUR: Duration = Duration::from_hours(1);

/// A router that is a relayer (or a diffuser) in all epochs, and whose embargoes do not end by themselves.
fn config(diffuser_probability: f64) -> Config {
    let mut config = Config::waku();
    config.strategy = StrategyKind::Dandelion.into();
    config.dandelion.diffuser_probability = diffuser_probability;
    config.dandelion.embargo_mean = 1_000_000 * HOUR;
    config
}

/// A peer that understands stem messages, dialled by this node.
fn able(n: u32) -> NewPeer {
    NewPeer {
        features: features(STEM_ID),
        ..outbound(n)
    }
}

/// One that dialled this node.
fn caller(n: u32) -> NewPeer {
    NewPeer {
        features: features(STEM_ID),
        ..peer(n)
    }
}

/// A joined router with dialled peers 0 to 3 in its mesh.
fn solo(config: Config) -> Solo {
    let mut solo = Solo::joined(config);
    (0..4).for_each(|n| solo.mesh_peer(able(n)));
    solo
}

fn marked(data: &[u8]) -> Vec<u8> {
    [raw::publish(TOPIC, data), raw::number(STEM_FIELD.into(), 1)].concat()
}

/// Lets peer `n` pass on the first copy of `data` in the stem and accepts it.
fn pass_on(solo: &mut Solo, n: u32, data: &[u8]) -> Vec<Output> {
    let mut outputs = solo.frame(n, marked(data));
    outputs.extend(solo.verdict(data, Verdict::Accept));
    outputs
}

/// Peers that get a message in the stem.
fn successors(outputs: &[Output]) -> Vec<u32> {
    let is_stem = |frame: &Bytes| {
        let rpc = wire::decode(&raw::strip_prefix(frame), &Limits::default()).unwrap();
        assert!(!rpc.stem || rpc.messages.len() == 1);
        rpc.stem
    };
    let sends = sends(outputs).into_iter();
    sends
        .filter(|(.., frame)| is_stem(frame))
        .map(|(n, ..)| n)
        .collect()
}

/// The only successor, if the message went to it alone.
fn successor(outputs: &[Output]) -> u32 {
    let successors = successors(outputs);
    assert_eq!(successors.len(), 1, "{successors:?}");
    assert_eq!(receivers(outputs), successors, "also as an ordinary copy");
    successors[0]
}

#[test]
fn an_embargo_spreads_own_and_passed_messages_alike() {
    let mut config = config(0.0);
    config.dandelion.embargo_mean = Duration::from_secs(5);
    let mut solo = solo(config);
    // Flooding would tell this subscriber outside the mesh that the message is ours.
    solo.subscriber(able(8));
    solo.frame(8, raw::prune(TOPIC, Some(3_600), &[]));
    solo.subscriber(caller(9));
    solo.frame(9, raw::prune(TOPIC, Some(3_600), &[]));
    solo.publish(b"own");
    assert_eq!(receivers(&solo.advance_ms(60_000)), [0, 1, 2, 3]);
    pass_on(&mut solo, 9, b"passed");
    assert_eq!(receivers(&solo.advance_ms(60_000)), [0, 1, 2, 3]);
    assert!(solo.router.usage().cache_bytes == 0, "and it is forgotten");
}

#[test]
fn what_comes_from_one_peer_goes_to_one_successor() {
    let mut solo = solo(config(0.0));
    (10..40).for_each(|n| drop(solo.subscriber(caller(n))));
    let mut ways = BTreeMap::new();
    for round in 0..3_u8 {
        for n in 10..40 {
            let next = successor(&pass_on(&mut solo, n, &[round, n as u8]));
            assert_eq!(*ways.entry(n).or_insert(next), next);
        }
        let next = successor(&solo.publish(&[round]));
        assert_eq!(*ways.entry(0).or_insert(next), next);
    }
    let chosen: BTreeSet<_> = ways.values().copied().collect();
    assert_eq!(chosen.len(), 2);
    assert!(chosen.iter().all(|n| *n < 4), "peers that we dialled");
}

#[test]
fn an_epoch_changes_successors_and_role() {
    let mut config = config(0.5);
    config.dandelion.epoch = Duration::from_secs(600);
    let mut solo = solo(config);
    let mut last = None;
    let (mut changes, mut diffused) = (Vec::new(), 0);
    for minute in 0..600_u32 {
        solo.advance_ms(60_000);
        let own = successor(&solo.publish(&minute.to_le_bytes()));
        let passed = pass_on(&mut solo, 3, &[&minute.to_le_bytes()[..], b"3"].concat());
        let is_diffuser = successors(&passed).is_empty();
        diffused += u32::from(is_diffuser);
        if last.replace((own, is_diffuser)) != Some((own, is_diffuser)) {
            changes.push(minute);
        }
    }
    assert!((200..400).contains(&diffused), "{diffused}");
    assert!(changes.len() > 30, "{changes:?}");
    let offset = changes[1] % 10;
    assert!(changes[1..].iter().all(|minute| minute % 10 == offset));
}

#[test]
fn a_diffuser_spreads_what_others_pass_on_but_not_its_own() {
    let mut solo = solo(config(1.0));
    let outputs = pass_on(&mut solo, 1, b"passed");
    assert_eq!(receivers(&outputs), [0, 2, 3]);
    assert!(successors(&outputs).is_empty());
    assert_eq!(delivered(&outputs), ["passed"]);
    successor(&solo.publish(b"own"));
}

#[test]
fn who_does_not_understand_the_stem_never_gets_a_stem_frame() {
    let mut solo = Solo::joined(config(0.0));
    (0..6).for_each(|n| solo.mesh_peer(outbound(n)));
    let outputs = solo.publish(b"nobody understands");
    assert_eq!(receivers(&outputs), [0, 1, 2, 3, 4, 5]);
    assert!(successors(&outputs).is_empty());
    solo.subscriber(caller(8));
    assert_eq!(successor(&solo.publish(b"one does")), 8);
    let back = pass_on(&mut solo, 8, b"not back to it");
    assert_eq!(receivers(&back), [0, 1, 2, 3, 4, 5]);
    solo.input(Input::Renewed(peer(8)));
    let outputs = solo.publish(b"not any more");
    assert_eq!(receivers(&outputs), [0, 1, 2, 3, 4, 5, 8]);
    assert!(successors(&outputs).is_empty());
}

#[test]
fn a_message_that_the_successor_has_already_is_spread() {
    let mut solo = Solo::joined(config(0.0));
    solo.mesh_peer(able(0));
    (1..3).for_each(|n| solo.mesh_peer(peer(n)));
    solo.frame(0, raw::idontwant(&[MessageId::of(b"m")]));
    assert_eq!(receivers(&solo.publish(b"m")), [1, 2]);
    assert_eq!(solo.router.usage().stem_messages, 0);
}

#[test]
fn a_mark_from_who_does_not_understand_it_is_ignored() {
    let mut solo = solo(config(0.0));
    solo.subscriber(peer(7));
    let outputs = pass_on(&mut solo, 7, b"m");
    assert_eq!(receivers(&outputs), [0, 1, 2, 3]);
    assert!(successors(&outputs).is_empty());
}

#[test]
fn a_router_without_the_strategy_spreads_stem_messages() {
    let mut solo = solo(Config::waku());
    let outputs = pass_on(&mut solo, 0, b"m");
    assert_eq!(receivers(&outputs), [1, 2, 3]);
    assert!(successors(&outputs).is_empty());
    assert!(successors(&solo.publish(b"own")).is_empty());
}

#[test]
fn a_hidden_message_is_asked_for_and_not_given() {
    let mut solo = solo(config(0.0));
    let next = successor(&pass_on(&mut solo, 0, &[5; 900]));
    let id = MessageId::of(&[5; 900]);
    for n in 0..4 {
        assert!(
            said(&solo.frame(n, raw::iwant(&[id])), n)
                .messages
                .is_empty()
        );
    }
    let outputs = solo.advance_ms(5_000);
    assert!((0..4).all(|n| said(&outputs, n).ihave.is_empty()));
    let asked = solo.frame(3, raw::ihave(TOPIC, &[id]));
    assert_eq!(said(&asked, 3).iwant, [id]);
    let answer = solo.frame(3, raw::publish(TOPIC, &[5; 900]));
    assert_eq!(receivers(&answer), [0, 1, 2]);
    assert!(next < 4 && delivered(&answer).is_empty());
    assert!(misdeeds(&solo.advance_ms(10_000)).is_empty());
}

#[test]
fn an_ordinary_copy_ends_the_stem() {
    let mut solo = solo(config(0.0));
    let large = [6; 900];
    for data in [&b"passed"[..], &large] {
        let outputs = pass_on(&mut solo, 0, data);
        assert_eq!(delivered(&outputs), [data.to_vec()]);
        assert!((0..4).all(|n| said(&outputs, n).idontwant.is_empty()));
        let next = successor(&outputs);
        assert!(successors(&solo.frame(1, marked(data))).is_empty());
        assert_eq!(
            solo.router.usage().stem_messages,
            1,
            "a stem copy ends nothing"
        );
        let outputs = solo.frame(2, raw::publish(TOPIC, data));
        assert_eq!(receivers(&outputs), [0, 1, 3]);
        let is_large = data.len() > 512;
        assert_eq!(said(&outputs, 1).idontwant.len(), usize::from(is_large));
        assert_eq!(cancels(&outputs).len(), usize::from(next == 2));
        assert!(delivered(&outputs).is_empty());
        assert_eq!(solo.router.usage().stem_messages, 0);
        // Once, as for any message.
        assert!(receivers(&solo.frame(3, raw::publish(TOPIC, data))).is_empty());
        let id = MessageId::of(data);
        assert_eq!(said(&solo.frame(0, raw::iwant(&[id])), 0).messages.len(), 1);
    }
    let next = successor(&solo.publish(b"own"));
    assert!(next < 4);
    let outputs = solo.frame(2, raw::publish(TOPIC, b"own"));
    assert_eq!(receivers(&outputs), [0, 1, 3]);
}

#[test]
fn an_ordinary_copy_that_comes_before_the_verdict_ends_the_stem() {
    let mut solo = solo(config(0.0));
    solo.frame(0, marked(b"m"));
    solo.frame(1, marked(b"m"));
    solo.frame(2, raw::publish(TOPIC, b"m"));
    let outputs = solo.verdict(b"m", Verdict::Accept);
    assert_eq!(receivers(&outputs), [3]);
    assert!(successors(&outputs).is_empty());
    assert_eq!(delivered(&outputs), ["m"]);
}

#[test]
fn a_hidden_message_outlives_its_time_among_the_seen() {
    let mut config = config(0.0);
    config.seen_ttl = Duration::from_secs(5);
    let mut solo = solo(config);
    pass_on(&mut solo, 0, b"m");
    solo.advance_ms(20_000);
    assert_eq!(solo.router.usage().seen, 0);
    let outputs = solo.frame(2, raw::publish(TOPIC, b"m"));
    assert_eq!(receivers(&outputs), [0, 1, 3]);
    assert!(delivered(&outputs).is_empty(), "delivered twice");
    let again = |o: &Output| matches!(o, Output::Validate { .. });
    let outputs = solo.frame(3, raw::publish(TOPIC, b"m"));
    assert!(!outputs.iter().any(again));
}

#[test]
fn a_successor_that_leaves_is_replaced() {
    let mut solo = solo(config(0.0));
    let first = successor(&solo.publish(b"1"));
    solo.disconnect(first);
    let second = successor(&solo.publish(b"2"));
    assert_eq!(successor(&solo.publish(b"3")), second);
    solo.frame(second, raw::subscription(false, TOPIC));
    let third = successor(&solo.publish(b"4"));
    solo.disconnect(third);
    let fourth = successor(&solo.publish(b"5"));
    assert_eq!(BTreeSet::from([first, second, third, fourth]).len(), 4);
    solo.disconnect(fourth);
    assert!(receivers(&solo.publish(b"6")).is_empty());
    solo.subscriber(able(first));
    assert_eq!(successor(&solo.publish(b"7")), first);
}

#[test]
fn beyond_the_bounds_messages_are_spread_at_once() {
    let mut config = config(0.0);
    config.limits.stem_messages_max = 3;
    config.limits.stem_bytes_max = 100;
    let mut solo = solo(config);
    successor(&solo.publish(&[1; 60]));
    let outputs = solo.publish(&[2; 60]);
    assert_eq!(
        (receivers(&outputs).len(), successors(&outputs)),
        (4, vec![])
    );
    successor(&solo.publish(&[3; 30]));
    successor(&solo.publish(&[4; 10]));
    assert_eq!(
        receivers(&pass_on(&mut solo, 0, b"one too many")),
        [1, 2, 3]
    );
    let usage = solo.router.usage();
    assert_eq!((usage.stem_messages, usage.stem_bytes), (3, 100));
    solo.frame(2, raw::publish(TOPIC, &[1; 60]));
    successor(&solo.publish(&[5; 60]));
}

#[test]
fn a_frame_that_has_no_room_for_the_mark_is_spread() {
    let mut config = config(0.0);
    config.limits.frame_bytes_max = 1_000;
    let mut solo = solo(config);
    // An ordinary frame has 11 bytes around the data, the mark 5.
    successor(&solo.publish(&[1; 1_000 - 11 - 5]));
    assert_eq!(receivers(&solo.publish(&[2; 1_000 - 11])).len(), 4);
}

#[test]
fn stem_copies_earn_nothing_and_invalid_ones_cost() {
    let mut config = config(0.0);
    let score = config.score.as_mut().unwrap();
    score.application_weight = 1.0;
    // Each mesh delivery (P3) shows in the score.
    let topic = &mut score.default_topic;
    (topic.mesh_deliveries_weight, topic.mesh_deliveries_cap) = (-1.0, 20.0);
    topic.mesh_deliveries_threshold = 20.0;
    topic.mesh_deliveries_activation = Duration::ZERO;
    let mut solo = solo(config);
    (0..4).for_each(|n| solo.set_score(n, 1_000.0));
    solo.advance_ms(15_000);
    assert!(solo.score(0) < 1_000.0);
    let before = [0, 1, 2].map(|n| solo.score(n));
    pass_on(&mut solo, 0, b"valid");
    solo.frame(1, marked(b"valid"));
    assert_eq!([0, 1].map(|n| solo.score(n)), before[..2]);
    solo.frame(2, raw::publish(TOPIC, b"valid"));
    assert!(solo.score(2) > before[2], "the first ordinary copy");
    let id = MessageId::of(b"invalid");
    solo.frame(0, marked(b"invalid"));
    solo.frame(1, marked(b"invalid"));
    let outputs = solo.verdict(b"invalid", Verdict::Reject);
    let what = PeerMisbehaved::InvalidMessage { id };
    assert_eq!(misdeeds(&outputs), [(0, what), (1, what)]);
    assert!(receivers(&outputs).is_empty());
    let late = solo.frame(2, marked(b"invalid"));
    assert_eq!(misdeeds(&late), [(2, what)]);
    assert_eq!(solo.router.usage().stem_messages, 0);
}

#[test]
fn a_republished_message_leaves_the_stem() {
    let mut solo = solo(config(0.0));
    successor(&solo.publish(b"m"));
    let outputs = solo.input(Input::Republish {
        topic: topic(),
        data: Bytes::from_static(b"m"),
        request: RequestId(1),
    });
    assert_eq!(receivers(&outputs), [0, 1, 2, 3]);
    assert_eq!(solo.router.usage().stem_messages, 0);
}

#[test]
fn embargoes_are_timers_of_the_router() {
    let mut config = config(0.0);
    config.dandelion.embargo_mean = Duration::from_millis(50);
    let mut solo = solo(config);
    solo.publish(b"m");
    let next = solo.router.next_timeout();
    assert!(next > solo.now && next < Time::from_millis(1_000));
}
