//! Blame for two messages under one nullifier: only a peer that sent both is blamed.

use std::time::Duration;

use undertone_gossip::PeerIx;

use super::fake_proof::*;
use super::solo::*;
use crate::{Input, Output, Rejection};

/// Rejection of a peer's message under nullifier 1, and the peers blamed for it.
fn spam(solo: &mut Solo, peer: u32, payload: &str) -> (Rejection, Vec<u32>) {
    let outputs = solo.receive_message(peer, &proved(payload, 1));
    (rejection(&outputs), blamed(&outputs))
}

#[test]
fn who_sent_one_message_under_a_nullifier_is_not_blamed_and_who_sent_two_is() {
    let [first, repeated] = [false, true].map(|repeated| Rejection::Spam { repeated });
    let mut solo = Solo::new();
    solo.accept(1, &proved("a", 1));
    // Peer 2 saw b before a, as an honest relay may: one message per nullifier causes no blame.
    assert_eq!(spam(&mut solo, 2, "b"), (first, vec![]));
    assert_eq!(spam(&mut solo, 2, "c"), (repeated, vec![2]));
    assert_eq!(spam(&mut solo, 2, "d"), (repeated, vec![2]));
    // Peer 1 has used its free message: the one that was accepted.
    assert_eq!(spam(&mut solo, 1, "e"), (repeated, vec![1]));
    assert_eq!(spam(&mut solo, 3, "f"), (first, vec![]));
    // Another nullifier has its own free message.
    solo.accept(3, &proved("a", 2));
    let outputs = solo.receive_message(2, &proved("b", 2));
    assert_eq!((rejection(&outputs), blamed(&outputs)), (first, vec![]));
}

#[test]
fn of_two_messages_checked_side_by_side_only_a_common_sender_is_blamed() {
    for (sender, expected) in [(2, vec![]), (1, vec![1])] {
        for newest_first in [false, true] {
            let mut solo = Solo::new();
            let mut checks = [
                solo.receive_to_check(1, &proved("a", 1)),
                solo.receive_to_check(sender, &proved("b", 1)),
            ];
            if newest_first {
                checks.reverse();
            }
            assert_eq!(blamed(&solo.answer(checks[0], true)), [0; 0]);
            let outputs = solo.answer(checks[1], true);
            let repeated = sender == 1;
            assert_eq!(rejection(&outputs), Rejection::Spam { repeated });
            assert_eq!(blamed(&outputs), expected);
        }
    }
}

#[test]
fn who_passes_on_a_guilty_peers_second_message_in_good_faith_is_not_blamed() {
    let mut solo = Solo::new();
    solo.accept(1, &proved("a", 1));
    assert_eq!(
        spam(&mut solo, 1, "b"),
        (Rejection::Spam { repeated: true }, vec![1])
    );
    // Peer 2 got b from 1 as well, does not know a, and forwards b to us.
    let outputs = solo.receive_message(2, &proved("b", 1));
    assert_eq!(blamed(&outputs), [0; 0]);
}

#[test]
fn a_message_that_there_is_no_room_for_does_not_count_against_its_sender() {
    let mut config = config();
    config.rln.as_mut().unwrap().checks_max = 1;
    let mut solo = Solo::with(config);
    let waiting = solo.receive_to_check(1, &proved("other", 2));
    assert_eq!(spam(&mut solo, 2, "a"), (Rejection::Capacity, vec![]));
    solo.answer(waiting, true);
    solo.accept(1, &proved("b", 1));
    let repeated = false;
    assert_eq!(
        spam(&mut solo, 2, "c"),
        (Rejection::Spam { repeated }, vec![])
    );
}

#[test]
fn senders_are_forgotten_with_the_nullifier() {
    let mut solo = Solo::new();
    solo.accept(1, &proved("now", 1));
    let outputs = solo.receive_message(2, &proved("spam", 1));
    solo.answer(ticket(&outputs).unwrap(), true);
    assert_eq!(solo.relay.nullifier_senders.len(), 1);
    // The record lasts until 40 s into the next epoch, as in the nullifier log.
    solo.wait(Duration::from_secs(440) - Duration::from_nanos(1));
    assert_eq!(solo.relay.nullifier_senders.len(), 1);
    solo.wait(Duration::from_nanos(1));
    assert_eq!(solo.relay.nullifier_senders.len(), 0);
}

