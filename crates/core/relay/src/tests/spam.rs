//! Two messages under one nullifier, and the secret recovered from them.

use std::time::Duration;

use undertone_gossip::PeerIx;
use undertone_message::WakuMessage;
use undertone_rln::{Epoch, Fr, RateLimitProof, fr_to_le};

use super::fake_proof::*;
use super::real;
use super::solo::*;
use crate::{Input, Output, Rejection, RelayReport};

/// Start of epoch 2 833 334, 400 s from now.
const NEXT_EPOCH_NS: u64 = NOW_NS + 400 * SECOND_NS;

/// Rejection of spam from a peer that sent nothing else under the nullifier.
const FIRST: Rejection = Rejection::Spam { repeated: false };

/// The sender of the second message, the epoch and the spammer's secret, if one was exposed.
fn exposure(outputs: &[Output]) -> Option<(u32, Epoch, Fr)> {
    match &exposed(outputs)[..] {
        [] => None,
        [
            RelayReport::SpammerExposed {
                from,
                epoch,
                secret,
            },
        ] => Some((from.0, *epoch, *secret.secret())),
        more => panic!("exposed more than once: {more:?}"),
    }
}

#[test]
fn a_second_message_is_dropped_without_waiting_for_its_pairing() {
    let mut solo = Solo::new();
    solo.accept(1, &proved("first", 1));
    let outputs = solo.receive_message(2, &proved("second", 1));
    assert_eq!(rejection(&outputs), FIRST);
    assert_eq!(forwarded(&outputs), []);
    assert_eq!(solo.relay.router().usage().pending, 0);
}

#[test]
fn the_secret_is_told_once_the_second_proof_holds_too() {
    let mut solo = Solo::new();
    solo.accept(1, &proved("first", 1));
    let outputs = solo.receive_message(2, &proved("second", 1));
    assert_eq!(exposure(&outputs), None);
    let evidence = ticket(&outputs).expect("the evidence is to be checked");
    let outputs = solo.answer(evidence, true);
    let secret = Fr::from(SECRET);
    assert_eq!(exposure(&outputs), Some((2, Epoch(2_833_333), secret)));
    assert_eq!((delivered(&outputs), forwarded(&outputs)), (vec![], vec![]));
    solo.assert_idle();
}

#[test]
fn a_forged_second_share_exposes_nobody() {
    let mut solo = Solo::new();
    solo.accept(1, &proved("first", 1));
    let frame_up = plain("second");
    let mut proof = proof_of(&frame_up, 1);
    proof.share_y = fr_to_le(&Fr::from(4711));
    let outputs = solo.receive_message(2, &attach(frame_up, &proof));
    assert_eq!((rejection(&outputs), blamed(&outputs)), (FIRST, vec![]));
    let evidence = ticket(&outputs).unwrap();
    assert_eq!(solo.answer(evidence, false).len(), 0);
    solo.assert_idle();
}

#[test]
fn whoever_forged_evidence_costs_us_no_more_pairings() {
    let mut solo = Solo::new();
    for nullifier in 1..=3 {
        solo.accept(1, &proved("first", nullifier));
    }
    let outputs = solo.receive_message(2, &proved("forged", 1));
    assert_eq!(solo.answer(ticket(&outputs).unwrap(), false).len(), 0);
    let outputs = solo.receive_message(2, &proved("forged", 2));
    assert_eq!((rejection(&outputs), ticket(&outputs)), (FIRST, None));
    // Evidence of others is still verified, and so are the forger's other messages.
    let outputs = solo.receive_message(3, &proved("second", 3));
    assert!(exposure(&solo.answer(ticket(&outputs).unwrap(), true)).is_some());
    solo.accept(2, &proved("honest", 4));
}

#[test]
fn of_two_messages_checked_side_by_side_the_first_to_be_verified_wins() {
    let mut solo = Solo::new();
    let first = solo.receive_to_check(1, &proved("first", 1));
    let second = solo.receive_to_check(2, &proved("second", 1));
    let outputs = solo.answer(second, true);
    assert_eq!(delivered(&outputs)[0].payload, "second");
    assert_eq!(exposure(&outputs), None);

    let outputs = solo.answer(first, true);
    assert_eq!(rejections(&outputs), [(PeerIx(1), FIRST)]);
    assert_eq!((delivered(&outputs), forwarded(&outputs)), (vec![], vec![]));
    let secret = Fr::from(SECRET);
    assert_eq!(exposure(&outputs), Some((1, Epoch(2_833_333), secret)));
    solo.assert_idle();
}

#[test]
fn of_two_messages_checked_side_by_side_a_forged_one_does_not_count() {
    let mut solo = Solo::new();
    let forged = solo.receive_to_check(1, &proved("forged", 1));
    let honest = solo.receive_to_check(2, &proved("honest", 1));
    let outputs = solo.answer(forged, false);
    assert_eq!(
        (rejection(&outputs), exposure(&outputs)),
        (Rejection::Snark, None)
    );
    let outputs = solo.answer(honest, true);
    assert_eq!(delivered(&outputs).len(), 1);
    assert_eq!(exposure(&outputs), None);
}

