//! IWANT among peers that lie, are slow, lose their answers, or have disconnected.

use std::time::Duration;

use super::raw;
use super::solo::{Solo, TOPIC, misdeeds, outbound, peer, said, strict};
use crate::{Config, Input, MessageId, Output, PeerIx};

fn id(data: &[u8]) -> Vec<MessageId> {
    vec![MessageId::of(data)]
}

/// A router without a mesh, and subscribers that send IHAVE.
fn announcers(config: Config, count: u32) -> Solo {
    let mut solo = Solo::joined(config);
    for n in 0..count {
        solo.subscriber(peer(n));
        solo.frame(n, raw::prune(TOPIC, Some(3_600), &[]));
    }
    solo
}

fn announce(solo: &mut Solo, n: u32, data: &[u8]) -> Vec<Output> {
    solo.frame(n, raw::ihave(TOPIC, &id(data)))
}

fn asked(outputs: &[Output], n: u32) -> bool {
    !said(outputs, n).iwant.is_empty()
}

/// Twelve strangers announce a message first and never deliver it: if they were asked one after the other,
/// for a second each, the peer that has the message would have dropped it when its turn came.
#[test]
fn strangers_that_never_deliver_cannot_hide_a_message() {
    let mut solo = announcers(strict(), 13);
    (0..12).for_each(|liar| drop(announce(&mut solo, liar, b"m")));
    solo.advance_ms(500);
    let mut honest = announce(&mut solo, 12, b"m");
    honest.extend(solo.advance_ms(4_500));
    assert!(
        asked(&honest, 12),
        "within the five seconds in which it has the message"
    );
}

#[test]
fn after_the_first_lie_whoever_delivers_is_asked_at_once() {
    let mut solo = announcers(strict(), 13);
    (0..13).for_each(|n| drop(announce(&mut solo, n, b"first")));
    solo.advance_ms(5_100);
    solo.deliver(12, b"first");
    for data in [b"second", b"third!"] {
        let lies: Vec<_> = (0..12)
            .flat_map(|liar| announce(&mut solo, liar, data))
            .collect();
        let tried = (0..12).filter(|liar| asked(&lies, *liar)).count();
        assert!(
            tried <= 2,
            "one that lied and one that was never asked: {tried}"
        );
        assert!(
            asked(&announce(&mut solo, 12, data), 12),
            "no lie is waited for"
        );
        solo.deliver(12, data);
    }
    assert_eq!(solo.score(12), 3.0);
}

#[test]
fn among_those_that_wait_the_best_is_asked_first() {
    let mut solo = announcers(strict(), 4);
    solo.deliver(3, b"a message of its own accord");
    (0..4).for_each(|n| drop(announce(&mut solo, n, b"m")));
    let next = solo.advance_ms(1_000);
    assert!(asked(&next, 3), "who brought something goes first");
    assert!(
        asked(&next, 1) && !asked(&next, 2),
        "one more makes up for the failure"
    );
}

#[test]
fn a_habit_of_breaking_promises_is_an_offence_and_accidents_are_none() {
    let mut solo = announcers(strict(), 1);
    let mut outputs = Vec::new();
    for n in 0..7u8 {
        announce(&mut solo, 0, &[n]);
        outputs.extend(solo.advance_ms(4_000));
    }
    assert_eq!(misdeeds(&outputs), [], "seven in a row");
    announce(&mut solo, 0, b"kept");
    solo.deliver(0, b"kept");
    for n in 0..8u8 {
        assert!(solo.score(0) >= 0.0, "after {n} more");
        announce(&mut solo, 0, &[100 + n]);
        solo.advance_ms(5_000);
    }
    assert!(solo.score(0) < 0.0);
}

/// Behaviour of a reference node whose outgoing stream was reset with our answers in it.
#[test]
fn what_was_asked_on_a_connection_that_ended_is_no_broken_promise() {
    let mut solo = announcers(strict(), 1);
    solo.frame(0, raw::ihave(TOPIC, &raw::made_up_ids(0, 50)));
    solo.advance_ms(900);
    solo.disconnect(0);
    assert_eq!(solo.router.usage().iwant_requests, 0);
    solo.subscriber(peer(0));
    assert_eq!(misdeeds(&solo.advance_ms(10_000)), []);
    assert!(solo.score(0) >= 0.0);
}

