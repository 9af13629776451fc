use super::*;

#[test]
fn requests_and_answers_are_counted_by_their_protocol() {
    let mut totals = ServiceTotals::default();
    totals.count_request(store::PROTOCOL_ID, true, 10);
    totals.count_request(store::PROTOCOL_ID, false, 5);
    totals.count_sent(store::PROTOCOL_ID, 100);
    totals.count_request("/unknown/1.0.0", true, 10);
    let expected = ProtocolTotals {
        served: 1,
        rejected: 1,
        received_bytes: 15,
        sent_bytes: 100,
    };
    assert_eq!(
        totals.protocols,
        [(store::PROTOCOL_ID, expected)].into_iter().collect()
    );
}

#[test]
fn a_time_is_counted_in_the_bucket_whose_bound_it_does_not_exceed() {
    let mut times = DurationHistogram::default();
    for took_ms in [0, 5, 6, 10_000, 10_001] {
        times.count(Duration::from_millis(took_ms));
    }
    assert_eq!(times.counts[0], 2, "0 and 5 ms");
    assert_eq!(times.counts[1], 1, "6 ms");
    assert_eq!(times.counts[13], 1, "10 s");
    assert_eq!(times.counts[14], 1, "more than 10 s");
    assert_eq!(times.sum, Duration::from_millis(20_012));
}
