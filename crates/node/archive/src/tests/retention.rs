use super::*;

const HOUR_NS: i64 = 3_600_000_000_000;

fn policy(text: &str) -> RetentionPolicy {
    text.parse().unwrap()
}

fn slots(messages: &[u64]) -> Vec<SlotUse> {
    let slot = |(index, messages): (usize, &u64)| SlotUse {
        range: SlotRange {
            first_ns: index as i64 * 100,
            last_ns: index as i64 * 100 + 99,
        },
        messages: *messages,
        bytes: *messages * 10,
        newest_ns: Some(index as i64 * 100 + 40),
    };
    messages.iter().enumerate().map(slot).collect()
}

#[test]
fn policies_are_read_with_units() {
    assert_eq!(policy("none"), RetentionPolicy::default());
    assert_eq!(policy("time:3600").max_age_s, Some(3600));
    assert_eq!(policy("time:30d").max_age_s, Some(2_592_000));
    assert_eq!(policy("size:30 GB").max_bytes, Some(30_000_000_000));
    assert_eq!(policy("size:1gib").max_bytes, Some(1 << 30));
    let all = policy("time:12h; capacity:1000;size:5MB");
    assert_eq!(all.max_age_s, Some(43_200));
    assert_eq!(all.max_messages, Some(1000));
    assert_eq!(all.max_bytes, Some(5_000_000));
}

#[test]
fn a_policy_is_read_back_as_it_is_shown() {
    for text in ["none", "time:60", "time:60;capacity:7;size:9B"] {
        assert_eq!(policy(text).to_string(), text);
    }
}

#[test]
fn errors_name_the_part_that_is_wrong() {
    let error = |text: &str| text.parse::<RetentionPolicy>().unwrap_err().to_string();
    assert!(error("").contains("expected `time:"));
    assert!(error("time:1h;bananas:3").starts_with("retention `bananas:3`: expected"));
    assert!(error("time:many").contains("`time:many`: expected a whole number"));
    assert!(error("time:0").contains("above zero"));
    assert!(error("time:99999999999999w").contains("fits in 63 bits"));
    assert!(error("size:30").contains("unit `` is not one of B, KB"));
    assert!(error("capacity:3GB").contains("unit `GB` is not one of none"));
    assert!(error("time:1h;time:2h").contains("`time:2h`: this kind of limit is given twice"));
    assert!(error("none;time:1h").contains("cannot be joined"));
}

#[test]
fn age_drops_a_slot_when_its_last_message_is_too_old() {
    let slots = slots(&[5, 5, 5]);
    let by_age = RetentionPolicy {
        max_age_s: Some(1),
        ..RetentionPolicy::default()
    };
    assert_eq!(by_age.plan(Some(1_000_000_099), &slots).drop, 0);
    assert_eq!(by_age.plan(Some(1_000_000_100), &slots).drop, 1);
    assert_eq!(by_age.plan(Some(i64::MAX), &slots).drop, 3);
}

#[test]
fn number_and_size_drop_the_oldest_until_the_rest_fits() {
    let slots = slots(&[40, 40, 40, 1]);
    assert_eq!(policy("capacity:121").plan(Some(340), &slots).drop, 0);
    assert_eq!(policy("capacity:120").plan(Some(340), &slots).drop, 1);
    assert_eq!(policy("size:410B").plan(Some(340), &slots).drop, 2);
    assert_eq!(policy("capacity:5").plan(Some(340), &slots).drop, 3);
    assert_eq!(
        policy("capacity:121;size:410B")
            .plan(Some(340), &slots)
            .drop,
        2
    );
}

#[test]
fn the_newest_slot_stays_and_is_closed_for_what_comes() {
    let plan = policy("capacity:10").plan(Some(150), &slots(&[40, 40]));
    assert_eq!(
        plan,
        RetentionPlan {
            drop: 1,
            close_newest_at_ns: Some(140),
            above_limit: true
        }
    );
}

#[test]
fn a_slot_is_closed_behind_its_newest_message() {
    let plan = policy("capacity:160").plan(Some(20), &slots(&[11]));
    assert_eq!(plan.close_newest_at_ns, Some(40));
    assert!(!plan.above_limit);
    let plan = policy("capacity:160").plan(Some(20), &slots(&[10]));
    assert_eq!(plan.close_newest_at_ns, None);
}

#[test]
fn width_follows_from_the_retention_time() {
    let width_h = |policy: &str| width_ns(&policy.parse().unwrap()) / HOUR_NS;
    assert_eq!(width_ns(&policy("time:60")) / 1_000_000_000, 60);
    assert_eq!(width_ns(&policy("time:3600")) / 1_000_000_000, 150);
    assert_eq!(width_h("time:2d"), 2);
    assert_eq!(width_h("time:30d"), 24);
    assert_eq!(width_h("time:1024d"), 48);
    assert_eq!(width_h("capacity:1000"), 168);
    assert_eq!(width_h("none"), 168);
}

#[test]
fn without_a_time_nothing_is_too_old() {
    let policy = policy("time:1;capacity:40");
    assert_eq!(policy.plan(None, &slots(&[40])).drop, 0);
    assert_eq!(policy.plan(None, &slots(&[40, 1])).drop, 1);
}

#[test]
fn messages_are_written_in_pieces_of_a_sixteenth() {
    let of = |payload: &str| {
        let message =
            undertone_message::WakuMessage::new(payload.as_bytes().to_vec(), "/a/1/b/proto");
        StoredMessage::new("/waku/2/rs/1/0", message)
    };
    let lengths = |text: &str, messages: &[StoredMessage]| -> Vec<usize> {
        policy(text).pieces(messages).map(<[_]>::len).collect()
    };
    let messages = vec![of("x"); 10];
    assert_eq!(lengths("none", &messages), [10]);
    assert_eq!(lengths("time:1h", &messages), [10]);
    assert_eq!(lengths("capacity:64", &messages), [4, 4, 2]);
    assert_eq!(lengths("capacity:1", &messages), [1; 10]);
    assert_eq!(lengths("size:1B", &messages), [1; 10]);
    assert_eq!(lengths("size:1600B", &messages), [3, 3, 3, 1]);
    assert!(lengths("capacity:64", &[]).is_empty());
}
