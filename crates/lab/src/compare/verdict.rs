//! Figures that are compared, their tolerances and their verdicts.

use serde::Serialize;

use super::PublishedRun;
use crate::report::{Campaign, Summary, median};

const MEAN: f64 = 0.03;
const QUANTILE: f64 = 0.05;
const MIN: f64 = 0.01;
const MAX: f64 = 0.08;
const HOPS: f64 = 0.10;
const FIRST_MESSAGE: f64 = 0.10;

/// Quantiles that must agree: the deciles and the 95th percentile.
const QUANTILES: [(&str, f64); 10] = [
    ("p10", 0.1),
    ("p20", 0.2),
    ("p30", 0.3),
    ("p40", 0.4),
    ("p50", 0.5),
    ("p60", 0.6),
    ("p70", 0.7),
    ("p80", 0.8),
    ("p90", 0.9),
    ("p95", 0.95),
];

/// Run whose hop populations must agree; gaps between its latencies tell the hops apart.
const HOPS_MUST_AGREE: &str = "paper-2kb";
/// Runs whose first message must agree, as it meets windows that are still opening.
const FIRST_MUST_AGREE: [&str; 2] = ["paper-100kb", "paper-500kb"];

/// Verdict on one compared figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonVerdict {
    /// The figure is within its tolerance.
    Agrees,
    /// The figure is outside its tolerance, or missing.
    Differs,
    /// The figure is shown for information; no tolerance was set.
    Shown,
}

/// Comparison of one figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedFigure {
    /// Name of the figure.
    pub figure: String,
    /// Published value of the figure.
    pub published: f64,
    /// Our value: the median over seeds; `None` if a run has none.
    pub ours: Option<f64>,
    /// Our smallest and largest value over seeds; `None` if a run has none, or there is one seed.
    pub range: Option<[f64; 2]>,
    /// Our value divided by the published one.
    pub ratio: Option<f64>,
    /// Largest accepted difference, relative to the published value.
    pub tolerance: Option<f64>,
    /// Verdict on the figure.
    pub verdict: ComparisonVerdict,
}

/// Comparison of a scenario with the run that it reproduces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the scenario.
    pub scenario: String,
    /// Seeds over which our median is taken.
    pub seeds: Vec<u64>,
    /// Comparison of each figure.
    pub rows: Vec<ComparedFigure>,
    /// Whether every figure that has a tolerance is within it.
    pub agrees: bool,
}

/// Compares the medians over seeds with the published figures. Latencies are those of the counted
/// messages; hop populations are per message.
pub fn compare(published: &PublishedRun, campaign: &Campaign) -> Comparison {
    let mut rows = Vec::new();
    let mut push = |figure: &str, theirs: Option<f64>, ours: Option<Vec<f64>>, tolerance| {
        if let Some(theirs) = theirs {
            rows.push(row(figure, theirs, ours, tolerance));
        }
    };
    let latency = |field: fn(&crate::report::Latency) -> f64| {
        campaign.values_of(|run| run.latency_ms.as_ref().map(field))
    };
    push(
        "mean",
        published.figure("mean"),
        latency(|l| l.mean),
        Some(MEAN),
    );
    push(
        "min",
        published.figure("min"),
        latency(|l| l.min),
        Some(MIN),
    );
    for (name, q) in QUANTILES {
        let ours = campaign.values_of(|run| run.sorted_ms.quantile(q));
        push(name, published.figure(name), ours, Some(QUANTILE));
    }
    push(
        "max",
        published.figure("max"),
        latency(|l| l.max),
        Some(MAX),
    );
    let tolerance = FIRST_MUST_AGREE
        .contains(&published.scenario)
        .then_some(FIRST_MESSAGE);
    let ours = campaign.values_of(first_message_mean);
    push(
        "first message, mean",
        published.first_message_mean_ms,
        ours,
        tolerance,
    );
    for (hops, nodes) in &published.hops {
        let tolerance = (published.scenario == HOPS_MUST_AGREE).then_some(HOPS);
        push(
            &format!("nodes at hop {hops}"),
            Some(*nodes),
            campaign.hop_populations(*hops),
            tolerance,
        );
    }
    Comparison {
        scenario: published.scenario.to_owned(),
        seeds: campaign.runs().iter().map(|run| run.seed).collect(),
        agrees: rows
            .iter()
            .all(|row| row.verdict != ComparisonVerdict::Differs),
        rows,
    }
}

fn first_message_mean(run: &Summary) -> Option<f64> {
    Some(run.per_message.first()?.latency_ms?.mean)
}

/// Compares a figure; `values` are ours of every run, `None` if a run has none.
fn row(
    figure: &str,
    published: f64,
    values: Option<Vec<f64>>,
    tolerance: Option<f64>,
) -> ComparedFigure {
    let values = values.unwrap_or_default();
    let ours = median(values.iter().copied());
    let range = (values.len() > 1).then(|| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        [least, most]
    });
    let ratio = ours.map(|ours| ours / published);
    let verdict = match (tolerance, ratio) {
        (None, _) => ComparisonVerdict::Shown,
        (Some(tolerance), Some(ratio)) if (ratio - 1.0).abs() <= tolerance => {
            ComparisonVerdict::Agrees
        }
        _ => ComparisonVerdict::Differs,
    };
    ComparedFigure {
        figure: figure.to_owned(),
        published,
        ours,
        range,
        ratio,
        tolerance,
        verdict,
    }
}
