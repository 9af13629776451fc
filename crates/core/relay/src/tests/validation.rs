//! Every reason for dropping a message, each for a message with only that defect.

use std::time::Duration;

use bytes::Bytes;
use undertone_gossip::{MessageId, PeerIx, Verdict};
use undertone_message::{DecodeError, PubsubTopic};
use undertone_rln::{
    Epoch, Fr, NullifierLimits, ProofDecodeError, ProofField, ProofRejection as Why, fr_to_le,
};

use super::fake_proof::*;
use super::solo::*;
use crate::{Input, Output, Rejection, RelayConfig, RlnConfig};

const GAP_NS: u64 = 20 * SECOND_NS;

fn refusal_of(data: &[u8]) -> Rejection {
    Solo::new().refusal(1, data)
}

fn config_with(rln: impl FnOnce(&mut RlnConfig)) -> RelayConfig {
    let mut config = config();
    rln(config.rln.as_mut().unwrap());
    config
}

#[test]
fn a_good_message_waits_for_its_proof_then_is_delivered_and_forwarded() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    let arrived = solo.now;
    let ticket = solo.receive_to_check(1, &message);
    assert_eq!(solo.relay.checks_waiting(), 1);
    solo.wait(Duration::from_millis(30));

    let outputs = solo.answer(ticket, true);
    let data = message.encode();
    let to_others = [(2, data.clone().into()), (3, data.into())];
    assert_eq!(forwarded(&outputs), to_others);
    let delivery = outputs.iter().find_map(|output| match output {
        Output::Deliver {
            topic,
            message,
            received,
            from,
            ..
        } => Some((
            topic.clone(),
            message.clone(),
            *received,
            from.map(|peer| peer.0),
        )),
        _ => None,
    });
    assert_eq!(delivery, Some((topic(), message, arrived, Some(1))));
    solo.assert_idle();
}

#[test]
fn the_statement_to_check_is_the_messages_own() {
    let message = proved("hello", 5);
    let outputs = Solo::new().receive_message(1, &message);
    let statement = outputs.iter().find_map(|output| match output {
        Output::VerifyProof { statement, .. } => Some(statement),
        _ => None,
    });
    let statement = statement.unwrap();
    let x = x_of(&message);
    assert_eq!((statement.x, statement.y), (x, share(5, x)));
    assert_eq!((statement.root, statement.nullifier), (root(), Fr::from(5)));
    assert_eq!(statement.proof, [9; 128]);
}

#[test]
fn without_a_rate_limit_a_message_needs_no_proof_and_no_fresh_timestamp() {
    let mut solo = Solo::with(config_without_rln());
    let outputs = solo.receive_message(1, &plain_at("old", 1));
    assert_eq!(delivered(&outputs).len(), 1);
    solo.assert_idle();
}

#[test]
fn bytes_that_are_no_message() {
    let reason = refusal_of(&[0xff]);
    assert!(
        matches!(reason, Rejection::Decode(DecodeError::Wire(_))),
        "{reason:?}"
    );
    let mut long_meta = proved("hello", 1);
    long_meta.meta = Some(vec![0; 65].into());
    let (size_bytes, max_bytes) = (65, 64);
    let too_long = DecodeError::MetaTooLong {
        size_bytes,
        max_bytes,
    };
    assert_eq!(refusal_of(&long_meta.encode()), Rejection::Decode(too_long));
}

#[test]
fn a_message_at_the_size_limit_passes_and_one_byte_more_does_not() {
    let max = config().max_message_bytes;
    Solo::new().accept(1, &proved_of_len(max, 1));
    let len = max + 1;
    let reason = refusal_of(&proved_of_len(len, 1).encode());
    assert_eq!(reason, Rejection::TooLarge { len, max });
}

#[test]
fn a_topic_that_is_not_joined() {
    let mut solo = Solo::new();
    let elsewhere = PubsubTopic::parse("/waku/2/rs/1/1").unwrap();
    let data = Bytes::from(proved("hello", 1).encode());
    // The router drops such messages silently; validation is the second line of defence.
    assert_eq!(solo.frame(1, message_frame(&elsewhere, &data)).len(), 0);
    let topic = gossip_topic(&elsewhere);
    let verdict = solo
        .relay
        .validate(MessageId::of(&data), PeerIx(1), &topic, &data);
    assert_eq!(verdict, Some(Verdict::Reject));
    let outputs: Vec<_> = std::iter::from_fn(|| solo.relay.poll()).collect();
    assert_eq!(rejection(&outputs), Rejection::WrongShard);
}

