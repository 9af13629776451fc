//! Figures that are compared, their tolerances and their verdicts.

use serde::Serialize;

use super::PublishedRun;
use crate::report::{Campaign, Sorted, Summary, median};

const MEAN: f64 = 0.03;
const QUANTILE: f64 = 0.05;
const MIN: f64 = 0.01;
const MAX: f64 = 0.08;
const FIRST_MESSAGE: f64 = 0.10;

/// Share of our seeds inside the band that judges figures of one network, and the fewest seeds for which there is a
/// band.
const BAND: f64 = 0.95;
pub(crate) const BAND_SEEDS: usize = 20;

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
    /// The rule for the figure holds.
    Agrees,
    /// The rule does not hold, or the figure is missing.
    Differs,
    /// The figure is shown for information; no rule judges it.
    Shown,
}

/// Rule that judges a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparisonRule {
    /// Our median is within this share of the published value.
    Tolerance(f64),
    /// The published value, measured on one network, lies in this range, which holds 95 % of our networks.
    Band([f64; 2]),
    /// The figure depends on one network, and fewer than the 20 seeds needed for a band were run; it is only shown.
    TooFewSeeds,
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
    /// Rule that judges the figure; `None` for one that is only shown.
    pub rule: Option<ComparisonRule>,
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
    /// Whether every figure that has a rule satisfies it.
    pub agrees: bool,
}

/// Compares the medians over seeds with the published figures. Latencies are those of the counted
/// messages; hop populations are per message.
pub fn compare(published: &PublishedRun, campaign: &Campaign) -> Comparison {
    let mut rows = Vec::new();
    let mut push =
        |figure: &str, theirs: Option<f64>, ours: Option<Vec<f64>>, tolerance: Option<f64>| {
            if let Some(theirs) = theirs {
                let rule = tolerance.map(ComparisonRule::Tolerance);
                rows.push(row(figure, theirs, &ours.unwrap_or_default(), rule));
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
        let ours = campaign.hop_populations(*hops).unwrap_or_default();
        let rule = (published.scenario == HOPS_MUST_AGREE).then(|| band(&ours));
        rows.push(row(&format!("nodes at hop {hops}"), *nodes, &ours, rule));
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

/// The rule for a figure of one network: the band between the quantiles of our seeds.
fn band(values: &[f64]) -> ComparisonRule {
    let sorted = Sorted::new(values.to_vec());
    let tail = (1.0 - BAND) / 2.0;
    match (sorted.quantile(tail), sorted.quantile(1.0 - tail)) {
        (Some(low), Some(high)) if values.len() >= BAND_SEEDS => ComparisonRule::Band([low, high]),
        _ => ComparisonRule::TooFewSeeds,
    }
}

/// Compares a figure. `values` holds our value from every run; it is empty if a run has none.
fn row(
    figure: &str,
    published: f64,
    values: &[f64],
    rule: Option<ComparisonRule>,
) -> ComparedFigure {
    let ours = median(values.iter().copied());
    let range = (values.len() > 1).then(|| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        [least, most]
    });
    let ratio = ours.map(|ours| ours / published);
    let holds = match rule {
        None | Some(ComparisonRule::TooFewSeeds) => None,
        Some(ComparisonRule::Tolerance(share)) => {
            Some(ratio.is_some_and(|ratio| (ratio - 1.0).abs() <= share))
        }
        Some(ComparisonRule::Band([low, high])) => Some((low..=high).contains(&published)),
    };
    ComparedFigure {
        figure: figure.to_owned(),
        published,
        ours,
        range,
        ratio,
        rule,
        verdict: match holds {
            None => ComparisonVerdict::Shown,
            Some(true) => ComparisonVerdict::Agrees,
            Some(false) => ComparisonVerdict::Differs,
        },
    }
}
