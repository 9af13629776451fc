use proptest::prelude::*;

use super::*;

#[test]
fn messages_that_depend_on_each_other_are_delivered_in_the_end() {
    let mut bob = member("bob");
    for (id, names) in [("a", ["b"]), ("b", ["c"]), ("c", ["a"])] {
        assert_eq!(
            delivered(&receive(
                &mut bob,
                at(0),
                &forged(id, START_MS, &names).encode()
            )),
            [""; 0]
        );
    }
    let outputs: Vec<Output> = run(&mut bob, at(900_000))
        .into_iter()
        .map(|(_, it)| it)
        .collect();
    assert_eq!(delivered(&outputs), ["a", "c", "b"]);
    let outputs = receive(&mut bob, at(1), &forged("d", START_MS, &["d", ""]).encode());
    assert_eq!(delivered(&outputs), ["d"]);
}

#[test]
fn timestamps_far_ahead_are_refused_and_those_nearby_do_no_harm() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    for lamport in [u64::MAX, START_MS + 3_600_001] {
        let outputs = receive(&mut bob, at(0), &forged("x", lamport, &[]).encode());
        assert!(
            matches!(
                &outputs[..],
                [Output::Refused(SdsRefusal::FarFuture { .. })]
            ),
            "{outputs:?}"
        );
    }
    assert_eq!(bob.lamport_timestamp(), START_MS);
    let x = forged("x", START_MS + 3_600_000, &[]).encode();
    receive(&mut bob, at(0), &x);
    receive(&mut alice, at(0), &x);
    let m1 = send(&mut bob, at(1), "m1");
    // The next timestamp is at first just too far ahead for alice, and acceptable when the message is
    // resent.
    receive(&mut alice, at(0), &m1);
    assert_eq!(delivered(&receive(&mut alice, at(60_000), &m1)), ["m1"]);
}

