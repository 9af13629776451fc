//! What processing cost in a run, for the simulator: so that what is compared is the network.

use serde::Serialize;
use undertone_lab::report::median;
use undertone_sim::Scenario;
use undertone_sim::scenario::Verification;

use super::gather::Observed;
use super::hops::Hops;

/// Medians, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Costs {
    /// From asking for a proof to having it; 0 without proofs.
    pub(crate) generation_ms: f64,
    /// From the last byte of a message to the verdict, for one without length.
    pub(crate) validation_ms: f64,
    /// More for each kilobyte (1000 bytes).
    pub(crate) validation_ms_per_kb: f64,
}

impl Costs {
    /// Of some runs: a line through the medians of the shortest and the longest messages.
    pub(crate) fn of(hops: &Hops, runs: &[Observed]) -> Self {
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

    /// The scenario with these costs in place of its own.
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
            // A cost for each frame would be one for control as well. By length it is right for the
            // longest messages, and at fault by less than what validation without proofs takes.
            None => {
                let longest = scenario.traffic.payload_bytes.iter().copied().max();
                let kb = f64::from(longest.unwrap_or(0).max(1)) / 1000.0;
                scenario.cpu.per_kb_ns += ns(self.validation_ms / kb);
            }
        }
        scenario
    }
}

/// What validation of a message costs in a scenario with such costs, nanoseconds.
pub(crate) fn validation_ns(scenario: &Scenario, size_bytes: u32) -> u64 {
    let proof_ns = match scenario.rln.as_ref().map(|rln| &rln.verification) {
        Some(Verification::Wait { ns }) => *ns,
        Some(Verification::Batches { single_ns, .. }) => *single_ns,
        None => 0,
    };
    let cpu = &scenario.cpu;
    proof_ns + cpu.per_frame_ns + cpu.per_kb_ns * u64::from(size_bytes) / 1000
}
