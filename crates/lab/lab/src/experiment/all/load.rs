//! Runs of the scenario `load` with a given message size, rate and number of nodes, for the experiments that share it.

use super::super::{Context, ExperimentError, Simulated};
use crate::report::DatasetChoice;

const SCENARIO: &str = "load";
/// Time during which messages are published, seconds; shorter if the deliveries would be too many.
const SECONDS: u32 = 20;
/// Minimum number of messages in a run, unless the deliveries would be too many.
const MESSAGES_MIN: u32 = 10;

/// One point: network size, message size and message rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LoadPoint {
    pub(super) nodes: u32,
    pub(super) bytes: u32,
    pub(super) rate_per_s: f64,
    /// Maximum number of deliveries; fewer messages are published to stay below it. It lets a run of 100,000 nodes end
    /// within minutes.
    pub(super) deliveries_max: u32,
}

impl LoadPoint {
    /// Number of messages that are published.
    pub(super) fn messages(&self) -> u32 {
        let of_time = (self.rate_per_s * f64::from(SECONDS)).round() as u32;
        of_time
            .max(MESSAGES_MIN)
            .min(self.deliveries_max / self.nodes)
    }

    /// Runs the scenario at the point, and records its traffic over time.
    pub(super) fn run(&self, context: &mut Context<'_>) -> Result<Simulated, ExperimentError> {
        let set = [
            format!("scenario.nodes={}", self.nodes),
            format!("traffic.payload_bytes={}", self.bytes),
            format!("traffic.messages={}", self.messages()),
            format!("traffic.spacing_s={}", 1.0 / self.rate_per_s),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let mut datasets = DatasetChoice::default();
        datasets.add("traffic");
        let mut runs = context.simulate_with(SCENARIO, &set, 1, datasets)?;
        Ok(runs.remove(0))
    }

    /// The point in words, for tables.
    pub(super) fn words(&self) -> [String; 4] {
        [
            self.nodes.to_string(),
            self.bytes.to_string(),
            self.rate_per_s.to_string(),
            self.messages().to_string(),
        ]
    }
}