#[test]
fn invented_dependencies_hold_up_nobody_else_and_fill_no_memory() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    let limits = SdsLimits::default();
    for n in 0..1_000 {
        let names: Vec<String> = (0..200).map(|k| format!("nothing {n} {k}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut message = forged(&format!("x{n}"), START_MS + n, &names);
        message.content = Some(vec![1; 4_000]);
        receive(&mut bob, at(n), &message.encode());
    }
    let (count, bytes) = bob.incoming.sizes();
    assert!(
        count <= limits.max_pending && bytes <= limits.max_pending_bytes,
        "{count} {bytes}"
    );
    assert_eq!(bob.missing.len(), limits.max_missing);

    let frames = ["m1", "m2"].map(|id| send(&mut alice, at(1_000), id));
    // The buffer is full: the message that waited longest is delivered with its gaps.
    assert!(!delivered(&receive(&mut bob, at(1_001), &frames[1])).contains(&"m2"));
    assert_eq!(
        delivered(&receive(&mut bob, at(1_002), &frames[0])),
        ["m1", "m2"]
    );

    let reports = run(&mut bob, at(61_000));
    let entries = reports.iter().map(|(_, output)| match output {
        Output::Missing { entries } => entries.len(),
        _ => 0,
    });
    assert!(entries.max() <= Some(limits.max_missing_report));
    run(&mut bob, at(2_000_000));
    assert_eq!(bob.incoming.sizes(), (0, 0));
    assert_eq!(
        (bob.missing.len(), bob.missing.lost_len()),
        (0, limits.max_missing)
    );
}

#[test]
fn a_flood_of_invented_ids_is_reported_at_a_bounded_rate() {
    let mut bob = member("bob");
    let mut reported = 0;
    for n in 0..10_000 {
        let mut sync = forged("sync", START_MS, &[&format!("a{n}"), &format!("b{n}")]);
        sync.content = None;
        let outputs = receive(&mut bob, at(n), &sync.encode());
        reported += outputs
            .iter()
            .filter(|it| matches!(it, Output::Missing { .. }))
            .count();
    }
    assert!((8..=10).contains(&reported), "{reported}");
}

#[test]
fn a_gap_that_gave_way_to_invented_ones_is_noted_again() {
    let mut settings = config("bob");
    settings.limits.max_missing = 4;
    let mut bob = Channel::new(Time::ZERO, settings, rng(1));
    receive(&mut bob, at(0), &forged("m2", START_MS, &["m1"]).encode());
    for n in 0..40 {
        let mut sync = forged("sync", START_MS, &[&format!("nothing {n}")]);
        sync.content = None;
        receive(&mut bob, at(1), &sync.encode());
    }
    assert!(
        !bob.missing.contains("m1"),
        "the flood was too small to matter"
    );
    let lost_after = bob.config.lost_after_ms;
    bob.missing
        .lose((0..40).map(|n| format!("nothing {n}").into()), 4);
    let outputs = run(&mut bob, at(lost_after - 1));
    let reported = outputs.iter().any(|(_, output)| {
        matches!(output, Output::Missing { entries } if entries.iter().any(|it| &*it.message_id == "m1"))
    });
    assert!(reported);
}

#[test]
fn the_log_and_its_frames_are_bounded() {
    let mut settings = config("bob");
    settings.limits.max_log = 50;
    settings.limits.max_cached_bytes = 20_000;
    let mut bob = Channel::new(Time::ZERO, settings, rng(1));
    for n in 0..500 {
        let mut message = forged(&format!("x{n}"), START_MS + n, &[]);
        message.content = Some(vec![1; 1_000]);
        receive(&mut bob, at(0), &message.encode());
        let (count, bytes) = bob.log.sizes();
        assert!(count <= 50 && bytes <= 20_000, "{count} {bytes}");
    }
    let outputs = receive(
        &mut bob,
        at(0),
        &forged("old", START_MS - 9_000, &["x499"]).encode(),
    );
    assert_eq!(delivered(&outputs), ["old"]);
    let outputs = receive(
        &mut bob,
        at(0),
        &forged("old", START_MS - 9_000, &["x499"]).encode(),
    );
    assert_eq!(delivered(&outputs), [""; 0]);
}

#[test]
fn floods_of_repair_requests_are_answered_at_a_bounded_rate() {
    let mut bob = member("bob");
    let ids: Vec<String> = (0..250).map(|n| format!("m{n}")).collect();
    ids.iter().for_each(|id| drop(send(&mut bob, at(0), id)));
    let mut answers = 0;
    for n in 0..10_000_usize {
        let now = at(n as u64);
        let mut sync = forged("sync", START_MS, &[]);
        sync.content = None;
        let wanted = ids.iter().cycle().skip(n * 7 % 250).take(16);
        sync.repair_request = wanted
            .map(|id| CausalHistoryEntry::new(id.as_str()))
            .collect();
        let outputs = receive(&mut bob, now, &sync.encode());
        answers += published(&outputs).len();
        assert!(bob.responses.next_timeout().is_none_or(|at| at > now));
    }
    assert!((9..=11).contains(&answers), "{answers}");
}

#[test]
fn frames_that_are_no_messages_of_the_channel_are_refused() {
    let mut bob = member("bob");
    let mut refused = |frame: &[u8]| match receive(&mut bob, at(0), frame).remove(0) {
        Output::Refused(refusal) => refusal,
        output => panic!("{output:?}"),
    };
    assert!(matches!(refused(&[0xff; 9]), SdsRefusal::Malformed(_)));
    assert!(matches!(
        refused(&vec![0; 256 * 1024 + 1]),
        SdsRefusal::Malformed(_)
    ));
    assert_eq!(refused(&[]), SdsRefusal::Meaningless);
    assert!(matches!(
        refused(&forged("", START_MS, &[]).encode()),
        SdsRefusal::WrongId { .. }
    ));
    let mut message = forged("x", START_MS, &[]);
    message.sender_id = "bob".into();
    assert_eq!(refused(&message.encode()), SdsRefusal::Own);
    message.channel_id = "village".into();
    assert_eq!(refused(&message.encode()), SdsRefusal::OtherChannel);
}

#[test]
fn under_the_rule_for_ids_content_cannot_be_swapped() {
    let mut settings = config("bob");
    settings.id_rule = crate::IdRule::Sha256OfContent;
    let mut bob = Channel::new(Time::ZERO, settings, rng(1));
    let id = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    let mut message = forged(id, START_MS, &[]);
    let outputs = receive(&mut bob, at(0), &message.encode());
    assert!(matches!(
        &outputs[..],
        [Output::Refused(SdsRefusal::WrongId { .. })]
    ));
    message.content = Some(b"hello".to_vec());
    assert_eq!(
        delivered(&receive(&mut bob, at(0), &message.encode())),
        [id]
    );
}

proptest! {
    #[test]
    fn damaged_frames_do_no_harm(
        edits in proptest::collection::vec((0..80_usize, any::<u8>()), 1..6),
        names in proptest::collection::vec("[a-d]", 0..4),
        lamport in any::<u64>(),
    ) {
        let (mut alice, mut bob) = (member("alice"), member("bob"));
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let good = forged("a", START_MS, &names).encode();
        let mut bad = good.clone();
        for (at, byte) in edits {
            if let Some(place) = bad.get_mut(at) {
                *place = byte;
            }
        }
        let wild = forged("b", lamport, &names).encode();
        for frame in [bad, good, wild] {
            receive(&mut bob, at(0), &frame);
        }
        let m1 = send(&mut alice, at(1), "m1");
        let mut all = receive(&mut bob, at(2), &m1);
        all.extend(run(&mut bob, at(2_000_000)).into_iter().map(|(_, output)| output));
        prop_assert!(delivered(&all).contains(&"m1"));
        send(&mut bob, at(2_000_000), "m2");
    }
}
