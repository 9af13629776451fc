//! Peers that break the rules.

use super::*;

#[test]
fn nothing_is_accepted_after_the_last_payload() {
    let mut session = respond(&SyncScope::default(), SyncLimits::default());
    let set = set_of([]);
    assert!(session.handle(&set, &[0]).unwrap().is_last);
    assert_eq!(session.handle(&set, &[0]), Err(SyncError::AfterEnd));
}

/// Payload with one range of the time of a session.
fn payload_of(content: RangeContent) -> Vec<u8> {
    let payload = RangesPayload {
        ranges: vec![SyncRange {
            lower: SyncId::at(START_NS),
            upper: SyncId::at(START_NS + HOUR_NS),
            content,
        }],
        ..RangesPayload::default()
    };
    payload.encode()
}

#[test]
fn a_peer_that_never_agrees_is_left() {
    let limits = SyncLimits {
        max_rounds: 5,
        ..SyncLimits::default()
    };
    let set = set_of(&[id(1, [1; 32]), id(2, [2; 32]), id(3, [3; 32])]);
    let mut session = respond(&SyncScope::default(), limits);
    let lie = payload_of(RangeContent::Fingerprint(Fingerprint([0xee; 32])));
    for _ in 0..5 {
        assert!(!session.handle(&set, &lie).unwrap().is_last);
    }
    let max = 5;
    assert_eq!(
        session.handle(&set, &lie),
        Err(SyncError::TooManyRounds { max })
    );
}

#[test]
fn a_peer_cannot_name_missing_messages_without_end() {
    let limits = SyncLimits {
        max_missing: 10,
        ..SyncLimits::default()
    };
    let mut session = respond(&SyncScope::default(), limits);
    let set = set_of([]);
    let named = |from: u8| {
        let elements = (from..from + 10).map(|byte| id(1, [byte; 32])).collect();
        let reconciled = false;
        payload_of(RangeContent::Items(ItemSet {
            elements,
            reconciled,
        }))
    };
    assert_eq!(
        session.handle(&set, &named(0)).unwrap().to_receive.len(),
        10
    );
    let max = 10;
    assert_eq!(
        session.handle(&set, &named(10)),
        Err(SyncError::TooManyMissing { max })
    );
}

#[test]
fn a_message_is_to_be_sent_once_however_often_a_peer_lacks_it() {
    let mut session = respond(&SyncScope::default(), SyncLimits::default());
    let set = set_of(&[message(1, 1)]);
    let nothing = payload_of(RangeContent::Items(ItemSet::default()));
    let first = session.handle(&set, &nothing).unwrap();
    assert_eq!(first.to_send, [message(1, 1)]);
    assert_eq!(session.handle(&set, &nothing).unwrap().to_send, []);
}
