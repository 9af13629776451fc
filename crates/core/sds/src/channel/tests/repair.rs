use super::*;
use crate::{request_delay_ms, response_delay_ms};

fn requests(outputs: &[(Time, Output)]) -> Vec<(Time, Vec<u8>)> {
    let sent = outputs.iter().filter_map(|(time, output)| match output {
        Output::Publish { bytes, .. } if !decode(bytes).repair_request.is_empty() => {
            Some((*time, bytes.to_vec()))
        }
        _ => None,
    });
    sent.collect()
}

fn answers(outputs: &[(Time, Output)]) -> Vec<(Time, &str)> {
    let sent = outputs.iter().filter_map(|(time, output)| match output {
        Output::Publish {
            reason: PublishReason::Repair(id),
            ..
        } => Some((*time, &**id)),
        _ => None,
    });
    sent.collect()
}

#[test]
fn a_gap_is_requested_after_its_delay_and_answered_by_the_sender_at_once() {
    let (mut alice, mut bob) = (member("alice"), member("bob"));
    let m1 = send(&mut alice, at(0), "m1");
    let m2 = send(&mut alice, at(1), "m2");
    receive(&mut bob, at(2), &m2);
    let timing = config("bob").repair.unwrap();
    let due = at(2 + request_delay_ms(&timing, "bob", "m1"));
    let sent = requests(&run(&mut bob, at(200_000)));
    let (time, frame) = &sent[0];
    assert!(
        *time >= due && *time < due.after(Duration::from_secs(1)),
        "{time:?} is not {due:?}"
    );
    let request = decode(frame).repair_request;
    assert_eq!(
        (&*request[0].message_id, request[0].sender_id.as_deref()),
        ("m1", Some("alice"))
    );

    run(&mut alice, *time);
    let outputs = receive(&mut alice, *time, frame);
    assert!(published(&outputs).contains(&m1));
    assert_eq!(delivered(&receive(&mut bob, *time, &m1)), ["m1", "m2"]);
    assert_eq!(
        requests(&run(&mut bob, time.after(Duration::from_secs(600)))),
        []
    );
}

fn request_for(id: &str, sender: &str) -> Vec<u8> {
    let mut message = forged("sync", START_MS, &[]);
    message.content = None;
    let entry = CausalHistoryEntry {
        sender_id: Some(sender.into()),
        ..CausalHistoryEntry::new(id)
    };
    message.repair_request = vec![entry];
    message.encode()
}

#[test]
fn others_answer_after_their_delay_unless_someone_else_has() {
    let (mut alice, mut bob, mut carol) = (member("alice"), member("bob"), member("carol"));
    let m1 = send(&mut alice, at(0), "m1");
    for helper in [&mut bob, &mut carol] {
        receive(helper, at(1), &m1);
        receive(helper, at(10), &request_for("m1", "alice"));
    }
    let timing = config("bob").repair.unwrap();
    let delay_ms = |name| response_delay_ms(&timing, name, "alice", "m1");
    assert!(delay_ms("bob") > 1_000 && delay_ms("carol") > 1_000);

    let all = run(&mut bob, at(200_000));
    assert_eq!(answers(&all), [(at(10 + delay_ms("bob")), "m1")]);

    let mut other = decode(&m1);
    other.content = Some(b"not what alice said".to_vec());
    receive(&mut carol, at(500), &other.encode());
    assert!(
        carol.responses.next_timeout().is_some(),
        "a false answer silenced carol"
    );
    receive(&mut carol, at(501), &m1);
    assert_eq!(answers(&run(&mut carol, at(200_000))), []);
}

#[test]
fn a_message_is_not_sent_twice_within_the_longest_delay() {
    let mut alice = member("alice");
    send(&mut alice, at(0), "m1");
    let mut all = Vec::new();
    for second in 1..=240 {
        let now = at(1_000 * second);
        let outputs = receive(&mut alice, now, &request_for("m1", "alice"));
        all.extend(outputs.into_iter().map(|output| (now, output)));
        all.extend(run(&mut alice, now));
    }
    assert_eq!(answers(&all), [(at(1_000), "m1"), (at(121_000), "m1")]);
}

#[test]
fn a_request_of_another_puts_the_own_one_off_only_once() {
    let first_request = |interruptions: &[u64]| {
        let mut bob = member("bob");
        receive(&mut bob, at(0), &forged("m2", START_MS, &["m1"]).encode());
        for ms in interruptions {
            receive(&mut bob, at(*ms), &request_for("m1", "alice"));
        }
        requests(&run(&mut bob, at(500_000)))[0].0
    };
    let (undisturbed, once) = (first_request(&[]), first_request(&[20_000]));
    assert!(
        once >= undisturbed.after(Duration::from_secs(20)),
        "{once:?} is not after {undisturbed:?}"
    );
    assert_eq!(first_request(&[20_000, 22_000, 25_000]), once);
}

#[test]
fn without_the_extension_nothing_is_requested_or_answered() {
    let mut settings = config("bob");
    settings.repair = None;
    let mut bob = Channel::new(Time::ZERO, settings, rng(1));
    send(&mut bob, at(0), "m0");
    receive(&mut bob, at(1), &forged("m2", START_MS, &["m1"]).encode());
    receive(&mut bob, at(2), &request_for("m0", "bob"));
    let all = run(&mut bob, at(500_000));
    assert_eq!((requests(&all), answers(&all)), (vec![], vec![]));
    let history = decode(&send(&mut bob, at(500_000), "m3")).causal_history;
    assert_eq!(history[0].sender_id, None);
}
