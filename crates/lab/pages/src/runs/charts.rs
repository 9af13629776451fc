//! Charts of the page, each with a series for each run.

use std::collections::BTreeMap;

use super::RunShown;
use undertone_lab::record::{Axis, Chart, Role, Shape};
use undertone_lab::report::{Sorted, by_message, latency_ms, mesh_shares};

/// Points of a distribution.
const POINTS: usize = 300;
/// Intervals into which the time of a run is divided.
const INTERVALS: usize = 120;
/// Maximum number of runs in a chart; further ones appear in the tables only.
const MAX_SERIES: usize = 6;

/// All charts that have something to show.
pub(super) fn all(runs: &[RunShown<'_>]) -> Vec<Chart> {
    let runs = &runs[..runs.len().min(MAX_SERIES)];
    let has_groups = runs
        .iter()
        .any(|shown| !shown.run.summary.groups.is_empty());
    let groups = has_groups.then(|| by_group(runs));
    let mut charts = vec![
        distribution(runs),
        by_hop(runs),
        over_time(runs),
        over_messages(runs),
    ];
    charts.extend(groups);
    let is_attacked = runs.iter().any(|shown| shown.run.outcome.attack.is_some());
    charts.extend(is_attacked.then(|| adversaries(runs)));
    charts
}

fn with_runs(chart: Chart, runs: &[RunShown<'_>], shape: impl Fn(&RunShown<'_>) -> Shape) -> Chart {
    runs.iter().fold(chart, |chart, shown| {
        chart.with(&shown.name, Role::Ours, shape(shown))
    })
}

fn distribution(runs: &[RunShown<'_>]) -> Chart {
    let axes = (
        Axis::linear("latency, ms"),
        Axis::linear("share of deliveries"),
    );
    let chart = Chart::new("Distribution of latency", axes.0, axes.1);
    with_runs(chart, runs, |shown| {
        Shape::ecdf(shown.run.summary.sorted_ms.values(), POINTS)
    })
}

/// Distribution for each group of nodes.
fn by_group(runs: &[RunShown<'_>]) -> Chart {
    let axes = (
        Axis::linear("latency, ms"),
        Axis::linear("share of deliveries"),
    );
    let mut chart = Chart::new("Distribution of latency by group of nodes", axes.0, axes.1);
    for shown in runs {
        for group in &shown.run.summary.groups {
            let name = match runs {
                [_] => group.name.clone(),
                _ => format!("{}, {}", shown.name, group.name),
            };
            let shape = Shape::ecdf(group.sorted_ms.values(), POINTS);
            chart = chart.with(name, Role::Ours, shape);
        }
    }
    chart
}

/// Share of the mesh places that adversaries have, over time.
fn adversaries(runs: &[RunShown<'_>]) -> Chart {
    let axes = (
        Axis::linear("virtual time, s"),
        Axis::linear("share of mesh places"),
    );
    let chart = Chart::new("Mesh places of adversaries", axes.0, axes.1);
    with_runs(chart, runs, |shown| {
        let attack = shown.run.outcome.attack.as_deref();
        Shape::Line(attack.into_iter().flat_map(mesh_shares).collect())
    })
}

fn by_hop(runs: &[RunShown<'_>]) -> Chart {
    let hops = |shown: &RunShown<'_>| shown.run.summary.hops.keys().max().copied();
    let most = runs.iter().filter_map(hops).max().unwrap_or(0);
    let names: Vec<String> = (1..=most).map(|hop| hop.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let chart = Chart::new(
        "Latency by hop: median, and 5th to 95th percentile",
        Axis::words("hops of the first copy", &names),
        Axis::linear("latency, ms"),
    );
    with_runs(chart, runs, |shown| {
        let mut hops: BTreeMap<u16, Vec<f64>> = BTreeMap::new();
        for (message, deliveries) in by_message(&shown.run.outcome) {
            for delivery in deliveries.iter().filter(|_| !message.warm_up) {
                let values = hops.entry(delivery.hops).or_default();
                values.push(latency_ms(message, delivery));
            }
        }
        // Words are placed at 0, 1, 2 and so on.
        let bands = hops
            .into_iter()
            .filter_map(|(hop, values)| band(f64::from(hop) - 1.0, values));
        Shape::Band(bands.collect())
    })
}

/// Median with the 5th and the 95th percentile, at position `x`.
fn band(x: f64, values: Vec<f64>) -> Option<[f64; 4]> {
    let values = Sorted::new(values);
    Some([
        x,
        values.quantile(0.5)?,
        values.quantile(0.05)?,
        values.quantile(0.95)?,
    ])
}

/// Payload bytes whose first copies arrived, over virtual time.
fn over_time(runs: &[RunShown<'_>]) -> Chart {
    let axes = (Axis::linear("virtual time, s"), Axis::linear("MB/s"));
    let chart = Chart::new(
        "Payload delivered over time, all nodes together",
        axes.0,
        axes.1,
    );
    let times = |shown: &RunShown<'_>| {
        let outcome = &shown.run.outcome;
        let counted = outcome.messages.iter().filter(|message| !message.warm_up);
        let first = counted.map(|message| message.published_ns).min();
        let last = outcome
            .deliveries
            .iter()
            .map(|delivery| delivery.received_ns)
            .max();
        first.zip(last)
    };
    let from = runs.iter().filter_map(times).map(|(first, _)| first).min();
    let to = runs.iter().filter_map(times).map(|(_, last)| last).max();
    let (from, to) = (from.unwrap_or(0), to.unwrap_or(0));
    let step = (to.saturating_sub(from) / INTERVALS as u64).max(1);
    with_runs(chart, runs, |shown| {
        let mut bytes = vec![0_u64; INTERVALS + 1];
        for (message, deliveries) in by_message(&shown.run.outcome) {
            for delivery in deliveries.iter().filter(|_| !message.warm_up) {
                let at = delivery.received_ns.saturating_sub(from) / step;
                bytes[(at as usize).min(INTERVALS)] += u64::from(message.payload_bytes);
            }
        }
        let seconds = step as f64 / 1e9;
        let points = bytes.iter().enumerate().map(|(at, bytes)| {
            let start_s = (from + at as u64 * step) as f64 / 1e9;
            [start_s, *bytes as f64 / 1e6 / seconds]
        });
        Shape::Steps(points.collect())
    })
}

fn over_messages(runs: &[RunShown<'_>]) -> Chart {
    let axes = (Axis::linear("message"), Axis::linear("latency, ms"));
    let chart = Chart::new(
        "Latency of each message: median, least and most",
        axes.0,
        axes.1,
    );
    with_runs(chart, runs, |shown| {
        let counted = shown
            .run
            .summary
            .per_message
            .iter()
            .filter(|message| !message.warm_up);
        let bands = counted.filter_map(|message| {
            let latency = message.latency_ms.as_ref()?;
            Some([
                f64::from(message.index),
                latency.p50,
                latency.min,
                latency.max,
            ])
        });
        Shape::Band(bands.collect())
    })
}
