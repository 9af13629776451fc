//! Fair verification: whose proofs are verified, and which peers are read from.

use undertone_gossip::PeerIx;
use undertone_message::WakuMessage;

use super::fake_proof::{config, proved};
use super::solo::{Solo, blamed, delivered, new_peer, rejection, rejections, ticket, tickets};
use crate::{CheckBounds, Input, Output, ProofTicket, Rejection};

fn reading(outputs: &[Output]) -> Vec<(u32, bool)> {
    let changes = outputs.iter().filter_map(|output| match output {
        Output::Reading { peer, is_paused } => Some((peer.0, *is_paused)),
        _ => None,
    });
    changes.collect()
}

fn dropped(outputs: &[Output]) -> Vec<ProofTicket> {
    let dropped = outputs.iter().filter_map(|output| match output {
        Output::DropProof { ticket } => Some(*ticket),
        _ => None,
    });
    dropped.collect()
}

fn moved(outputs: &[Output]) -> Vec<(ProofTicket, u32)> {
    let moved = outputs.iter().filter_map(|output| match output {
        Output::MoveProof { ticket, from } => Some((*ticket, from.0)),
        _ => None,
    });
    moved.collect()
}

fn messages(count: u64) -> Vec<WakuMessage> {
    (0..count).map(|n| proved(&n.to_string(), n)).collect()
}

#[test]
fn only_the_peer_that_floods_is_not_read_from() {
    let mut solo = Solo::new();
    let pause_at = config().rln.unwrap().checks_of_peer.newcomer.pause_at;
    let mut changes = Vec::new();
    let mut waiting = Vec::new();
    for message in messages(pause_at as u64) {
        let outputs = solo.receive_message(1, &message);
        waiting.extend(tickets(&outputs));
        changes.extend(reading(&outputs));
    }
    assert_eq!(changes, [(1, true)]);
    assert!(!solo.relay.is_saturated());
    let outputs = solo.receive_message(2, &proved("of another peer", 100));
    assert_eq!(reading(&outputs), []);
    waiting.extend(tickets(&outputs));
    // The peer is proven now, and may have more proofs waiting.
    assert_eq!(reading(&solo.answer(waiting.remove(0), true)), [(1, false)]);
    for ticket in waiting {
        assert_eq!(delivered(&solo.answer(ticket, true)).len(), 1);
    }
    solo.assert_idle();
}

#[test]
fn after_a_bad_proof_what_waits_of_the_peer_is_not_checked_and_may_come_again() {
    let mut solo = Solo::new();
    let messages = messages(4);
    let sent: Vec<_> = messages
        .iter()
        .map(|message| solo.receive_to_check(1, message))
        .collect();
    let outputs = solo.answer(sent[1], false);
    assert_eq!(dropped(&outputs), [sent[0], sent[2], sent[3]]);
    assert_eq!(reading(&outputs), [(1, false)]);
    assert_eq!(blamed(&outputs), [1], "of the one that was checked");
    let unjudged = rejections(&outputs);
    let unjudged = unjudged.iter().filter(|(_, r)| *r == Rejection::Unjudged);
    assert_eq!(unjudged.count(), 3);
    solo.assert_idle();
    assert!(solo.answer(sent[2], true).is_empty(), "too late");
    solo.accept(2, &messages[2]);
}

#[test]
fn a_suspect_may_have_one_proof_waiting_for_a_minute() {
    let mut solo = Solo::new();
    let bad = solo.receive_to_check(1, &proved("bad", 1));
    solo.answer(bad, false);
    let next = solo.receive_message(1, &proved("next", 2));
    assert_eq!(reading(&next), [(1, true)]);
    let outputs = solo.receive_message(1, &proved("one more", 3));
    assert_eq!(rejection(&outputs), Rejection::Capacity);
    solo.answer(ticket(&next).unwrap(), true);
    solo.accept(2, &proved("one more", 3));
}

/// A peer that forwards an honest message first cannot keep it from being verified in time.
#[test]
fn a_message_is_checked_in_the_name_of_the_best_peer_that_sent_it() {
    let mut solo = Solo::new();
    solo.accept(2, &proved("a good one", 1));
    let message = proved("honest", 2);
    let waiting = solo.receive_to_check(1, &message);
    assert_eq!(moved(&solo.receive_message(3, &message)), [], "a newcomer");
    assert_eq!(moved(&solo.receive_message(2, &message)), [(waiting, 2)]);
    let bad = solo.receive_to_check(1, &proved("bad", 3));
    assert_eq!(dropped(&solo.answer(bad, false)), []);
    assert_eq!(delivered(&solo.answer(waiting, true)).len(), 1);
    solo.assert_idle();
}

#[test]
fn what_another_peer_sent_too_is_checked_although_the_first_sender_is_cut_off() {
    let mut solo = Solo::new();
    let message = proved("honest", 2);
    let waiting = solo.receive_to_check(1, &message);
    solo.receive_message(3, &message);
    let bad = solo.receive_to_check(1, &proved("bad", 3));
    let outputs = solo.answer(bad, false);
    assert_eq!(
        (moved(&outputs), dropped(&outputs)),
        (vec![(waiting, 3)], vec![])
    );
    assert_eq!(delivered(&solo.answer(waiting, true)).len(), 1);
    solo.assert_idle();
}

#[test]
fn the_proofs_of_a_peer_that_is_disconnected_for_its_score_are_not_checked() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    let waiting = solo.receive_to_check(1, &message);
    let mut outputs = Vec::new();
    for n in 0..11 {
        let mut invalid = proved(&n.to_string(), 100 + n);
        invalid.rate_limit_proof = None;
        outputs.extend(solo.receive_message(1, &invalid));
    }
    let hangs_up = |output: &Output| matches!(output, Output::Disconnect(PeerIx(1)));
    assert!(outputs.iter().any(hangs_up));
    assert_eq!(dropped(&outputs), [waiting]);
    solo.assert_idle();
    solo.accept(2, &message);
}

#[test]
fn newcomers_together_leave_room_for_proven_peers() {
    let mut config = config();
    let bounds = &mut config.rln.as_mut().unwrap().checks_of_peer;
    bounds.strangers_max = 4;
    bounds.newcomer = CheckBounds {
        pause_at: 2,
        max: 2,
    };
    let mut solo = Solo::with(config);
    solo.accept(3, &proved("a good one", 50));
    for (n, message) in (0..).zip(messages(6)) {
        let stranger = 10 + n / 2;
        if n % 2 == 0 {
            solo.input(Input::Connected(new_peer(stranger)));
        }
        let outputs = solo.receive_message(stranger, &message);
        assert_eq!(tickets(&outputs).len(), usize::from(n < 4), "message {n}");
    }
    assert_eq!(
        tickets(&solo.receive_message(3, &proved("another", 51))).len(),
        1
    );
}

#[test]
fn where_many_proofs_wait_nobody_is_read_from_who_has_one_waiting() {
    let mut config = config();
    config.rln.as_mut().unwrap().checks_max = 6;
    let mut solo = Solo::with(config);
    let first = solo.receive_message(1, &proved("a", 1));
    assert_eq!(reading(&first), []);
    solo.receive_message(1, &proved("b", 2));
    let outputs = solo.receive_message(2, &proved("c", 3));
    assert_eq!(reading(&outputs), [(1, true), (2, true)]);
    let outputs = solo.answer(ticket(&first).unwrap(), true);
    assert_eq!(reading(&outputs), [(1, false), (2, false)]);
}
