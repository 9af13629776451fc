//! Times of one hop, from the moment a message leaves a node to the moment the next node finds it valid.

use std::collections::BTreeMap;

use serde::Serialize;
use undertone_lab::report::median;
use undertone_link::packet::Rate;
use undertone_sim::outcome::{Delivery, Outcome};
use undertone_sim::scenario::Verification;
use undertone_sim::{Plan, Scenario};
use undertone_testbed::kernel::transfer_ms;

use super::gather::Observed;

/// Bytes that a proof with its field adds to a payload on the wire; accurate to a packet.
const PROOF_BYTES: u64 = 320;
/// Bytes that topics, lengths and the layers below add to a frame; accurate to a packet.
const ENVELOPE_BYTES: u64 = 100;

/// State of the connections that the messages of a row used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Connections {
    /// The first message, or one sent after a pause in which TCP windows have closed again.
    Cold,
    /// Messages after those that warm up.
    Warm,
}

/// Times of one hop, medians in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredHop {
    /// Size of the payload, bytes.
    pub size_bytes: u32,
    /// State of the connections.
    pub connections: Connections,
    /// Number of the hop, from 1.
    pub hop: u16,
    /// Number of deliveries in this row.
    pub n: usize,
    /// Time from leaving a node to the last byte at the next.
    pub transmit_ms: f64,
    /// Time from the last byte to the verdict.
    pub validate_ms: f64,
    /// Time of transmission and validation together.
    pub hop_ms: f64,
    /// Closed form of slow start plus the measured validation time, without other processing.
    pub formula_ms: Option<f64>,
    /// Simulated transmission time, with the costs of these runs.
    pub sim_transmit_ms: Option<f64>,
    /// Simulated time of transmission and validation together.
    pub sim_ms: Option<f64>,
}

impl MeasuredHop {
    /// Returns measured over simulated transmission time, which compares the networks.
    pub fn transmit_ratio(&self) -> Option<f64> {
        self.sim_transmit_ms.map(|sim_ms| self.transmit_ms / sim_ms)
    }

    /// Returns measured over simulated time of whole hops, which compares networks and processing.
    pub fn hop_ratio(&self) -> Option<f64> {
        self.sim_ms.map(|sim_ms| self.hop_ms / sim_ms)
    }
}

/// Times that the messages of one row took for their hop.
#[derive(Clone, Debug, Default)]
struct Times {
    transmit_ms: Vec<f64>,
    validate_ms: Vec<f64>,
    hop_ms: Vec<f64>,
    formula_ms: Vec<f64>,
}

/// Payload size in bytes, state of the connections, and number of the hop.
type HopKey = (u32, Connections, u16);

/// Hop times of several runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct HopTimes {
    measured: BTreeMap<HopKey, Times>,
    simulated: BTreeMap<HopKey, Times>,
}

impl HopTimes {
    /// Adds a run on the testbed.
    pub(crate) fn add(&mut self, scenario: &Scenario, plan: &Plan, run: &Observed) {
        let outcome = &run.outcome;
        let durations = hop_ns(outcome, &run.sent_ns);
        for ((delivery, hop_ns), validate_ns) in durations.zip(&run.validate_ns) {
            let Some(hop_ns) = hop_ns else {
                continue;
            };
            let Some(key) = key(scenario, outcome, delivery) else {
                continue;
            };
            let validate_ms = ms(*validate_ns);
            let times = self.measured.entry(key).or_default();
            times.hop_ms.push(ms(hop_ns));
            times.validate_ms.push(validate_ms);
            times
                .transmit_ms
                .push(ms(hop_ns.saturating_sub(*validate_ns)));
            let formula_ms = formula_ms(scenario, plan, delivery, key);
            times
                .formula_ms
                .extend(formula_ms.map(|ms| ms + validate_ms));
        }
    }

    /// Adds a run of the simulator.
    pub(crate) fn add_simulated(&mut self, scenario: &Scenario, outcome: &Outcome) {
        let proof_ns = scenario.rln.as_ref().map_or(0, |rln| rln.generation_ns);
        let published = outcome.messages.iter().map(|message| message.published_ns);
        let sent_ns: Vec<_> = published.map(|at| at.saturating_add(proof_ns)).collect();
        for (delivery, hop_ns) in hop_ns(outcome, &sent_ns) {
            let (Some(key), Some(hop_ns)) = (key(scenario, outcome, delivery), hop_ns) else {
                continue;
            };
            let times = self.simulated.entry(key).or_default();
            times.hop_ms.push(ms(hop_ns));
            let validate_ns = validation_ns(scenario, key.0);
            times
                .transmit_ms
                .push(ms(hop_ns.saturating_sub(validate_ns)));
        }
    }