#[test]
fn a_message_without_a_proof() {
    assert_eq!(
        refusal_of(&plain("hello").encode()),
        Rejection::MissingProof
    );
    let mut empty = plain("hello");
    empty.rate_limit_proof = Some(Default::default());
    assert_eq!(refusal_of(&empty.encode()), Rejection::MissingProof);
}

#[test]
fn a_proof_that_cannot_be_read() {
    let mut short = plain("hello");
    let mut proof = proof_of(&short, 1).encode();
    proof.truncate(334);
    short.rate_limit_proof = Some(proof.into());
    let truncated = ProofDecodeError::Truncated { at: 301 };
    assert_eq!(
        refusal_of(&short.encode()),
        Rejection::MalformedProof(truncated)
    );
}

#[test]
fn a_timestamp_too_far_from_our_clock() {
    let why = |timestamp_ns| refusal_of(&proved_at("hello", 1, timestamp_ns).encode());
    let max_clock_gap_ns = GAP_NS;
    let behind_ns = GAP_NS + 1;
    let stale = Why::StaleTimestamp {
        behind_ns,
        max_clock_gap_ns,
    };
    assert_eq!(why(NOW_NS - behind_ns), Rejection::Proof(stale));
    let ahead_ns = GAP_NS + 1;
    let future = Why::FutureTimestamp {
        ahead_ns,
        max_clock_gap_ns,
    };
    assert_eq!(why(NOW_NS + ahead_ns), Rejection::Proof(future));
    Solo::new().accept(1, &proved_at("oldest", 1, NOW_NS - GAP_NS));
    Solo::new().accept(1, &proved_at("newest", 1, NOW_NS + GAP_NS));

    let mut negative = proved("hello", 1);
    negative.timestamp = Some(-1);
    let before_1970 = Why::NegativeTimestamp { timestamp_ns: -1 };
    assert_eq!(
        refusal_of(&negative.encode()),
        Rejection::Proof(before_1970)
    );
    let mut absent = proved("hello", 1);
    absent.timestamp = None;
    let behind_ns = NOW_NS;
    let stale = Why::StaleTimestamp {
        behind_ns,
        max_clock_gap_ns,
    };
    assert_eq!(refusal_of(&absent.encode()), Rejection::Proof(stale));
}

#[test]
fn a_proof_for_another_epoch_than_the_timestamps() {
    let expected = Epoch(2_833_333);
    let found = Epoch(2_833_334);
    let message = tampered(|proof| proof.epoch = found.to_bytes());
    let mismatch = Why::EpochMismatch { expected, found };
    assert_eq!(refusal_of(&message.encode()), Rejection::Proof(mismatch));
    let message = tampered(|proof| proof.epoch[31] = 1);
    let reason = refusal_of(&message.encode());
    assert!(
        matches!(reason, Rejection::Proof(Why::MalformedEpoch(_))),
        "{reason:?}"
    );
}

#[test]
fn a_proof_for_another_application() {
    let message = tampered(|proof| proof.rln_identifier[31] = 1);
    assert_eq!(
        refusal_of(&message.encode()),
        Rejection::Proof(Why::ForeignIdentifier)
    );
}

#[test]
fn a_field_that_is_an_alias_of_a_smaller_one() {
    let cases = [
        (
            ProofField::MerkleRoot,
            tampered(|proof| proof.merkle_root = alias(proof.merkle_root)),
        ),
        (
            ProofField::ShareX,
            tampered(|proof| proof.share_x = alias(proof.share_x)),
        ),
        (
            ProofField::ShareY,
            tampered(|proof| proof.share_y = alias(proof.share_y)),
        ),
        (
            ProofField::Nullifier,
            tampered(|proof| proof.nullifier = alias(proof.nullifier)),
        ),
    ];
    for (field, message) in cases {
        let reason = refusal_of(&message.encode());
        assert_eq!(reason, Rejection::Proof(Why::NonCanonical(field)));
    }
}

#[test]
fn a_proof_replayed_with_another_message() {
    let honest = proved("hello", 1);
    let mut payload = honest.clone();
    payload.payload = "HELLO".into();
    let mut content_topic = honest.clone();
    content_topic.content_topic = "/test/1/b/proto".into();
    let mut timestamp = honest.clone();
    timestamp.timestamp = honest.timestamp.map(|ns| ns + 1);
    for replay in [payload, content_topic, timestamp] {
        let reason = refusal_of(&replay.encode());
        assert_eq!(reason, Rejection::Proof(Why::SignalMismatch));
    }
}

