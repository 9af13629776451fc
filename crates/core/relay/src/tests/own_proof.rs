//! Published messages that come with a proof: checked like a peer's, because every neighbour will
//! check them.

use std::time::Duration;

use undertone_gossip::{PeerIx, RequestId};
use undertone_message::WakuMessage;
use undertone_rln::{Fr, ProofRejection as Why, fr_to_le};

use super::fake_proof::*;
use super::net::Net;
use super::solo::*;
use crate::{Input, Output, ProofTicket, PublishError, Rejection, RelayConfig, RlnConfig};

const SPAM: Rejection = Rejection::Spam { repeated: false };

fn config_with(rln: impl FnOnce(&mut RlnConfig)) -> RelayConfig {
    let mut config = config();
    rln(config.rln.as_mut().unwrap());
    config
}

/// Publishes a message that must reach the verification of its proof; nothing may be sent before.
fn publish_to_check(solo: &mut Solo, message: &WakuMessage, request: u64) -> ProofTicket {
    let outputs = solo.publish(message, request);
    match &outputs[..] {
        [Output::VerifyProof { ticket, .. }] => *ticket,
        other => panic!("{other:?}"),
    }
}

/// Reason for refusing the proof of the only publication among the outputs; nothing was sent.
fn refused(outputs: &[Output]) -> Rejection {
    assert_eq!(outputs.len(), 1, "nothing but the answer: {outputs:?}");
    match publish_error(outputs) {
        PublishError::InvalidProof(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_message_whose_proof_holds_is_sent_as_it_is() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    let ticket = publish_to_check(&mut solo, &message, 8);
    let outputs = solo.answer(ticket, true);
    let sent = [1, 2, 3].map(|peer| (peer, message.encode().into()));
    assert_eq!(forwarded(&outputs), sent);
    assert_eq!(delivered(&outputs), [message]);
    assert!(
        matches!(published(&outputs)[..], [(8, Ok(_))]),
        "{outputs:?}"
    );
    solo.assert_idle();
}

#[test]
fn a_message_whose_proof_does_not_hold_is_not_sent() {
    let mut solo = Solo::new();
    let ticket = publish_to_check(&mut solo, &proved("hello", 1), 8);
    assert_eq!(refused(&solo.answer(ticket, false)), Rejection::Snark);
    solo.assert_idle();
    // The nullifier is not blocked: its owner can still use it.
    solo.accept(1, &proved("honest", 1));
}

#[test]
fn what_receivers_refuse_before_the_pairing_is_refused_without_one() {
    let refusal = |message: &WakuMessage| refused(&Solo::new().publish(message, 8));
    let mut replayed = proved("hello", 1);
    replayed.payload = "HELLO".into();
    assert_eq!(refusal(&replayed), Rejection::Proof(Why::SignalMismatch));
    let foreign = tampered(|proof| proof.merkle_root = fr_to_le(&Fr::from(101)));
    let window_len = 1;
    let unknown = Rejection::Proof(Why::UnknownRoot { window_len });
    assert_eq!(refusal(&foreign), unknown);
    let stale = refusal(&proved_at("old", 1, NOW_NS - 21 * SECOND_NS));
    assert!(
        matches!(stale, Rejection::Proof(Why::StaleTimestamp { .. })),
        "{stale:?}"
    );
    let mut unreadable = plain("hello");
    unreadable.rate_limit_proof = Some(vec![0xff].into());
    let malformed = refusal(&unreadable);
    assert!(
        matches!(malformed, Rejection::MalformedProof(_)),
        "{malformed:?}"
    );
    // A proof made without a timestamp is not valid for the timestamp that is filled in.
    let mut unstamped = proved("hello", 1);
    unstamped.timestamp = None;
    unstamped = attach(unstamped.clone(), &proof_of(&unstamped, 1));
    let reason = refusal(&unstamped);
    assert!(matches!(reason, Rejection::Proof(_)), "{reason:?}");
}

#[test]
fn the_answer_names_the_reason_and_the_remedy() {
    let mut solo = Solo::new();
    let ticket = publish_to_check(&mut solo, &proved("hello", 1), 8);
    let error = publish_error(&solo.answer(ticket, false));
    let expected = "the proof that came with the message is refused: the zero-knowledge proof \
                    does not hold; leave it out to have one made";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_nullifier_that_a_peer_used_is_refused() {
    let mut solo = Solo::new();
    let message = proved("first", 1);
    solo.accept(1, &message);
    assert_eq!(refused(&solo.publish(&proved("second", 1), 8)), SPAM);
    assert_eq!(refused(&solo.publish(&message, 8)), Rejection::Duplicate);
    solo.assert_idle();
}

#[test]
fn a_nullifier_that_we_used_is_refused() {
    let mut solo = Solo::new();
    let message = proved("first", 1);
    let ticket = publish_to_check(&mut solo, &message, 8);
    solo.answer(ticket, true);
    assert_eq!(refused(&solo.publish(&proved("second", 1), 9)), SPAM);
    assert_eq!(refused(&solo.publish(&message, 9)), Rejection::Duplicate);
    // The same messages from a peer are spam, or an echo, as well.
    let echo = as_nwaku_writes(&message);
    assert_eq!(solo.refusal(1, &echo), Rejection::Duplicate);
    let outputs = solo.receive_message(1, &proved("second", 1));
    assert_eq!(rejection(&outputs), SPAM);
}

#[test]
fn of_two_messages_under_one_nullifier_checked_side_by_side_one_is_sent() {
    let mut solo = Solo::new();
    let ours = publish_to_check(&mut solo, &proved("ours", 1), 8);
    let theirs = solo.receive_to_check(1, &proved("theirs", 1));
    assert_eq!(delivered(&solo.answer(theirs, true))[0].payload, "theirs");
    assert_eq!(refused(&solo.answer(ours, true)), SPAM);

    let [first, second] = [("a", 8), ("b", 9)]
        .map(|(text, request)| publish_to_check(&mut solo, &proved(text, 2), request));
    assert_eq!(delivered(&solo.answer(second, true))[0].payload, "b");
    assert_eq!(refused(&solo.answer(first, true)), SPAM);
    solo.assert_idle();
}

#[test]
fn a_topic_that_is_left_meanwhile_is_not_published_to_and_no_nullifier_is_used() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    let ticket = publish_to_check(&mut solo, &message, 8);
    solo.input(Input::Unsubscribe(topic()));
    let outputs = solo.answer(ticket, true);
    let error = publish_error(&outputs);
    assert!(
        matches!(error, PublishError::NotSubscribed { .. }),
        "{error:?}"
    );
    assert_eq!(forwarded(&outputs), []);
    solo.assert_idle();
    solo.input(Input::Subscribe(topic()));
    publish_to_check(&mut solo, &message, 9);
}

#[test]
fn a_proof_that_the_driver_makes_unasked_does_not_replace_the_one_that_is_checked() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    let ticket = publish_to_check(&mut solo, &message, 8);
    let result = Ok(proof_of(&message, 2));
    assert_eq!(
        solo.input(Input::Proved {
            request: RequestId(8),
            result
        })
        .len(),
        0
    );
    assert_eq!(delivered(&solo.answer(ticket, true)), [message]);
}

#[test]
fn messages_to_check_and_to_prove_share_the_bound_of_64() {
    let mut solo = Solo::new();
    let mut first = None;
    for i in 0..32 {
        solo.publish(&plain(&format!("to prove {i}")), i);
        let ticket = publish_to_check(&mut solo, &proved("to check", i), 100 + i);
        first.get_or_insert(ticket);
    }
    for message in [plain("one more"), proved("one more", 99)] {
        let error = publish_error(&solo.publish(&message, 200));
        assert!(
            matches!(error, PublishError::Busy { waiting: 64 }),
            "{error:?}"
        );
    }
    solo.answer(first.unwrap(), true);
    publish_to_check(&mut solo, &proved("one more", 99), 200);
}

#[test]
fn where_no_more_proofs_may_be_checked_the_publisher_is_told_to_try_again() {
    let mut solo = Solo::with(config_with(|rln| rln.checks_max = 1));
    solo.receive_to_check(1, &proved("theirs", 1));
    let error = publish_error(&solo.publish(&proved("ours", 2), 8));
    assert!(
        matches!(error, PublishError::Busy { waiting: 1 }),
        "{error:?}"
    );
    // A message that needs a proof to be made needs no verification.
    assert_eq!(published(&solo.publish(&plain("ours"), 8)).len(), 0);
}

#[test]
fn without_a_rate_limit_a_proof_is_not_looked_at() {
    let mut solo = Solo::with(config_without_rln());
    let mut message = plain("hello");
    message.rate_limit_proof = Some(vec![0xff].into());
    assert_eq!(forwarded(&solo.publish(&message, 8))[0].1, message.encode());
}

#[test]
fn a_publisher_of_invalid_proofs_costs_its_node_no_neighbours() {
    let mut net = Net::real(2, 1).linked(&[(0, 1)]);
    let root = super::real::rln().root();
    for i in 0..15 {
        let message = plain_at(&format!("forged {i}"), net.unix_now_ns());
        let mut proof = proof_of(&message, i);
        proof.merkle_root = fr_to_le(&root);
        net.publish(0, attach(message, &proof));
        net.run_ms(100);
    }
    assert_eq!(net.published(0).len(), 15);
    assert_eq!(net.carried(0, 1).len(), 0);
    assert_eq!(net.relays[1].router().score(PeerIx(0)).min(0.0), 0.0);
    net.say(0, "a good one");
    assert_eq!(net.heard(1), ["a good one"]);
}

#[test]
fn a_check_of_our_own_keeps_the_nullifiers_of_its_epoch() {
    let mut solo = Solo::new();
    let message = proved("ours", 1);
    let ticket = publish_to_check(&mut solo, &message, 8);
    let theirs = solo.receive_to_check(1, &proved("theirs", 1));
    solo.answer(theirs, true);
    // Verification takes until the epoch and the clock gap are over.
    solo.wait(Duration::from_secs(430));
    assert_eq!(refused(&solo.answer(ticket, true)), SPAM);
}
