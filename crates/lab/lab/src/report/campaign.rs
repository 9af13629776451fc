//! Campaigns: runs of the same scenario with several seeds.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use super::{Latency, Summary, median};
use crate::scenario::ResolvedScenario;

/// One or more runs of one scenario.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Campaign {
    runs: Vec<Summary>,
    /// The scenario that several runs share; it is removed from each of them.
    resolved: Option<ResolvedScenario>,
}

/// Medians over seeds, field by field; `n` is the median number of deliveries.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Median {
    /// Latency of the counted deliveries; `None` if a run has none.
    pub latency_ms: Option<Latency>,
    /// Nodes that a message reached, by number of hops.
    pub hops_per_message: BTreeMap<u16, f64>,
    /// Copies received for each delivery.
    pub copies_per_delivery: Option<f64>,
    /// Wall time of a run, seconds.
    pub wall_s: Option<f64>,
}

impl Campaign {
    /// A campaign of the given runs.
    pub fn new(mut runs: Vec<Summary>) -> Self {
        let mut resolved = None;
        if runs.len() > 1 {
            for run in &mut runs {
                resolved = resolved.or(run.resolved.take());
                run.resolved = None;
            }
        }
        Self { runs, resolved }
    }

    /// The runs, in the order in which they were made.
    pub fn runs(&self) -> &[Summary] {
        &self.runs
    }

    /// Returns the first run that violated a rule, if there is one.
    pub fn violating(&self) -> Option<&Summary> {
        self.runs.iter().find(|run| !run.violations.is_empty())
    }

    /// The median over seeds of a figure; `None` unless every run has it.
    pub fn median_of(&self, figure: impl Fn(&Summary) -> Option<f64>) -> Option<f64> {
        median(self.values_of(figure)?)
    }

    /// A figure of every run, in their order; `None` unless every run has it.
    pub(crate) fn values_of(&self, figure: impl Fn(&Summary) -> Option<f64>) -> Option<Vec<f64>> {
        self.runs.iter().map(figure).collect()
    }

    /// The median over seeds of the number of nodes that a message reached through `hops` hops.
    pub fn hop_population(&self, hops: u16) -> Option<f64> {
        median(self.hop_populations(hops)?)
    }

    /// Number of nodes that a message reached through `hops` hops, for every run; `None` if a run counts no messages.
    pub(crate) fn hop_populations(&self, hops: u16) -> Option<Vec<f64>> {
        self.values_of(|run| {
            let messages = run.counted_messages();
            let nodes = run.hops.get(&hops).copied().unwrap_or(0);
            (messages > 0).then(|| nodes as f64 / messages as f64)
        })
    }

    /// All medians over seeds.
    pub fn median(&self) -> Median {
        let field =
            |field: fn(&Latency) -> f64| self.median_of(|run| run.latency_ms.as_ref().map(field));
        let latency = || {
            Some(Latency {
                n: field(|l| l.n as f64)?.round() as usize,
                min: field(|l| l.min)?,
                mean: field(|l| l.mean)?,
                p50: field(|l| l.p50)?,
                p75: field(|l| l.p75)?,
                p95: field(|l| l.p95)?,
                p99: field(|l| l.p99)?,
                max: field(|l| l.max)?,
            })
        };
        let hops: BTreeSet<u16> = self
            .runs
            .iter()
            .flat_map(|run| run.hops.keys().copied())
            .collect();
        Median {
            latency_ms: latency(),
            hops_per_message: hops
                .into_iter()
                .filter_map(|hops| Some((hops, self.hop_population(hops)?)))
                .collect(),
            copies_per_delivery: self.median_of(|run| run.bytes.copies_per_delivery),
            wall_s: self.median_of(|run| Some(run.measured.wall_s)),
        }
    }
}

impl Serialize for Campaign {
    /// Serialises one run as its summary, several as `{"scenario", "resolved", "seeds", "median", "runs"}`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Several<'a> {
            scenario: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            resolved: Option<&'a ResolvedScenario>,
            seeds: Vec<u64>,
            median: Median,
            runs: &'a [Summary],
        }
        if let [run] = self.runs.as_slice() {
            return run.serialize(serializer);
        }
        Several {
            scenario: self.runs.first().map_or("", |run| &run.scenario),
            resolved: self.resolved.as_ref(),
            seeds: self.runs.iter().map(|run| run.seed).collect(),
            median: self.median(),
            runs: &self.runs,
        }
        .serialize(serializer)
    }
}