#[test]
fn a_root_that_is_not_accepted() {
    let message = tampered(|proof| proof.merkle_root = fr_to_le(&Fr::from(101)));
    let unknown = Why::UnknownRoot { window_len: 1 };
    assert_eq!(refusal_of(&message.encode()), Rejection::Proof(unknown));
}

#[test]
fn an_empty_window_accepts_no_root() {
    let mut solo = Solo::new();
    solo.input(Input::Roots(window(&[])));
    let reason = solo.refusal(1, &proved("hello", 1).encode());
    assert_eq!(reason, Rejection::Proof(Why::UnknownRoot { window_len: 0 }));
}

#[test]
fn new_roots_take_the_place_of_the_old() {
    let mut solo = Solo::new();
    let newer = Fr::from(101);
    solo.input(Input::Roots(window(&[newer])));
    let reason = solo.refusal(1, &proved("old root", 1).encode());
    assert_eq!(reason, Rejection::Proof(Why::UnknownRoot { window_len: 1 }));
    solo.accept(1, &tampered(|proof| proof.merkle_root = fr_to_le(&newer)));
    assert!(!solo.relay.roots().contains(&root()));
}

#[test]
fn a_snark_that_does_not_hold() {
    let mut solo = Solo::new();
    let ticket = solo.receive_to_check(1, &proved("hello", 1));
    let outputs = solo.answer(ticket, false);
    assert_eq!(rejection(&outputs), Rejection::Snark);
    assert_eq!((delivered(&outputs), forwarded(&outputs)), (vec![], vec![]));
    solo.assert_idle();
    // The nullifier was not logged: its honest owner can still use it.
    solo.accept(2, &proved("honest", 1));
}

#[test]
fn the_same_message_in_another_encoding() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    solo.accept(1, &message);
    let again = as_nwaku_writes(&message);
    assert_eq!(solo.refusal(2, &again), Rejection::Duplicate);
}

#[test]
fn two_encodings_of_a_message_checked_side_by_side_are_delivered_once() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    let first = solo.receive_to_check(1, &message);
    let outputs = solo.receive(2, &as_nwaku_writes(&message));
    let second = ticket(&outputs).unwrap();
    assert_eq!(delivered(&solo.answer(second, true)).len(), 1);
    let outputs = solo.answer(first, true);
    assert_eq!(rejection(&outputs), Rejection::Duplicate);
    assert_eq!((delivered(&outputs), blamed(&outputs)), (vec![], vec![]));
    solo.assert_idle();
}

#[test]
fn more_messages_than_may_wait_for_their_proof() {
    let mut solo = Solo::with(config_with(|rln| rln.checks_max = 2));
    let first = solo.receive_to_check(1, &proved("a", 1));
    let second = solo.receive_to_check(1, &proved("b", 2));
    let third = solo.receive_message(1, &proved("c", 3));
    assert_eq!(
        (ticket(&third), rejection(&third)),
        (None, Rejection::Capacity)
    );
    solo.answer(first, true);
    let fourth = solo.receive_to_check(1, &proved("d", 4));
    for ticket in [second, fourth] {
        assert_eq!(delivered(&solo.answer(ticket, true)).len(), 1);
    }
    solo.assert_idle();
}

#[test]
fn more_nullifiers_than_an_epoch_may_have() {
    let few = NullifierLimits::new(2);
    let mut solo = Solo::with(config_with(|rln| rln.nullifiers = few));
    for nullifier in 1..=5 {
        solo.accept(1, &proved("nobody is silenced", nullifier));
    }
    let again = solo.receive_message(2, &proved("the newest is known", 5));
    assert_eq!(rejection(&again), Rejection::Spam { repeated: false });
}

#[test]
fn an_answer_that_nobody_waits_for_changes_nothing() {
    let mut solo = Solo::new();
    let ticket = solo.receive_to_check(1, &proved("a", 1));
    assert_eq!(delivered(&solo.answer(ticket, true)).len(), 1);
    assert_eq!(solo.answer(ticket, false).len(), 0);
    solo.assert_idle();
}

#[test]
fn an_epochs_external_nullifier_is_computed_once() {
    let mut solo = Solo::new();
    for (number, text) in ["first", "second", "third"].into_iter().enumerate() {
        solo.accept(1, &proved(text, number as u64 + 1));
    }
    let externals = solo.relay.externals.as_ref();
    assert_eq!(externals.map(|kept| kept.computed_total()), Some(1));
}
