use super::*;

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
