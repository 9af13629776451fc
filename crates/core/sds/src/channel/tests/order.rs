use super::*;

#[test]
fn a_message_waits_for_those_it_names() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    let frames = ["m1", "m2", "m3"].map(|id| send(&mut alice, at(5), id));
    assert_eq!(delivered(&receive(&mut bob, at(10), &frames[2])), [""; 0]);
    assert_eq!(delivered(&receive(&mut bob, at(11), &frames[1])), [""; 0]);
    assert_eq!(
        delivered(&receive(&mut bob, at(12), &frames[0])),
        ["m1", "m2", "m3"]
    );
    assert!(bob.log().map(|id| &**id).eq(["m1", "m2", "m3"]));
}

#[test]
fn messages_that_become_ready_together_are_delivered_by_timestamp_and_id() {
    let mut bob = member("bob");
    for (id, lamport) in [
        ("late", START_MS + 9),
        ("b", START_MS + 7),
        ("a", START_MS + 7),
    ] {
        let message = forged(id, lamport, &["first"]);
        assert_eq!(
            delivered(&receive(&mut bob, at(0), &message.encode())),
            [""; 0]
        );
    }
    let first = forged("first", START_MS, &[]);
    let outputs = receive(&mut bob, at(1), &first.encode());
    assert_eq!(delivered(&outputs), ["first", "a", "b", "late"]);
}

#[test]
fn the_timestamp_follows_the_clock_and_runs_ahead_of_what_was_seen() {
    let mut bob = member("bob");
    assert_eq!(bob.lamport_timestamp(), START_MS);
    assert_eq!(
        decode(&send(&mut bob, at(50), "m1")).lamport_timestamp,
        Some(START_MS + 50)
    );
    assert_eq!(
        decode(&send(&mut bob, at(50), "m2")).lamport_timestamp,
        Some(START_MS + 51)
    );
    receive(
        &mut bob,
        at(60),
        &forged("m3", START_MS + 900, &[]).encode(),
    );
    assert_eq!(
        decode(&send(&mut bob, at(60), "m4")).lamport_timestamp,
        Some(START_MS + 901)
    );
}

#[test]
fn a_message_names_the_latest_two_and_those_that_nobody_has_named() {
    let mut settings = config("bob");
    settings.causal_history = 4;
    let mut bob = Channel::new(Time::ZERO, settings, rng(1));
    let m1 = send(&mut bob, at(1), "m1");
    assert_eq!(named(&decode(&m1)), [""; 0]);
    for (id, ms) in [("x1", 2), ("x2", 3), ("x3", 4), ("x4", 5), ("x5", 6)] {
        receive(
            &mut bob,
            at(10),
            &forged(id, START_MS + ms, &["m1"]).encode(),
        );
    }
    assert_eq!(
        named(&decode(&send(&mut bob, at(11), "m2"))),
        ["x1", "x2", "x4", "x5"]
    );
    // Nobody has named x3 yet; the latest messages fill the remaining entries.
    assert_eq!(
        named(&decode(&send(&mut bob, at(12), "m3"))),
        ["x3", "x4", "x5", "m2"]
    );
}