    /// Returns the rows of the table, for every measured kind of hop.
    pub(crate) fn rows(&self) -> Vec<MeasuredHop> {
        let of = |values: &[f64]| median(values.iter().copied());
        let rows = self.measured.iter().filter_map(|(key, times)| {
            let (size_bytes, connections, hop) = *key;
            let simulated = self.simulated.get(key);
            Some(MeasuredHop {
                size_bytes,
                connections,
                hop,
                n: times.hop_ms.len(),
                transmit_ms: of(&times.transmit_ms)?,
                validate_ms: of(&times.validate_ms)?,
                hop_ms: of(&times.hop_ms)?,
                formula_ms: of(&times.formula_ms),
                sim_transmit_ms: simulated.and_then(|times| of(&times.transmit_ms)),
                sim_ms: simulated.and_then(|times| of(&times.hop_ms)),
            })
        });
        rows.collect()
    }

    /// Returns the median validation times by payload size, milliseconds.
    pub(crate) fn validate_ms(&self) -> BTreeMap<u32, f64> {
        let mut by_size: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for ((size, ..), times) in &self.measured {
            by_size.entry(*size).or_default().extend(&times.validate_ms);
        }
        let medians = by_size.into_iter();
        medians
            .filter_map(|(size, values)| Some((size, median(values)?)))
            .collect()
    }
}

/// Returns a delivery's key; `None` for a message that only warms up.
fn key(scenario: &Scenario, outcome: &Outcome, delivery: &Delivery) -> Option<HopKey> {
    let message = &outcome.messages[delivery.message as usize];
    let connections = match (message.index, message.warm_up) {
        // The first message to use its connections; in a scenario without warm-up, later messages
        // follow pauses, after which the kernel restarts slow start.
        (0, _) => Connections::Cold,
        (_, true) => return None,
        (_, false) if scenario.warm_up_messages == 0 => Connections::Cold,
        (_, false) => Connections::Warm,
    };
    Some((message.payload_bytes, connections, delivery.hops))
}

/// Returns each delivery with the time since its message left the previous node; `None` if that node was
/// killed before it logged the message.
fn hop_ns<'a>(
    outcome: &'a Outcome,
    sent_ns: &'a [u64],
) -> impl Iterator<Item = (&'a Delivery, Option<u64>)> {
    outcome.deliveries.iter().map(move |delivery| {
        let message = &outcome.messages[delivery.message as usize];
        let left_ns = if delivery.from == message.publisher {
            Some(sent_ns[message.index as usize])
        } else {
            let parent = (delivery.message, delivery.from);
            let found = outcome
                .deliveries
                .binary_search_by_key(&parent, |d| (d.message, d.receiver));
            found.ok().map(|at| outcome.deliveries[at].received_ns)
        };
        let hop_ns = left_ns.map(|left_ns| delivery.received_ns.saturating_sub(left_ns));
        (delivery, hop_ns)
    })
}

/// Returns the closed form for a connection that nothing else uses, assuming that both links have the
/// sender's uplink rate.
fn formula_ms(
    scenario: &Scenario,
    plan: &Plan,
    delivery: &Delivery,
    (size_bytes, connections, _): HopKey,
) -> Option<f64> {
    let (rate, _) = plan.rates(delivery.from);
    let proof_bytes = scenario.rln.as_ref().map_or(0, |_| PROOF_BYTES);
    let bytes = u64::from(size_bytes) + ENVELOPE_BYTES + proof_bytes;
    let one_way_ms = ms(plan.one_way_ns(delivery.from, delivery.receiver));
    let [cold_ms, warm_ms, _] = transfer_ms(bytes, one_way_ms, Rate::bytes_per_s(rate)?);
    Some(match connections {
        Connections::Cold => cold_ms,
        Connections::Warm => warm_ms,
    })
}

/// Returns the validation time of a message with the scenario's costs, nanoseconds.
fn validation_ns(scenario: &Scenario, size_bytes: u32) -> u64 {
    let proof_ns = match scenario.rln.as_ref().map(|rln| &rln.verification) {
        Some(Verification::Wait { ns }) => *ns,
        Some(Verification::Batches { single_ns, .. }) => *single_ns,
        None => 0,
    };
    let cpu = &scenario.cpu;
    proof_ns + cpu.per_frame_ns + cpu.per_kb_ns * u64::from(size_bytes) / 1000
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

#[cfg(test)]
#[path = "tests/hops.rs"]
mod tests;
