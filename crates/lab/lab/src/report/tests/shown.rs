use std::time::{Duration, Instant};

use proptest::prelude::*;
use undertone_sim::Progress;

use super::super::histogram::{bar, histogram};
use super::super::progress::{ProgressLog, describe};
use super::super::{Campaign, ProgressLine};
use super::{outcome, summary, violated};

#[test]
fn bars_are_as_long_as_their_share() {
    assert_eq!(bar(0.0), "");
    assert_eq!(bar(1e-9), "▏");
    assert_eq!(bar(0.5), "█".repeat(25));
    assert_eq!(bar(2.0), "█".repeat(50));
    assert_eq!(bar(0.01), "▌");
}

#[test]
fn a_histogram_has_round_bins() {
    let values: Vec<f64> = (0..100).map(|v| 300.0 + f64::from(v)).collect();
    let text = histogram(&values);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 20, "{text}");
    assert!(
        lines[0].starts_with("      300 █") && lines[0].ends_with(" 5"),
        "{text}"
    );
    assert!(lines[19].starts_with("      395 "), "{text}");
    assert_eq!(histogram(&[]), "");
    assert!(histogram(&[5.0, 5.0]).trim_end().ends_with(" 2"));
}

proptest! {
    #[test]
    fn a_histogram_counts_every_value(values in prop::collection::vec(0.0..1e7_f64, 1..200)) {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        let text = histogram(&values);
        prop_assert!(text.lines().count() <= 24, "{}", text);
        let counted: usize = text
            .lines()
            .filter(|line| line.split_whitespace().count() == 3)
            .map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap())
            .sum();
        prop_assert_eq!(counted, values.len());
    }
}

#[test]
fn a_single_seed_says_that_it_is_one() {
    let text = Campaign::new(vec![summary(&outcome(7))]).to_string();
    for part in [
        "small, seed 7, commit abc123: 50 nodes, 2 messages, 7 of 8 deliveries",
        "3.5 s of virtual time in 0.25 s (0.50 s of processor time), 1234 events, 12 MB at most",
        "first 1, left out",
        "2.0 (66.7 %)",
        "mesh degree 2 to 4, mean 3.50",
        "2.14 copies per delivery",
        "one seed: how much seeds differ is not known",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn several_seeds_have_a_row_each() {
    let text = Campaign::new(vec![summary(&outcome(7)), summary(&violated(8))]).to_string();
    for part in [
        "seed 7",
        "seed 8",
        "median of 2",
        "VIOLATION seed 8: at 1.500000 s, node 3: a message was delivered twice",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

#[test]
fn progress_speaks_of_virtual_time() {
    let progress = Progress {
        virtual_ns: 15_000_000_000,
        end_ns: 60_000_000_000,
        events: 3_000_000,
        deliveries: 42,
    };
    let (position, message) = describe(progress, Duration::from_secs(2));
    assert_eq!(position, 250);
    assert_eq!(message, "15.0 of 60.0 s, 1.50 M events/s, 42 deliveries");
    let line = ProgressLine::new("small", false);
    line.update(progress);
    line.finish();
}

#[test]
fn a_log_has_a_line_of_progress_every_half_minute() {
    let start = Instant::now();
    let log = ProgressLog::new(start);
    let due: Vec<_> = (1..=70)
        .filter(|second| log.is_due(start + Duration::from_secs(*second)))
        .collect();
    assert_eq!(due, [30, 60]);
}
