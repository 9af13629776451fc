//! Own messages published again with the same proof, and what a driver needs to request proofs itself.

use undertone_gossip::RequestId;
use undertone_message::WakuMessage;
use undertone_rln::Epoch;

use super::fake_proof::*;
use super::solo::*;
use crate::{Input, Output, PublishError, Rejection};

fn republish(solo: &mut Solo, message: &WakuMessage, request: u64) -> Vec<Output> {
    solo.input(Input::Republish {
        topic: topic(),
        message: message.clone(),
        request: RequestId(request),
    })
}

#[test]
fn a_message_is_published_again_with_its_proof_and_delivered_once() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    let first = republish(&mut solo, &message, 1);
    let ticket = ticket(&first).expect("the first time its proof is checked");
    let outputs = solo.answer(ticket, true);
    assert_eq!(forwarded(&outputs).len(), 3);
    assert_eq!(delivered(&outputs), std::slice::from_ref(&message));
    let outputs = republish(&mut solo, &message, 2);
    assert_eq!(forwarded(&outputs).len(), 3, "the same bytes, to all again");
    assert_eq!(delivered(&outputs), []);
    assert!(matches!(published(&outputs)[..], [(2, Ok(_))]));
    solo.assert_idle();
}

#[test]
fn a_repeated_message_whose_proof_has_grown_old_is_refused() {
    let mut solo = Solo::new();
    let message = proved("hello", 1);
    let first = republish(&mut solo, &message, 1);
    let ticket = ticket(&first).expect("its proof is checked");
    solo.answer(ticket, true);
    assert!(solo.relay.is_own_proof_good(&message));
    solo.wait(std::time::Duration::from_secs(21));
    assert!(!solo.relay.is_own_proof_good(&message));
    let outputs = republish(&mut solo, &message, 2);
    assert!(matches!(
        publish_error(&outputs),
        PublishError::InvalidProof(Rejection::Proof(_))
    ));
}

#[test]
fn another_message_under_the_same_nullifier_is_never_published() {
    let mut solo = Solo::new();
    let first = republish(&mut solo, &proved("first", 1), 1);
    let ticket = ticket(&first).expect("its proof is checked");
    solo.answer(ticket, true);
    let second = proved("second", 1);
    assert!(!solo.relay.is_own_proof_good(&second));
    let error = publish_error(&republish(&mut solo, &second, 2));
    let spam = Rejection::Spam { repeated: false };
    assert!(matches!(error, PublishError::InvalidProof(reason) if reason == spam));
}

#[test]
fn no_proof_is_asked_for_what_receivers_would_refuse() {
    let mut solo = Solo::new();
    let mut message = plain("hello");
    let stated = solo.relay.proof_statement(&topic(), &message).unwrap();
    let epoch = Epoch::at(message.timestamp_ns() as u64, 600);
    assert_eq!(stated.map(|(epoch, _)| epoch), Some(epoch));
    message.timestamp = Some(message.timestamp_ns() - 21_000_000_000);
    let refused = solo.relay.proof_statement(&topic(), &message);
    assert!(matches!(refused, Err(PublishError::Timestamp { .. })));
    message.timestamp = None;
    solo.relay.check_message(&topic(), &message).unwrap();
    message.content_topic = "".into();
    let refused = solo.relay.check_message(&topic(), &message);
    assert!(matches!(refused, Err(PublishError::EmptyContentTopic)));
}
