use super::*;
use crate::report::tests::{outcome, summary};
use crate::report::{Campaign, Sorted, Summary};
use crate::scenario::load;

/// A run with the published quantiles and hops, scaled by `factor`.
fn like(published: &PublishedRun, factor: f64) -> Summary {
    let mut run = summary(&outcome(1));
    let q = |name: &str| published.figure(name).unwrap();
    // Values at each decile and its middle nearly reproduce the deciles and the mean.
    let points = [
        "min", "p10", "p20", "p30", "p40", "p50", "p60", "p70", "p80", "p90", "p95", "max",
    ];
    let ends = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 950, 1_000];
    let mut values = vec![q("min") * factor];
    for (name, window) in points[1..].iter().zip(ends.windows(2)) {
        let many = window[1] - window[0];
        values.extend(std::iter::repeat_n(q(name) * factor, many));
    }
    values.remove(1);
    run.sorted_ms = Sorted::new(values);
    run.latency_ms = crate::report::Latency::of(&run.sorted_ms);
    if let Some(latency) = &mut run.latency_ms {
        latency.mean = q("mean") * factor;
    }
    if let (Some(first), Some(mean)) = (
        run.per_message[0].latency_ms.as_mut(),
        published.first_message_mean_ms,
    ) {
        first.mean = mean;
    }
    run.hops = published
        .hops
        .iter()
        .map(|(hops, nodes)| (*hops, *nodes as u64))
        .collect();
    run
}

#[test]
fn every_published_run_has_a_scenario_and_all_its_figures() {
    let names: Vec<_> = published_names().collect();
    assert_eq!(
        names,
        ["paper-2kb", "paper-25kb", "paper-100kb", "paper-500kb"]
    );
    for name in names {
        let published = published(name).unwrap();
        let traffic = load(name, &[]).unwrap().scenario.traffic;
        assert_eq!(
            published.figure("n"),
            Some(f64::from(traffic.messages - 1) * 999.0)
        );
        assert_eq!(published.figures.len(), 19);
        assert!(published.first_message_mean_ms.is_some());
        let ordered = &published.figures[1..17];
        assert!(
            ordered.windows(2).all(|pair| pair[0].1 <= pair[1].1),
            "{name}"
        );
    }
    let hops: f64 = published("paper-2kb")
        .unwrap()
        .hops
        .iter()
        .map(|(_, n)| n)
        .sum();
    assert_eq!(hops, 999.0);
    assert_eq!(published("paper-2kb-150ms"), None);
}

#[test]
fn a_run_equal_to_the_published_one_agrees() {
    for name in published_names() {
        let published = published(name).unwrap();
        let comparison = compare(&published, &Campaign::new(vec![like(&published, 1.0)]));
        assert!(comparison.agrees, "{comparison}");
    }
}

#[test]
fn each_figure_has_its_tolerance() {
    let published = published("paper-2kb").unwrap();
    let differing = |factor: f64| -> Vec<String> {
        compare(&published, &Campaign::new(vec![like(&published, factor)]))
            .rows
            .into_iter()
            .filter(|row| row.verdict == ComparisonVerdict::Differs)
            .map(|row| row.figure)
            .collect()
    };
    assert_eq!(differing(1.009), [""; 0]);
    assert_eq!(differing(1.02), ["min"]);
    assert_eq!(differing(0.96), ["mean", "min"]);
    assert_eq!(differing(1.06).len(), 2 + 10);
    assert_eq!(differing(1.09).len(), 2 + 10 + 1);
}

#[test]
fn hops_and_first_messages_count_where_they_can_be_told() {
    let two = published("paper-2kb").unwrap();
    let mut run = like(&two, 1.0);
    run.hops.insert(2, 320);
    run.per_message[0].latency_ms = None;
    let comparison = compare(&two, &Campaign::new(vec![run; BAND_SEEDS]));
    let differing: Vec<_> = comparison
        .rows
        .iter()
        .filter(|row| row.verdict == ComparisonVerdict::Differs)
        .map(|row| row.figure.as_str())
        .collect();
    assert_eq!(differing, ["nodes at hop 2"]);
    let hundred = published("paper-100kb").unwrap();
    let mut run = like(&hundred, 1.0);
    run.per_message[0].latency_ms = None;
    let comparison = compare(&hundred, &Campaign::new(vec![run]));
    assert!(!comparison.agrees);
    let text = comparison.to_string();
    assert!(
        text.contains("differs from the published run in one figure"),
        "{text}"
    );
    assert!(text.contains("paper-100kb, one seed"), "{text}");
}

/// The last row of a comparison whose runs have these numbers of nodes at the fourth hop, where 103 are
/// published.
fn fourth_hop(nodes: impl Iterator<Item = u64>) -> (ComparedFigure, Comparison) {
    let two = published("paper-2kb").unwrap();
    let runs = nodes.map(|nodes| {
        let mut run = like(&two, 1.0);
        run.hops.insert(4, nodes);
        run
    });
    let comparison = compare(&two, &Campaign::new(runs.collect()));
    (comparison.rows.last().unwrap().clone(), comparison)
}

#[test]
fn a_figure_of_one_network_is_shown_and_not_judged_by_few_seeds() {
    for seeds in [1, 5, BAND_SEEDS - 1] {
        let (row, comparison) = fourth_hop((0..seeds).map(|seed| 140 + seed as u64));
        assert_eq!(row.rule, Some(ComparisonRule::TooFewSeeds));
        assert_eq!(row.verdict, ComparisonVerdict::Shown);
        assert!(comparison.agrees, "{comparison}");
        assert!(comparison.to_string().contains("needs 20 seeds"));
        assert_eq!(row.range.is_some(), seeds > 1, "one seed has no range");
    }
}

#[test]
fn a_figure_of_one_network_is_judged_by_the_band_of_many_seeds() {
    // The median, 118.5, is outside of any tolerance that was set; the published 103 is one draw among these.
    let (row, comparison) = fourth_hop((0..40).map(|seed| 99 + seed));
    assert_eq!(row.rule, Some(ComparisonRule::Band([99.0, 137.0])));
    assert_eq!(row.verdict, ComparisonVerdict::Agrees);
    let text = comparison.to_string();
    assert!(text.contains("in 99.0 to 137.0"), "{text}");
    assert!(text.contains("99.0 to 138.0"), "the range: {text}");
    // Of forty, the band leaves out the largest.
    let (row, comparison) = fourth_hop((0..39).map(|seed| 62 + seed).chain([200]));
    assert_eq!(row.rule, Some(ComparisonRule::Band([62.0, 100.0])));
    assert_eq!(row.verdict, ComparisonVerdict::Differs);
    assert!(!comparison.agrees);
}

#[test]
fn a_run_without_deliveries_differs() {
    let published = published("paper-2kb").unwrap();
    let mut run = like(&published, 1.0);
    run.latency_ms = None;
    run.sorted_ms = Sorted::default();
    assert!(!compare(&published, &Campaign::new(vec![run])).agrees);
}
