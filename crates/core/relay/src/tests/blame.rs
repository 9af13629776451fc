//! Blame for a dropped message: its senders, or nobody.

use undertone_gossip::PeerIx;
use undertone_message::{DecodeError, WireError};
use undertone_rln::{Fr, fr_to_le};

use super::fake_proof::*;
use super::solo::*;
use crate::{Input, Output, Rejection};

const NOBODY: [u32; 0] = [];

/// Peers blamed when peer 1 sends this data; its proof is invalid if it is verified at all.
fn blamed_for(data: &[u8]) -> Vec<u32> {
    let mut solo = Solo::new();
    let mut outputs = solo.receive(1, data);
    if let ([], Some(ticket)) = (&rejections(&outputs)[..], ticket(&outputs)) {
        outputs.extend(solo.answer(ticket, false));
    }
    assert_eq!(rejections(&outputs).len(), 1);
    let blamed = blamed(&outputs);
    let is_punished = solo.relay.router().score(PeerIx(1)) < 0.0;
    assert_eq!(is_punished, blamed == [1]);
    blamed
}

#[test]
fn the_sender_is_blamed_for_what_no_honest_relay_forwards() {
    let mut shortened = proved("hello", 1);
    let proof = shortened.rate_limit_proof.take().unwrap();
    shortened.rate_limit_proof = Some(proof.slice(..300));
    let mut replayed = proved("hello", 1);
    replayed.payload = "HELLO".into();
    let mut negative = proved("hello", 1);
    negative.timestamp = Some(-1);
    let guilty = [
        vec![0xff],
        proved_of_len(config().max_message_bytes + 1, 1).encode(),
        plain("no proof").encode(),
        shortened.encode(),
        replayed.encode(),
        negative.encode(),
        tampered(|proof| proof.epoch[0] ^= 1).encode(),
        proved("snark does not hold", 1).encode(),
    ];
    for data in guilty {
        assert_eq!(blamed_for(&data), [1], "{data:?}");
    }
}

#[test]
fn nobody_is_blamed_where_clocks_or_roots_may_differ() {
    let innocent = [
        proved_at("behind", 1, NOW_NS - 21 * SECOND_NS),
        proved_at("ahead", 1, NOW_NS + 21 * SECOND_NS),
        tampered(|proof| proof.merkle_root = fr_to_le(&Fr::from(101))),
    ];
    for message in innocent {
        assert_eq!(blamed_for(&message.encode()), NOBODY);
    }
}

#[test]
fn nobody_is_blamed_where_another_implementation_would_forward() {
    let mut not_utf8 = proved("hello", 1).encode();
    let at = not_utf8.windows(5).position(|w| w == b"/test").unwrap();
    not_utf8[at] = 0xff;
    let innocent = [
        not_utf8,
        tampered(|proof| proof.rln_identifier[31] = 1).encode(),
        tampered(|proof| proof.nullifier = alias(proof.nullifier)).encode(),
    ];
    for data in innocent {
        assert_eq!(blamed_for(&data), NOBODY);
    }
}

#[test]
fn nobody_is_blamed_for_another_encoding_or_for_our_lack_of_room() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    solo.accept(1, &message);
    let outputs = solo.receive(2, &as_nwaku_writes(&message));
    assert_eq!(
        (rejection(&outputs), blamed(&outputs)),
        (Rejection::Duplicate, vec![])
    );

    let mut config = config();
    config.rln.as_mut().unwrap().checks_max = 0;
    let mut solo = Solo::with(config);
    let outputs = solo.receive_message(1, &message);
    assert_eq!(
        (rejection(&outputs), blamed(&outputs)),
        (Rejection::Capacity, vec![])
    );
}

#[test]
fn everybody_who_sent_a_message_while_its_proof_was_checked_is_blamed() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    let ticket = solo.receive_to_check(1, &message);
    assert_eq!(tickets(&solo.receive_message(3, &message)), []);
    let outputs = solo.answer(ticket, false);
    assert_eq!(rejections(&outputs), [(PeerIx(1), Rejection::Snark)]);
    assert_eq!(blamed(&outputs), [1, 3]);
    // A peer that sends the message later is blamed as well.
    assert_eq!(blamed(&solo.receive_message(2, &message)), [2]);
}

#[test]
fn a_relay_that_does_not_know_the_roots_yet_keeps_its_neighbours() {
    let mut solo = Solo::new();
    solo.input(Input::Roots(window(&[])));
    for nullifier in 0..50 {
        let outputs = solo.receive_message(1, &proved("hello", nullifier));
        assert_eq!(rejections(&outputs).len(), 1);
        let hangs_up = outputs
            .iter()
            .any(|output| matches!(output, Output::Disconnect(_)));
        assert!(!hangs_up, "an honest neighbour is disconnected");
    }
    solo.input(Input::Roots(window(&[root()])));
    solo.accept(1, &proved("fresh", 99));
}

#[test]
fn a_neighbour_that_sends_nothing_but_invalid_proofs_is_disconnected() {
    let mut solo = Solo::new();
    let mut sent = 0;
    loop {
        sent += 1;
        assert!(sent <= 11, "still connected after {sent} messages");
        let ticket = solo.receive_to_check(1, &proved("forged", sent));
        let outputs = solo.answer(ticket, false);
        if outputs
            .iter()
            .any(|o| matches!(o, Output::Disconnect(peer) if peer.0 == 1))
        {
            break;
        }
    }
    // P4: -100 times the square of the invalid messages is below -10 000 from the eleventh on.
    assert_eq!(sent, 11);
}

#[test]
fn a_decode_error_is_blamed_as_the_decoder_says() {
    let (offset, number) = (0, 0);
    let honest = DecodeError::Wire(WireError::FieldNumber { offset, number });
    assert!(!Rejection::Decode(honest).is_blamed());
    assert!(Rejection::Decode(DecodeError::MissingPayload).is_blamed());
}
