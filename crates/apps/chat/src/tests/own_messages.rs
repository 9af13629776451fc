use undertone_message::MessageHash;
use undertone_node::services::{FailReason, SendId, SendReport, SendStep, Unconfirmed};

use super::{EARLY_MAX, KNOWN_MAX, OwnMessages, OwnState};

const HASH: Option<MessageHash> = Some(MessageHash([7; 32]));

fn report(id: u64, step: SendStep) -> SendReport {
    SendReport {
        number: 1,
        id: SendId(id),
        step,
        hash: HASH,
        at_ns: 1,
    }
}

#[test]
fn a_message_is_followed_from_the_queue_to_the_store() {
    let mut own = OwnMessages::default();
    let number = own.begin();
    assert_eq!((number, own.open()), (1, 1));
    let queued = own.answered(number, Ok(SendId(9)));
    assert_eq!((queued, own.open()), (Some(OwnState::Queued), 1));
    assert_eq!(own.reported(&report(9, SendStep::Queued)), None);
    assert_eq!(own.reported(&report(8, SendStep::Sent)), None, "another's");

    let sent = OwnState::Sent { hash: HASH };
    assert_eq!(own.reported(&report(9, SendStep::Sent)), Some((1, sent)));
    assert_eq!(own.open(), 1);
    assert!(own.reported(&report(9, SendStep::Propagated)).is_some());
    assert_eq!((own.open(), own.followed()), (0, vec![SendId(9)]));
    let stored = OwnState::Stored { hash: HASH };
    assert_eq!(
        own.reported(&report(9, SendStep::Stored)),
        Some((1, stored))
    );
    assert_eq!(own.followed(), []);
}

#[test]
fn a_report_may_come_before_the_number_it_is_about() {
    let mut own = OwnMessages::default();
    let number = own.begin();
    assert_eq!(own.reported(&report(9, SendStep::Queued)), None);
    assert_eq!(own.reported(&report(9, SendStep::Sent)), None);
    let sent = Some(OwnState::Sent { hash: HASH });
    assert_eq!(own.answered(number, Ok(SendId(9))), sent);
    for id in 0..2 * EARLY_MAX as u64 {
        own.reported(&report(100 + id, SendStep::Queued));
    }
    assert_eq!(own.early.len(), EARLY_MAX);
}

#[test]
fn a_message_of_the_run_before_goes_on() {
    let mut own = OwnMessages::default();
    let number = own.resume(SendId(4), OwnState::Queued);
    assert_eq!(
        (number, own.open(), own.followed()),
        (1, 1, vec![SendId(4)])
    );
    let step = SendStep::Failed(FailReason::TooOld);
    let (_, state) = own.reported(&report(4, step)).unwrap();
    assert!(state.is_warning() && own.open() == 0);
}

#[test]
fn ends_are_told_with_their_reasons_in_plain_words() {
    let words = |step| OwnState::at(step, HASH).words();
    assert_eq!(words(SendStep::Queued), "queued");
    assert_eq!(
        words(SendStep::PropagatedOnly(Unconfirmed::NoStore)),
        "propagated: not confirmed by a store: none is known"
    );
    let failed = words(SendStep::Failed(FailReason::NotMember));
    assert!(
        failed.starts_with("failed: this node has no membership"),
        "{failed}"
    );
    let mut own = OwnMessages::default();
    let number = own.begin();
    let refused = own.answered(number, Err("the send queue is full".to_owned()));
    assert_eq!(refused.unwrap().words(), "failed: the send queue is full");
    assert_eq!(own.open(), 0);
}

#[test]
fn old_messages_are_forgotten() {
    let mut own = OwnMessages::default();
    let first = own.begin();
    for _ in 0..KNOWN_MAX {
        own.begin();
    }
    assert_eq!(own.open(), KNOWN_MAX);
    assert_eq!(own.answered(first, Ok(SendId(1))), None);
}
