//! Bytes of topics, and budgets that are used up.

use std::collections::BTreeMap;
use std::time::Duration;

use super::raw;
use super::solo::{Solo, TOPIC, delivered, misdeeds, peer, receivers, said, topic};
use crate::{Config, Input, MessageId, Output, Rule, Topic, TopicBudget, TopicTraffic, Verdict};

/// Length of the messages of these tests; with the topic's name they count 1000 bytes.
const LEN: usize = 999;

fn data(n: u8) -> Vec<u8> {
    vec![n; LEN]
}

/// A router whose topic may use 1000 bytes per second, 4000 at once.
fn limited() -> Solo {
    let mut config = Config::waku();
    config.topic_budget = Some(TopicBudget {
        bytes_per_s: 1000,
        burst_bytes: 4000,
    });
    let mut solo = Solo::joined(config);
    (0..3).for_each(|n| solo.mesh_peer(peer(n)));
    solo
}

fn traffic(solo: &Solo) -> TopicTraffic {
    solo.router.traffic(&topic())
}

fn is_validated(outputs: &[Output]) -> bool {
    let validates = |output: &Output| matches!(output, Output::Validate { .. });
    outputs.iter().any(validates)
}

#[test]
fn bytes_are_counted_in_both_directions() {
    let mut solo = Solo::joined(Config::waku());
    (0..3).for_each(|n| solo.mesh_peer(peer(n)));
    let mut expected = TopicTraffic::default();
    assert_eq!(traffic(&solo), expected);
    solo.frame(0, raw::publish(TOPIC, &data(1)));
    solo.frame(1, raw::publish(TOPIC, &data(1)));
    expected.received_bytes = 2000;
    assert_eq!(traffic(&solo), expected, "two copies, none judged");
    let outputs = solo.verdict(&data(1), Verdict::Accept);
    expected.accepted_bytes = 1000;
    expected.sent_bytes = 1000;
    assert_eq!(receivers(&outputs), [2]);
    assert_eq!(traffic(&solo), expected);
    solo.frame(0, raw::publish(TOPIC, &data(2)));
    solo.verdict(&data(2), Verdict::Reject);
    expected.received_bytes += 1000;
    assert_eq!(traffic(&solo), expected, "an invalid one is received only");
    solo.publish(&data(3));
    expected.sent_bytes += 3000;
    assert_eq!(traffic(&solo), expected);
    assert_eq!(
        solo.router.traffic(&Topic::new("other")),
        TopicTraffic::default()
    );
}

#[test]
fn a_message_that_is_served_again_counts_again() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(peer(0));
    solo.publish(&data(1));
    solo.subscriber(peer(1));
    let before = traffic(&solo).sent_bytes;
    let id = MessageId::of(&data(1));
    let outputs = solo.frame(1, raw::iwant(&[id]));
    assert_eq!(receivers(&outputs), [1]);
    let served = traffic(&solo).sent_bytes - before;
    // The whole frame, whose tags and lengths count too.
    assert!((1000..1020).contains(&served), "{served}");
}

#[test]
fn what_exceeds_the_budget_is_dropped_and_nobody_is_blamed() {
    let mut solo = limited();
    for n in 0..4 {
        assert!(is_validated(&solo.frame(0, raw::publish(TOPIC, &data(n)))));
    }
    let outputs = solo.frame(0, raw::publish(TOPIC, &data(4)));
    assert!(!is_validated(&outputs));
    assert_eq!(misdeeds(&outputs), []);
    assert_eq!(solo.score(0), 0.0);
    let now = traffic(&solo);
    assert_eq!((now.received_bytes, now.dropped), (5000, 1));
    // One second for the dropped copy, and part of another for some room.
    solo.advance_ms(1_001);
    let outputs = solo.frame(1, raw::publish(TOPIC, &data(4)));
    assert!(is_validated(&outputs), "it comes again, from another peer");
    let outputs = solo.verdict(&data(4), Verdict::Accept);
    assert_eq!(delivered(&outputs).len(), 1);
}

#[test]
fn nothing_is_asked_for_while_there_is_no_room() {
    let mut solo = limited();
    for n in 0..4 {
        solo.frame(0, raw::publish(TOPIC, &data(n)));
    }
    let ids = raw::made_up_ids(1, 3);
    let outputs = solo.frame(1, raw::ihave(TOPIC, &ids));
    assert_eq!(said(&outputs, 1).iwant, []);
    assert_eq!(traffic(&solo).not_requested, 3);
    solo.advance_ms(1_001);
    let outputs = solo.frame(1, raw::ihave(TOPIC, &ids));
    assert_eq!(said(&outputs, 1).iwant.len(), 3);
}

#[test]
fn own_messages_are_charged_and_the_time_until_there_is_room_is_known() {
    let mut solo = limited();
    let wait = |solo: &Solo| solo.router.bandwidth_wait(solo.now, &topic());
    assert_eq!(receivers(&solo.publish(&data(1))).len(), 3);
    assert_eq!(wait(&solo), Duration::ZERO);
    // Three more copies, which overdraw the budget by 2000.
    solo.publish(&data(2));
    let first = wait(&solo);
    assert_eq!(first.as_millis(), 2000);
    solo.advance(first - Duration::from_millis(1));
    assert_eq!(wait(&solo).as_millis(), 1);
    assert!(!is_validated(&solo.frame(0, raw::publish(TOPIC, &data(3)))));
    solo.advance_ms(1_002);
    assert_eq!(wait(&solo), Duration::ZERO);
    let unknown = Topic::new("other");
    assert_eq!(
        solo.router.bandwidth_wait(solo.now, &unknown),
        Duration::ZERO
    );
}

#[test]
fn a_flood_overdraws_no_more_than_the_burst() {
    let mut solo = limited();
    for n in 0..200 {
        solo.frame(0, raw::publish(TOPIC, &data(n)));
    }
    let wait = solo.router.bandwidth_wait(solo.now, &topic());
    assert_eq!(wait.as_millis(), 4000);
}

#[test]
fn topics_have_budgets_of_their_own() {
    let mut config = Config::waku();
    let small = TopicBudget::per_second(1);
    config.topic_budgets = BTreeMap::from([(Topic::new("other"), small)]);
    let mut solo = Solo::joined(config.clone());
    solo.input(Input::Subscribe(Topic::new("other")));
    solo.mesh_peer(peer(0));
    for n in 0..10 {
        solo.frame(0, raw::publish("other", &data(n)));
        let outputs = solo.frame(0, raw::publish(TOPIC, &data(n + 100)));
        assert!(is_validated(&outputs));
    }
    assert_eq!(solo.router.traffic(&Topic::new("other")).dropped, 9);
    config.topic_budget = Some(TopicBudget::per_second(0));
    assert_eq!(config.validate().unwrap_err().0, Rule::TopicBudget);
}
