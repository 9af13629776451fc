use super::*;

fn syncs(outputs: &[(Time, Output)]) -> Vec<Time> {
    let syncs = outputs.iter().filter(|(_, output)| {
        matches!(
            output,
            Output::Publish {
                reason: PublishReason::Sync,
                ..
            }
        )
    });
    syncs.map(|(time, _)| *time).collect()
}

#[test]
fn an_empty_channel_is_silent() {
    assert_eq!(run(&mut member("alice"), at(3_600_000)), []);
}

#[test]
fn sync_messages_come_after_quiet_time() {
    let mut alice = member("alice");
    send(&mut alice, at(0), "m1");
    let times = syncs(&run(&mut alice, at(600_000)));
    assert!((13..=20).contains(&times.len()), "{times:?}");
    for pair in times.windows(2) {
        let quiet = pair[1].since(pair[0]);
        assert!((30_000..45_000).contains(&quiet.as_millis()), "{quiet:?}");
    }
}

#[test]
fn a_chatty_member_delays_the_sync_messages_of_others_but_cannot_stop_them() {
    let mut alice = member("alice");
    send(&mut alice, at(0), "m1");
    let mut times = Vec::new();
    for n in 1..=600 {
        times.extend(syncs(&run(&mut alice, at(1_000 * n))));
        let message = forged(&format!("x{n}"), START_MS + 1_000 * n, &[]);
        receive(&mut alice, at(1_000 * n), &message.encode());
    }
    assert!((4..=6).contains(&times.len()), "{times:?}");
}

#[test]
fn what_never_comes_is_lost_and_no_longer_waited_for() {
    let mut bob = member("bob");
    receive(&mut bob, at(0), &forged("m2", START_MS, &["m1"]).encode());
    receive(
        &mut bob,
        at(500_000),
        &forged("m3", START_MS + 1, &["m2", "m1"]).encode(),
    );
    let outputs: Vec<Output> = run(&mut bob, at(900_000))
        .into_iter()
        .map(|(_, output)| output)
        .collect();
    assert_eq!(delivered(&outputs), ["m2", "m3"]);
    assert!(outputs.contains(&Output::Lost {
        ids: vec!["m1".into()]
    }));
    assert_eq!(gaps(&outputs), ["m1", "m1"]);

    let outputs = receive(
        &mut bob,
        at(900_001),
        &forged("m4", START_MS + 2, &["m1"]).encode(),
    );
    assert_eq!(
        (delivered(&outputs), gaps(&outputs)),
        (vec!["m4"], vec!["m1"])
    );
    let outputs = receive(
        &mut bob,
        at(900_002),
        &forged("m1", START_MS - 1, &[]).encode(),
    );
    assert_eq!(delivered(&outputs), ["m1"]);
    let outputs = receive(
        &mut bob,
        at(900_003),
        &forged("m5", START_MS + 3, &["m1"]).encode(),
    );
    assert_eq!((delivered(&outputs), gaps(&outputs)), (vec!["m5"], vec![]));
}

#[test]
fn missing_messages_are_reported_again_until_they_are_lost() {
    let mut bob = member("bob");
    receive(&mut bob, at(0), &forged("m2", START_MS, &["m1"]).encode());
    let all = run(&mut bob, at(10_000_000));
    let reports: Vec<Time> = all
        .iter()
        .filter(|(_, it)| matches!(it, Output::Missing { .. }))
        .map(|(at, _)| *at)
        .collect();
    assert_eq!(reports.len(), 15);
    assert_eq!(reports[..3], [at(1_000), at(61_000), at(121_000)]);
}
