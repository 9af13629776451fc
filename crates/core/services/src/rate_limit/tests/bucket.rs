use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn limit(volume: u32, period_ms: u64) -> RateLimit {
    RateLimit {
        volume,
        period: Duration::from_millis(period_ms),
    }
}

fn take(bucket: &mut Bucket, at_ms: u64, limit: &RateLimit, capacity: u64) -> bool {
    let has = bucket.fill(Time::from_millis(at_ms), limit, capacity);
    if has {
        bucket.take(limit);
    }
    has
}

#[test]
fn a_token_comes_each_third_of_a_second_without_drift() {
    let limit = limit(3, 1000);
    let mut bucket = Bucket::new(Time::ZERO, &limit, 0);
    let taken = (1..=9000)
        .filter(|&ms| take(&mut bucket, ms, &limit, 3))
        .collect::<Vec<_>>();
    assert_eq!(taken.len(), 27);
    assert_eq!(taken[..4], [334, 667, 1000, 1334]);
}

#[test]
fn a_bucket_holds_no_more_than_its_capacity() {
    let limit = limit(10, 1000);
    let mut bucket = Bucket::new(Time::ZERO, &limit, 5);
    let taken =
        |bucket: &mut Bucket, at_ms| (0..100).filter(|_| take(bucket, at_ms, &limit, 20)).count();
    assert_eq!(taken(&mut bucket, 0), 5);
    assert_eq!(taken(&mut bucket, 1_000_000), 20);
}

#[test]
fn time_that_goes_back_fills_nothing() {
    let limit = limit(10, 1000);
    let mut bucket = Bucket::new(Time::from_millis(1000), &limit, 0);
    assert!(!take(&mut bucket, 500, &limit, 10));
    assert!(!take(&mut bucket, 1000, &limit, 10));
    assert!(take(&mut bucket, 1100, &limit, 10));
}

proptest! {
    #[test]
    fn never_more_than_capacity_and_inflow(
        volume in 1_u32..1000,
        period_ms in 1_u64..100_000,
        waits in proptest::collection::vec(0_u64..5000, 1..200),
    ) {
        let limit = limit(volume, period_ms);
        let capacity = u64::from(volume);
        let mut bucket = Bucket::new(Time::ZERO, &limit, capacity);
        let (mut now_ms, mut taken) = (0, 0_u64);
        for wait in waits {
            now_ms += wait;
            taken += u64::from(take(&mut bucket, now_ms, &limit, capacity));
            let most = capacity * period_ms + now_ms * u64::from(volume);
            prop_assert!(taken * period_ms <= most);
        }
    }
}