#[test]
fn what_a_member_tells_of_retrieval_reaches_those_that_miss_the_message() {
    let (mut alice, mut bob, mut carol) = (member("alice"), member("bob"), member("carol"));
    let m1 = send(&mut alice, at(1), "m1");
    let bytes = m1.clone();
    let retrieval_hint = Some(b"hash of m1".to_vec());
    bob.handle(
        at(2),
        Input::Received {
            bytes,
            retrieval_hint,
        },
    );
    outputs(&mut bob);
    let m2 = send(&mut bob, at(3), "m2");
    bob.handle(
        at(4),
        Input::Published {
            id: "m2".into(),
            retrieval_hint: b"hash of m2".to_vec(),
        },
    );
    outputs(&mut bob);
    let m3 = send(&mut bob, at(5), "m3");
    assert_eq!(delivered(&receive(&mut carol, at(6), &m3)), [""; 0]);
    let found = run(&mut carol, at(2_000));
    let expected = [("m1", "hash of m1", "alice"), ("m2", "hash of m2", "bob")];
    let entries = expected.map(|(id, hint, sender)| CausalHistoryEntry {
        message_id: id.into(),
        retrieval_hint: Some(hint.as_bytes().to_vec()),
        sender_id: Some(sender.into()),
    });
    assert_eq!(
        found,
        [(
            at(1_006),
            Output::Missing {
                entries: entries.to_vec()
            }
        )]
    );

    for (bytes, count) in [(m2, 0), (m1, 3)] {
        let retrieval_hint = None;
        carol.handle(
            at(2_000),
            Input::Retrieved {
                bytes,
                retrieval_hint,
            },
        );
        assert_eq!(delivered(&outputs(&mut carol)).len(), count);
    }
}

#[test]
fn sync_messages_leave_no_trace_but_show_what_is_missing() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    send(&mut alice, at(1), "m1");
    let sync = run(&mut alice, at(45_001));
    let Output::Publish {
        bytes,
        reason: PublishReason::Sync,
        is_ephemeral: true,
    } = &sync[0].1
    else {
        panic!("{sync:?}");
    };
    assert_eq!(decode(bytes).content, None);
    assert_eq!(receive(&mut bob, at(45_001), bytes), []);
    assert!(bob.log().next().is_none());
    let outputs = run(&mut bob, at(46_001));
    assert!(
        matches!(&outputs[..], [(_, Output::Missing { entries })] if &*entries[0].message_id == "m1")
    );
    assert_eq!(named(&decode(&send(&mut bob, at(46_002), "m2"))), [""; 0]);
}

#[test]
fn ephemeral_messages_pass_by_the_log() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    send(&mut alice, at(1), "m1");
    alice.handle(
        at(2),
        Input::SendEphemeral {
            id: "e1".into(),
            payload: b"typing".to_vec(),
        },
    );
    let sent = outputs(&mut alice);
    assert!(matches!(
        &sent[..],
        [Output::Publish {
            is_ephemeral: true,
            ..
        }]
    ));
    let frame = published(&sent).remove(0);
    let message = decode(&frame);
    assert_eq!(
        (
            message.lamport_timestamp,
            message.bloom_filter,
            message.causal_history
        ),
        (None, None, vec![])
    );
    assert_eq!(delivered(&receive(&mut bob, at(3), &frame)), ["e1"]);
    assert!(bob.log().next().is_none());
}

#[test]
fn what_cannot_be_sent_is_refused_with_the_reason() {
    let mut settings = config("bob");
    settings.limits.max_outgoing = 1;
    settings.limits.max_frame_bytes = 20_000;
    let mut bob = Channel::new(Time::ZERO, settings, rng(1));
    let mut refused = |id: &str, size_bytes: usize| {
        bob.handle(
            at(1),
            Input::Send {
                id: id.into(),
                payload: vec![1; size_bytes],
            },
        );
        let outputs = outputs(&mut bob);
        outputs.into_iter().find_map(|output| match output {
            Output::SendRefused { error, .. } => Some(error),
            _ => None,
        })
    };
    assert_eq!(refused("m1", 0), Some(SdsSendError::Empty));
    assert_eq!(refused("", 9), Some(SdsSendError::WrongId));
    assert_eq!(refused(&"m".repeat(257), 9), Some(SdsSendError::WrongId));
    assert!(matches!(
        refused("m1", 1_300),
        Some(SdsSendError::TooLarge { .. })
    ));
    assert_eq!(refused("m1", 9), None);
    assert_eq!(refused("m1", 9), Some(SdsSendError::DuplicateId));
    assert_eq!(refused("m2", 9), Some(SdsSendError::Full));
}
