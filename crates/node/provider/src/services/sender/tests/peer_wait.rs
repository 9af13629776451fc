use super::*;

#[test]
fn a_message_waits_to_the_end_of_its_epoch_and_not_beyond_its_time() {
    let limit = Some(SenderRateLimit {
        epoch_s: 600,
        max_clock_gap: Duration::from_secs(20),
    });
    let mut message = WakuMessage::new(vec![1], "/a/1/b/proto");
    let now_ns = 6_000 * S + 100 * S;
    let until_ns =
        |message: &WakuMessage, restamp| accepted_until_ns(limit, message, restamp, now_ns);
    assert_eq!(until_ns(&message, true), 6_600 * S);
    message.timestamp = Some(i64::try_from(now_ns).unwrap());
    assert_eq!(until_ns(&message, false), now_ns + 20 * S);
    message.timestamp = Some(i64::try_from(6_590 * S).unwrap());
    assert_eq!(until_ns(&message, false), 6_600 * S);
    message.timestamp = Some(-1);
    assert!(until_ns(&message, false) < now_ns);
    let without = accepted_until_ns(None, &message, false, now_ns);
    assert_eq!(without, now_ns + WAIT_WITHOUT_EPOCH_NS);
}