#[test]
fn evidence_is_not_collected_when_there_is_no_room_to_check_it() {
    let mut config = config();
    config.rln.as_mut().unwrap().checks_max = 1;
    let mut solo = Solo::with(config);
    solo.accept(1, &proved("first", 1));
    let waiting = solo.receive_to_check(1, &proved("other", 2));
    let outputs = solo.receive_message(2, &proved("second", 1));
    assert_eq!((rejection(&outputs), ticket(&outputs)), (FIRST, None));
    solo.answer(waiting, true);
    solo.assert_idle();
}

#[test]
fn with_real_proofs_the_secret_is_the_members() {
    let rln = real::rln();
    let message = |payload: &str| -> WakuMessage {
        let message = plain(payload);
        let epoch = Epoch::at(NOW_NS, EPOCH_S);
        let proof: RateLimitProof = rln.prove(3, 7, epoch, x_of(&message));
        attach(message, &proof)
    };
    let mut solo = Solo::new();
    solo.input(Input::Roots(window(&[rln.root()])));
    let verify = |solo: &mut Solo, outputs: Vec<Output>| {
        let (ticket, statement) = outputs
            .into_iter()
            .find_map(|output| match output {
                Output::VerifyProof {
                    ticket, statement, ..
                } => Some((ticket, statement)),
                _ => None,
            })
            .unwrap();
        assert!(rln.holds(&statement));
        solo.answer(ticket, true)
    };
    let outputs = solo.receive_message(1, &message("first"));
    assert_eq!(delivered(&verify(&mut solo, outputs)).len(), 1);
    let outputs = solo.receive_message(2, &message("second"));
    assert_eq!(rejection(&outputs), FIRST);
    let outputs = verify(&mut solo, outputs);

    let member = real::identity(3);
    let (from, epoch) = (2, Epoch(2_833_333));
    assert_eq!(exposure(&outputs), Some((from, epoch, *member.secret())));
    match &exposed(&outputs)[..] {
        [RelayReport::SpammerExposed { secret, .. }] => {
            assert_eq!(secret.commitment(), member.commitment());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_nullifier_of_the_epoch_before_counts_while_its_messages_are_acceptable() {
    let mut solo = Solo::new();
    solo.wait(Duration::from_secs(395));
    solo.accept(1, &proved_at("first", 1, NEXT_EPOCH_NS - 2 * SECOND_NS));
    // 10 s into the next epoch a message from the last 2 s of the old one is still acceptable.
    solo.wait(Duration::from_secs(15));
    let second = proved_at("second", 1, NEXT_EPOCH_NS - 2 * SECOND_NS);
    let outputs = solo.receive_message(2, &second);
    assert_eq!(rejection(&outputs), FIRST);
    let evidence = ticket(&outputs).unwrap();
    assert!(exposure(&solo.answer(evidence, true)).is_some());
    // The same bytes in the new epoch are another nullifier.
    solo.accept(2, &proved_at("new epoch", 1, NEXT_EPOCH_NS));
}

#[test]
fn nullifiers_are_forgotten_when_no_message_of_their_epoch_is_acceptable() {
    let mut solo = Solo::new();
    for nullifier in 1..=3 {
        solo.accept(1, &proved("now", nullifier));
    }
    assert_eq!(solo.relay.nullifiers.len(), 3);
    // Until 20 s (the clock gap) into the next epoch, the last message of this one is acceptable, and for 20 s more to a
    // node whose clock is set back by a gap.
    solo.wait(Duration::from_secs(440) - Duration::from_nanos(1));
    assert_eq!(solo.relay.nullifiers.len(), 3);
    solo.wait(Duration::from_nanos(1));
    assert_eq!(solo.relay.nullifiers.len(), 0);
}

#[test]
fn a_nullifier_is_kept_while_a_proof_of_its_epoch_is_being_checked() {
    let mut solo = Solo::new();
    solo.wait(Duration::from_secs(399));
    let (first, second) = ("first", "second");
    let [first, second] = [first, second].map(|p| proved_at(p, 1, NEXT_EPOCH_NS - 1));
    let (first, second) = (
        solo.receive_to_check(1, &first),
        solo.receive_to_check(2, &second),
    );
    solo.answer(first, true);
    // Verification of the second message takes until the epoch and two clock gaps are over.
    solo.wait(Duration::from_secs(50));
    let outputs = solo.answer(second, true);
    assert_eq!(rejection(&outputs), FIRST);
    assert!(exposure(&outputs).is_some());
    solo.wait(Duration::from_secs(1));
    assert_eq!(solo.relay.nullifiers.len(), 0);
}

#[test]
fn setting_the_clock_moves_the_epoch() {
    let mut solo = Solo::new();
    let next = proved_at("next epoch", 1, NEXT_EPOCH_NS + SECOND_NS);
    let reason = solo.refusal(1, &next.encode());
    assert!(matches!(reason, Rejection::Proof(_)), "{reason:?}");
    solo.accept(1, &proved("this epoch", 1));
    let unix_ns_at_zero = NEXT_EPOCH_NS - solo.now.as_nanos();
    solo.input(Input::ClockSet { unix_ns_at_zero });
    solo.accept(
        2,
        &proved_at("in the next epoch", 1, NEXT_EPOCH_NS + SECOND_NS),
    );
}
