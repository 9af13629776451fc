use std::collections::BTreeMap;
use std::time::Duration;

use super::{Spread, Tally, percentile};
use crate::chain::load::{Load, Outcome};

const LOAD: Load = Load {
    size: 99,
    count: 2,
    gap: Duration::from_millis(100),
};

/// Two messages over two hops; the last peer misses the second.
fn outcome() -> Outcome {
    Outcome {
        asked: 2,
        refused: 0,
        latency_ns: vec![
            BTreeMap::from([(1, 1_000_000), (2, 2_000_000)]),
            BTreeMap::from([(1, 5_000_000)]),
        ],
        cpu_us: vec![3_000.0, 2_000.0, 1_000.0],
        elapsed_us: 10_000.0,
        rss_kib: vec![1_024, 2_048, 512],
    }
}

#[test]
fn percentiles_are_of_the_nearest_rank() {
    let values: Vec<f64> = (1..=20).map(f64::from).collect();
    assert_eq!(percentile(&values, 50), Some(10.0));
    assert_eq!(percentile(&values, 95), Some(19.0));
    assert_eq!(percentile(&values[..1], 95), Some(1.0));
    assert_eq!(percentile(&[], 50), None);
}

#[test]
fn hops_are_differences_between_neighbours() {
    let mut tally = Tally::default();
    tally.add(&outcome(), &[0.0; 3]);
    assert_eq!(tally.hop_ms, [1.0, 2.0, 4.0]);
    let row = tally.row("x", LOAD);
    assert_eq!((row.expected, row.delivered), (2, 1));
    assert_eq!(row.received, [2, 1]);
    assert_eq!(
        row.end_to_end,
        Some(Spread {
            p50_ms: 5.0,
            p95_ms: 5.0
        })
    );
    assert_eq!(
        row.hop,
        Some(Spread {
            p50_ms: 2.0,
            p95_ms: 4.0
        })
    );
    assert_eq!(row.rate_per_s, Some(10.0));
}

#[test]
fn idle_cost_is_taken_off_and_rounds_add_up() {
    let mut tally = Tally::default();
    tally.add(&outcome(), &[0.1, 0.0, 0.0]);
    assert_eq!(tally.row("x", LOAD).cpu_ms_per_message, [1.0, 1.0, 0.5]);
    let mut second = outcome();
    second.rss_kib = vec![512, 4_096, 512];
    tally.add(&second, &[0.1, 0.0, 0.0]);
    let row = tally.row("x", LOAD);
    assert_eq!(row.cpu_ms_per_message, [1.0, 1.0, 0.5]);
    assert_eq!(row.rss_mib, [1.0, 4.0, 0.5]);
    assert_eq!(
        (row.expected, row.delivered, row.max_rss_mib()),
        (4, 2, 4.0)
    );
}
