//! The experiment with five cities, run on the testbed.

use std::collections::BTreeMap;

use serde::Deserialize;
use undertone_lab::experiment::{LineRun, MachineError};

use super::child::{self, ChildTask, HostProgram};

/// Part of the testbed's JSON output that is used here.
#[derive(Deserialize)]
struct TestbedAnswer {
    hop_rows: Vec<CityHop>,
    costs: ProofTimes,
}

/// Medians of one hop over the messages of one size, milliseconds.
#[derive(Clone, Deserialize)]
struct CityHop {
    size_bytes: usize,
    connections: ConnectionState,
    /// Number of the hop, from 1.
    hop: u16,
    transmit_ms: f64,
    validate_ms: f64,
}

/// State of the connections; ordered, so that warm rows replace cold ones of the same hop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ConnectionState {
    Cold,
    Warm,
}

#[derive(Deserialize)]
struct ProofTimes {
    generation_ms: f64,
}

/// Number of message sizes in the scenario, used in turn.
const SIZES: u32 = 4;
/// Spacing of the messages in a quick run, seconds: long enough for the largest message to arrive.
const QUICK_SPACING_S: u32 = 4;

/// Publishes `runs` messages of each size; returns the medians of each size as one line.
pub(crate) fn run(program: &impl HostProgram, runs: u32) -> Result<Vec<LineRun>, MachineError> {
    let mut set = vec![format!("traffic.messages={}", SIZES * runs)];
    if runs < 3 {
        set.push(format!("traffic.spacing_s={QUICK_SPACING_S}"));
        set.push(format!("traffic.drain_s={QUICK_SPACING_S}"));
    }
    let task = ChildTask::Testbed {
        scenario: "cities-line",
        set,
    };
    let what = "running five cities on the testbed";
    child::ask(program, what, &task, &|_| {}).map(by_size)
}

fn by_size(answer: TestbedAnswer) -> Vec<LineRun> {
    let TestbedAnswer { hop_rows, costs } = answer;
    let mut sizes: BTreeMap<usize, BTreeMap<u16, CityHop>> = BTreeMap::new();
    for row in hop_rows {
        let hops = sizes.entry(row.size_bytes).or_default();
        let known = hops.entry(row.hop).or_insert_with(|| row.clone());
        if known.connections < row.connections {
            *known = row;
        }
    }
    let lines = sizes.into_iter().map(|(size_bytes, hops)| {
        let hops: Vec<_> = hops
            .values()
            .map(|row| (row.transmit_ms, row.validate_ms))
            .collect();
        let on_the_way_ms: f64 = hops
            .iter()
            .map(|(transmit, validate)| transmit + validate)
            .sum();
        LineRun {
            size_kb: size_bytes / 1000,
            prove_ms: costs.generation_ms,
            hops,
            total_ms: costs.generation_ms + on_the_way_ms,
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_hops_count_where_there_are_both() {
        let text = r#"{"costs": {"generation_ms": 60.0, "validation_ms": 6.0}, "hop_rows": [
            {"size_bytes": 2000, "connections": "cold", "hop": 1, "transmit_ms": 90.0, "validate_ms": 9.0},
            {"size_bytes": 2000, "connections": "warm", "hop": 1, "transmit_ms": 30.0, "validate_ms": 5.0},
            {"size_bytes": 2000, "connections": "warm", "hop": 2, "transmit_ms": 40.0, "validate_ms": 6.0},
            {"size_bytes": 500000, "connections": "cold", "hop": 1, "transmit_ms": 70.0, "validate_ms": 7.0}
        ]}"#;
        let lines = by_size(serde_json::from_str(text).unwrap());
        let line = |size_kb, hops: &[(f64, f64)], total_ms| LineRun {
            size_kb,
            prove_ms: 60.0,
            hops: hops.to_vec(),
            total_ms,
        };
        let expected = [
            line(2, &[(30.0, 5.0), (40.0, 6.0)], 141.0),
            line(500, &[(70.0, 7.0)], 137.0),
        ];
        assert_eq!(lines, expected);
    }
}
