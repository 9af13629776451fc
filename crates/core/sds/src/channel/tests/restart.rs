use super::*;

fn restored(channel: &Channel, name: &str, now: Time) -> Channel {
    Channel::restore(now, config(name), rng(2), &channel.state()).unwrap()
}

#[test]
fn a_member_that_returns_has_what_it_had() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    let frames = ["m1", "m2", "m3"].map(|id| send(&mut alice, at(5), id));
    receive(&mut bob, at(6), &frames[0]);
    receive(&mut bob, at(6), &frames[2]);
    send(&mut bob, at(7), "b1");
    receive(
        &mut bob,
        at(8),
        &forged("x1", START_MS + 30_000, &[]).encode(),
    );

    let mut bob = restored(&bob, "bob", at(1_000));
    assert_eq!(outputs(&mut bob), []);
    assert!(bob.has_unacknowledged());
    let again = receive(&mut bob, at(1_001), &frames[0]);
    assert_eq!(
        again,
        [Output::Refused(SdsRefusal::Duplicate { id: "m1".into() })]
    );
    assert_eq!(
        delivered(&receive(&mut bob, at(1_002), &frames[1])),
        ["m2", "m3"]
    );
    let b2 = decode(&send(&mut bob, at(1_003), "b2"));
    assert_eq!(named(&b2), ["m1", "m2", "b1", "m3", "x1"]);
    assert_eq!(b2.lamport_timestamp, Some(START_MS + 30_001));
    let filter = crate::BloomView::new(b2.bloom_filter.as_deref().unwrap());
    let filter = filter.unwrap();
    assert!(
        ["m1", "m2", "m3", "b1", "x1"]
            .iter()
            .all(|id| filter.contains(id))
    );

    let resent = run(&mut bob, at(62_000));
    let ids = resent.iter().filter_map(|(_, output)| match output {
        Output::Publish {
            reason: PublishReason::Resend(id),
            ..
        } => Some(&**id),
        _ => None,
    });
    assert!(ids.eq(["b1", "b2"]));
}

#[test]
fn every_change_is_announced_before_what_follows_from_it() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    alice.handle(
        at(1),
        Input::Send {
            id: "m1".into(),
            payload: vec![1],
        },
    );
    let sent = outputs(&mut alice);
    assert!(matches!(
        &sent[..],
        [Output::Persist, Output::Publish { .. }]
    ));
    let received = receive(&mut bob, at(2), &published(&sent)[0]);
    assert!(matches!(
        &received[..],
        [Output::Persist, Output::Deliver { .. }]
    ));
    assert_eq!(tick(&mut bob, at(3)), []);
}

#[test]
fn own_messages_that_the_state_lacks_come_back_from_the_others() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    let old = alice.state();
    let m1 = send(&mut alice, at(1), "m1");
    receive(&mut bob, at(2), &m1);
    let b1 = send(&mut bob, at(3), "b1");

    let mut alice = Channel::restore(at(4), config("alice"), rng(2), &old).unwrap();
    assert_eq!(
        receive(&mut alice, at(5), &m1),
        [Output::Refused(SdsRefusal::Own)]
    );
    assert_eq!(delivered(&receive(&mut alice, at(6), &b1)), [""; 0]);
    assert_eq!(delivered(&receive(&mut alice, at(7), &m1)), ["m1", "b1"]);
}

#[test]
fn the_latest_own_messages_can_be_repaired_after_a_restart() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    alice.config.limits.max_kept_bytes = 50_000;
    for id in ["m1", "m2", "m3"] {
        let frame = send(&mut alice, at(1), id);
        receive(&mut bob, at(2), &frame);
    }
    let b1 = send(&mut bob, at(3), "b1");
    receive(&mut alice, at(4), &b1);
    assert!(!alice.has_unacknowledged());

    let mut alice = restored(&alice, "alice", at(5));
    let mut request = forged("sync", START_MS, &[]);
    request.content = None;
    request.repair_request = ["m1", "m2", "m3", "b1"]
        .map(CausalHistoryEntry::new)
        .to_vec();
    let mut all = receive(&mut alice, at(6), &request.encode());
    all.extend(
        run(&mut alice, at(10_000))
            .into_iter()
            .map(|(_, output)| output),
    );
    let frames = published(&all);
    let ids: Vec<Id> = frames
        .iter()
        .map(|frame| decode(frame).message_id)
        .collect();
    assert_eq!(ids, ["m2".into(), "m3".into()] as [Id; 2]);
}

#[test]
fn state_that_is_not_this_members_is_refused() {
    let mut alice = member("alice");
    send(&mut alice, at(1), "m1");
    let state = alice.state();
    let restore =
        |name: &str, state: &[u8]| Channel::restore(at(2), config(name), rng(2), state).map(|_| ());
    assert_eq!(restore("alice", &state), Ok(()));
    assert_eq!(restore("alice", &[]), Err(StateError::Empty));
    assert_eq!(
        restore("alice", &[9, 0]),
        Err(StateError::Version { version: 9 })
    );
    assert!(matches!(
        restore("bob", &state),
        Err(StateError::OfOther { .. })
    ));
    for end in 1..state.len().min(400) {
        let _ = restore("alice", &state[..end]);
    }
    assert!(matches!(
        restore("alice", &state[..state.len() - 1]),
        Err(StateError::Wire(_))
    ));
}

#[test]
fn a_state_from_the_future_does_not_make_the_member_a_liar() {
    let mut alice = member("alice");
    alice.lamport = u64::MAX;
    let mut alice = restored(&alice, "alice", at(0));
    assert_eq!(
        alice.lamport_timestamp(),
        START_MS + config("alice").limits.max_lamport_lead_ms
    );
    send(&mut alice, at(10), "m1");
}

#[test]
fn the_state_is_what_it_was_when_this_version_was_published() {
    let mut bob = member("bob");
    receive(&mut bob, at(1), &forged("m1", START_MS, &[]).encode());
    receive(
        &mut bob,
        at(1),
        &forged("m3", START_MS + 2, &["m2"]).encode(),
    );
    let frame = hex::encode(forged("m3", START_MS + 2, &["m2"]).encode());
    let start = "010a04746f776e1203626f62";
    let state = hex::encode(bob.state());
    assert!(state.starts_with(start), "{state}");
    assert!(state.ends_with(&frame), "{state}");
    let log = "22160a026d3110";
    assert!(state.contains(log), "{state}");
}
