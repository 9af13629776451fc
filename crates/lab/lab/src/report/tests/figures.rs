use proptest::prelude::*;

use super::super::measure::vm_hwm_mb;
use super::super::{Campaign, Latency, Sorted, Stopwatch, median};
use super::{outcome, summary, violated};

#[test]
fn quantiles_are_nearest_rank() {
    let sorted = Sorted::new((1..=20).rev().map(f64::from).collect());
    for (q, value) in [
        (0.0, 1.0),
        (0.05, 1.0),
        (0.051, 2.0),
        (0.5, 10.0),
        (0.95, 19.0),
        (0.951, 20.0),
        (1.0, 20.0),
    ] {
        assert_eq!(sorted.quantile(q), Some(value), "{q}");
    }
    assert_eq!(Sorted::new(Vec::new()).quantile(0.5), None);
    assert_eq!(Latency::of(&Sorted::default()), None);
}

proptest! {
    /// Compares quantiles with their definition, by counting.
    #[test]
    fn a_quantile_is_the_smallest_value_that_enough_do_not_exceed(
        values in prop::collection::vec(0_u32..50, 1..60),
        percent in 1_usize..=100,
    ) {
        let sorted = Sorted::new(values.iter().copied().map(f64::from).collect());
        let naive = (0..50)
            .find(|v| values.iter().filter(|x| *x <= v).count() * 100 >= percent * values.len())
            .unwrap();
        prop_assert_eq!(sorted.quantile(percent as f64 / 100.0), Some(f64::from(naive)));
    }
}

#[test]
fn medians_of_even_numbers_are_in_between() {
    assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median([4.0, 1.0]), Some(2.5));
    assert_eq!(median([]), None);
}

#[test]
fn messages_that_warm_up_are_kept_apart() {
    let summary = summary(&outcome(7));
    let latency = summary.latency_ms.unwrap();
    assert_eq!(
        (latency.n, latency.min, latency.mean, latency.max),
        (3, 5.0, 10.0, 15.0)
    );
    assert_eq!(summary.hops, [(1, 1), (2, 2)].into());
    let warm_up = summary.warm_up.as_ref().unwrap();
    let cold = warm_up.latency_ms.unwrap();
    assert_eq!(
        (cold.n, cold.min, cold.mean, cold.max),
        (4, 10.0, 25.0, 40.0)
    );
    assert_eq!(
        (warm_up.messages, &warm_up.hops),
        (1, &[(1, 1), (2, 3)].into())
    );
    assert_eq!((summary.expected, summary.delivered), (8, 7));
    assert_eq!(summary.counted_messages(), 1);
    assert!(summary.per_message[0].warm_up && !summary.per_message[1].warm_up);
    assert_eq!(summary.per_message[1].latency_ms, Some(latency));
}

#[test]
fn bytes_are_added_up_over_nodes_and_kinds() {
    let bytes = summary(&outcome(7)).bytes;
    assert_eq!(
        (bytes.payload, bytes.control, bytes.wire),
        (21_000, 210, 25_000)
    );
    assert_eq!(bytes.packets_dropped, 5);
    assert_eq!(bytes.kinds["ihave"].count, 5);
    assert_eq!(bytes.copies_per_delivery, Some(15.0 / 7.0));
}

#[test]
fn a_message_that_nobody_got_has_no_latency() {
    let mut outcome = outcome(7);
    outcome.deliveries.retain(|delivery| delivery.message == 0);
    let run = summary(&outcome);
    assert_eq!(
        (run.latency_ms, run.per_message[1].latency_ms),
        (None, None)
    );
    outcome.deliveries.clear();
    let run = summary(&outcome);
    assert_eq!(run.bytes.copies_per_delivery, None);
    assert_eq!(run.delivered, 0);
}

#[test]
fn campaigns_take_medians_over_seeds() {
    let mut slow = outcome(2);
    for delivery in &mut slow.deliveries {
        delivery.received_ns += 7_000_000;
    }
    let campaign = Campaign::new(vec![summary(&outcome(1)), summary(&slow), summary(&slow)]);
    let median = campaign.median();
    assert_eq!(median.latency_ms.unwrap().mean, 17.0);
    assert_eq!(median.hops_per_message, [(1, 1.0), (2, 2.0)].into());
    assert_eq!(campaign.hop_population(3), Some(0.0));
    assert_eq!(campaign.violating(), None);
    let campaign = Campaign::new(vec![summary(&outcome(1)), summary(&violated(2))]);
    assert_eq!(campaign.violating().unwrap().seed, 2);
    assert_eq!(Campaign::default().median().latency_ms, None);
}

#[test]
fn a_stopwatch_counts_this_process() {
    let watch = Stopwatch::start();
    let mut sum = 0_u64;
    while watch.read().cpu_s <= 0.0 {
        sum = sum.wrapping_add(1);
    }
    assert!(watch.read().wall_s > 0.0);
    assert_eq!(vm_hwm_mb("Name:\tx\nVmHWM:\t  1000 kB\n"), Some(1.024));
    assert_eq!(vm_hwm_mb("VmHWM: lots"), None);
}