#[test]
fn a_peer_that_is_sending_something_long_is_not_blamed() {
    let mut solo = announcers(strict(), 1);
    solo.frame(0, raw::ihave(TOPIC, &raw::made_up_ids(0, 50)));
    solo.input(Input::TransferStarted(PeerIx(0)));
    assert_eq!(misdeeds(&solo.advance_ms(10_000)), []);
}

/// The liars would keep us busy until the peer with the message has dropped it from its cache.
#[test]
fn nobody_is_blamed_for_an_id_that_is_older_than_its_cache() {
    let mut config = strict();
    config.iwant_in_flight_retry_max = 1;
    config.broken_promises_habit = 1;
    let mut solo = announcers(config, 5);
    (0..5).for_each(|n| drop(announce(&mut solo, n, b"m")));
    let outputs = solo.advance_ms(12_000);
    let blamed: Vec<_> = misdeeds(&outputs)
        .into_iter()
        .map(|(peer, _)| peer)
        .collect();
    assert!(asked(&outputs, 3), "it may still have it");
    assert_eq!(blamed, [0, 1, 2], "the others were asked too late");
}

/// A reference node drops messages of more than 138,240 bytes from an answer of several.
#[test]
fn long_messages_are_asked_for_one_by_one() {
    let mut solo = announcers(strict(), 2);
    let frames = |solo: &mut Solo, first| {
        let outputs = solo.frame(0, raw::ihave(TOPIC, &raw::made_up_ids(first, 6)));
        let iwants = super::solo::sends(&outputs).len();
        assert_eq!(said(&outputs, 0).iwant.len(), 6);
        iwants
    };
    assert_eq!(frames(&mut solo, 0), 1);
    solo.deliver(1, &[1; 146_000]);
    assert_eq!(frames(&mut solo, 10), 6);
    solo.advance_ms(8_000);
    assert_eq!(frames(&mut solo, 20), 1, "they were long ago");
}

/// One frame for each of 5000 long messages would exceed a peer's send queue, and end its connection.
#[test]
fn of_many_long_messages_a_heartbeat_asks_for_no_more_than_a_peer_can_queue() {
    let mut solo = announcers(strict(), 2);
    solo.deliver(1, &[1; 146_000]);
    let mut frames = |first| {
        let outputs = solo.frame(0, raw::ihave(TOPIC, &raw::made_up_ids(first, 400)));
        super::solo::sends(&outputs).len()
    };
    assert_eq!(frames(0), (10 << 20) / 146_000);
    assert_eq!(frames(1_000), 0, "not before the next heartbeat");
    solo.advance_ms(1_000);
    assert!(asked(
        &solo.frame(0, raw::ihave(TOPIC, &raw::made_up_ids(2_000, 10))),
        0
    ));
}

#[test]
fn a_peer_that_left_requests_unanswered_is_asked_for_few_ids() {
    let mut solo = announcers(strict(), 1);
    solo.frame(0, raw::ihave(TOPIC, &raw::made_up_ids(0, 5_000)));
    solo.advance(Duration::from_secs(5));
    let outputs = solo.frame(0, raw::ihave(TOPIC, &raw::made_up_ids(10_000, 5_000)));
    assert_eq!(said(&outputs, 0).iwant.len(), 64);
}

#[test]
fn one_who_knows_better_takes_the_place_of_a_liar_among_the_holders() {
    let mut config = strict();
    config.limits.holders_per_id_max = 3;
    let mut solo = announcers(config, 6);
    (0..5).for_each(|liar| drop(announce(&mut solo, liar, b"first")));
    solo.advance_ms(6_000);
    solo.deliver(5, b"of its own accord");
    // One peer is asked, three wait; the sixth is better than any of them.
    solo.input(Input::TransferStarted(PeerIx(0)));
    (0..6).for_each(|n| drop(announce(&mut solo, n, b"m")));
    let outputs = solo.input(Input::TransferEnded(PeerIx(0)));
    assert!(asked(&outputs, 5));
}

/// An outbound peer announces a message that it has just sent: no IWANT is sent.
#[test]
fn what_is_known_is_not_asked_for() {
    let mut solo = Solo::joined(Config::waku());
    solo.mesh_peer(outbound(0));
    solo.deliver(0, b"m");
    assert!(!asked(&announce(&mut solo, 0, b"m"), 0));
}
