//! Processing costs measured in a run, for the simulator, so that only the networks are compared.

use serde::Serialize;
use undertone_lab::report::median;
use undertone_sim::Scenario;
use undertone_sim::scenario::Verification;

use super::gather::Observed;
use super::hops::HopTimes;

/// Processing costs, medians in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// Time from the request for a proof until it is made; 0 without proofs.
    pub generation_ms: f64,
    /// Time from a message's last byte to the verdict, extrapolated to a message of length 0.
    pub validation_ms: f64,
    /// Additional validation time for each kilobyte (1000 bytes).
    pub validation_ms_per_kb: f64,
}

impl Costs {
    /// Computes the costs of some runs: validation is a line through the medians of the shortest and the
    /// longest messages.
    pub(crate) fn of(hops: &HopTimes, runs: &[Observed]) -> Self {
        let proofs = runs.iter().flat_map(|run| &run.prove_ns);
        let generation_ms = median(proofs.map(|ns| *ns as f64 / 1e6)).unwrap_or(0.0);
        let by_size = hops.validate_ms();
        let line = by_size.first_key_value().zip(by_size.last_key_value());
        let (validation_ms, validation_ms_per_kb) = line.map_or((0.0, 0.0), |(first, last)| {
            let kb = |size: &u32| f64::from(*size) / 1000.0;
            let slope = (last.1 - first.1) / (kb(last.0) - kb(first.0));
            let slope = if slope.is_finite() {
                slope.max(0.0)
            } else {
                0.0
            };
            (first.1 - slope * kb(first.0), slope)
        });
        Self {
            generation_ms,
            validation_ms: validation_ms.max(0.0),
            validation_ms_per_kb,
        }
    }

    /// Returns the scenario with these costs in place of its own.
    pub(crate) fn in_place(self, scenario: &Scenario) -> Scenario {
        let ns = |ms: f64| (ms * 1e6).round() as u64;
        let mut scenario = scenario.clone();
        scenario.cpu.per_frame_ns = 0;
        scenario.cpu.per_kb_ns = ns(self.validation_ms_per_kb);
        match &mut scenario.rln {
            Some(rln) => {
                rln.generation_ns = ns(self.generation_ms);
                rln.verification = Verification::Wait {
                    ns: ns(self.validation_ms),
                };
            }
            // A cost per frame would apply to control frames as well. A cost by length is exact for the
            // longest messages, and its error is less than the time of a validation without proofs.
            None => {
                let longest = scenario.traffic.payload_bytes.iter().copied().max();
                let kb = f64::from(longest.unwrap_or(0).max(1)) / 1000.0;
                scenario.cpu.per_kb_ns += ns(self.validation_ms / kb);
            }
        }
        scenario
    }
}