#[test]
fn no_more_nullifiers_are_remembered_than_the_limit() {
    let mut config = config();
    config
        .rln
        .as_mut()
        .unwrap()
        .nullifier_senders
        .max_nullifiers = 2;
    let mut solo = Solo::with(config);
    for nullifier in 1..=3 {
        solo.accept(1, &proved("first", nullifier));
        assert!(solo.relay.nullifier_senders.len() <= 2);
    }
    // Nullifier 1 was evicted: one more free message, and then no more.
    let [first, repeated] = [false, true].map(|repeated| Rejection::Spam { repeated });
    assert_eq!(spam(&mut solo, 1, "b"), (first, vec![]));
    assert_eq!(spam(&mut solo, 1, "c"), (repeated, vec![1]));
}

#[test]
fn an_index_that_was_given_away_inherits_no_blame() {
    let mut config = config();
    config.gossip.limits.retained_peers_max = 0;
    let mut solo = Solo::with(config);
    solo.accept(1, &proved("a", 1));
    let outputs = solo.receive_message(2, &proved("b", 1));
    solo.answer(ticket(&outputs).unwrap(), false);
    let outputs = solo.input(Input::Disconnected(PeerIx(2)));
    let is_free = |o: &Output| matches!(o, Output::Forgotten(PeerIx(2)));
    assert!(outputs.iter().any(is_free), "{outputs:?}");
    solo.input(Input::Connected(new_peer(2)));
    let outputs = solo.receive_message(2, &proved("c", 1));
    let repeated = false;
    assert_eq!(rejection(&outputs), Rejection::Spam { repeated });
    assert_eq!(blamed(&outputs), [0; 0]);
    assert!(
        ticket(&outputs).is_some(),
        "its evidence is checked like anybody's"
    );
}

#[test]
fn a_peer_that_comes_back_has_had_its_pass() {
    let mut solo = Solo::new();
    solo.accept(1, &proved("a", 1));
    solo.receive_message(2, &proved("b", 1));
    solo.input(Input::Disconnected(PeerIx(2)));
    solo.input(Input::Connected(new_peer(2)));
    let repeated = true;
    assert_eq!(
        spam(&mut solo, 2, "c"),
        (Rejection::Spam { repeated }, vec![2])
    );
}

#[test]
fn a_neighbour_that_sends_nothing_but_spam_is_disconnected() {
    let mut solo = Solo::new();
    solo.accept(1, &proved("a", 1));
    let mut sent = 0;
    loop {
        sent += 1;
        assert!(sent <= 12, "still connected after {sent} messages");
        let outputs = solo.receive_message(2, &proved(&format!("spam {sent}"), 1));
        if outputs
            .iter()
            .any(|o| matches!(o, Output::Disconnect(PeerIx(2))))
        {
            break;
        }
    }
    // The free message, and the eleven that the score allows.
    assert_eq!(sent, 12);
}

#[test]
fn the_first_sender_does_not_pay_for_the_peer_that_its_message_was_attributed_to() {
    let mut solo = Solo::new();
    solo.accept(3, &proved("a good one", 50));
    let first = solo.receive_to_check(3, &proved("a", 1));
    let passed_on = solo.receive_to_check(1, &proved("b", 1));
    // Peer 3 is trusted more: the proof of b is verified in its name.
    let outputs = solo.receive_message(3, &proved("b", 1));
    let is_moved = |o: &Output| {
        matches!(
            o,
            Output::MoveProof {
                from: PeerIx(3),
                ..
            }
        )
    };
    assert!(outputs.iter().any(is_moved), "{outputs:?}");
    let second = solo.receive_to_check(3, &proved("c", 1));
    assert_eq!(delivered(&solo.answer(first, true)).len(), 1);
    // Peer 3 has sent a and c under the nullifier, but the message judged here came from peer 1 first.
    let outputs = solo.answer(passed_on, true);
    let once = Rejection::Spam { repeated: false };
    assert_eq!(rejections(&outputs), [(PeerIx(1), once)]);
    assert_eq!(blamed(&outputs), [0; 0]);
    let outputs = solo.answer(second, true);
    assert_eq!(blamed(&outputs), [3]);
}
