//! `undertone testbed --bench`: compares the testbed with the simulator, hop by hop.

use std::fmt;

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;
use undertone_fleet::processes::{Campaigner, Connections, Costs, MeasuredHop, Packets};
use undertone_lab::report::RunCosts;
use undertone_lab::scenario;

use super::report::name;
use super::{Failure, failure, scenario_failure, sim::COMMIT};

const SCENARIOS: [&str; 2] = ["testbed-line", "testbed-random"];

/// Payload sizes of the paper, bytes.
const SIZES: [u32; 4] = [2_000, 25_000, 100_000, 500_000];

/// Settings that warm up connections by sending messages before those that count. Messages are sent one at a
/// time, so that two processor cores are not the bottleneck, and pauses must not close the TCP windows.
const WARM: [&str; 4] = [
    "traffic.messages=14",
    "traffic.warm_up_messages=10",
    "traffic.spacing_s=1",
    "network.slow_start_after_idle=false",
];

/// Proofs prepared for the warm runs, so that each message leaves on time.
const WARM_TOKENS: u32 = 14;

#[derive(Serialize)]
pub(super) struct Bench {
    commit: &'static str,
    cells: Vec<BenchCell>,
}

/// Runs of one scenario with one payload size.
#[derive(Serialize)]
struct BenchCell {
    scenario: &'static str,
    runs: usize,
    measured: Vec<RunCosts>,
    costs: Costs,
    packets: Vec<Packets>,
    hop_rows: Vec<MeasuredHop>,
}

/// Runs every cell with seeds 1 to `runs`, each seed with new nodes.
pub(super) fn run(campaigner: &Campaigner<'_>, runs: u64) -> Result<Bench, Failure> {
    let seeds: Vec<u64> = (1..=runs).collect();
    let mut cells = Vec::new();
    for name in SCENARIOS {
        for size in SIZES {
            for connections in [Connections::Cold, Connections::Warm] {
                let mut set = vec![format!("traffic.payload_bytes={size}")];
                let mut campaigner = campaigner.clone();
                if connections == Connections::Warm {
                    set.extend(WARM.map(str::to_owned));
                    campaigner.setup.tokens = WARM_TOKENS;
                }
                let loaded = scenario::load(name, &set).map_err(scenario_failure)?;
                let report = campaigner.run(&loaded, &seeds).map_err(failure)?;
                // The first message of a warm run finds cold connections too, so its row is dropped here.
                let rows = report.hop_rows.into_iter();
                cells.push(BenchCell {
                    scenario: name,
                    runs: seeds.len(),
                    measured: report.campaign.runs().iter().map(|r| r.measured).collect(),
                    costs: report.costs,
                    packets: report.packets,
                    hop_rows: rows.filter(|row| row.connections == connections).collect(),
                });
            }
        }
    }
    Ok(Bench {
        commit: COMMIT,
        cells,
    })
}

impl fmt::Display for Bench {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "per hop, ms (medians), commit {}", self.commit)?;
        let mut table = Table::new();
        table.load_preset(UTF8_BORDERS_ONLY).set_header([
            "scenario",
            "bytes",
            "",
            "hop",
            "n",
            "transmit",
            "validate",
            "both",
            "simulated: transmit",
            "both",
            "ratio: transmit",
            "both",
        ]);
        let number = |ms: Option<f64>| ms.map_or(String::new(), |ms| format!("{ms:.1}"));
        let ratio = |ratio: Option<f64>| ratio.map_or(String::new(), |r| format!("{r:.3}"));
        for cell in &self.cells {
            for row in &cell.hop_rows {
                table.add_row([
                    cell.scenario.to_owned(),
                    row.size_bytes.to_string(),
                    name(row.connections).to_owned(),
                    row.hop.to_string(),
                    row.n.to_string(),
                    format!("{:.1}", row.transmit_ms),
                    format!("{:.2}", row.validate_ms),
                    format!("{:.1}", row.hop_ms),
                    number(row.sim_transmit_ms),
                    number(row.sim_ms),
                    ratio(row.transmit_ratio()),
                    ratio(row.hop_ratio()),
                ]);
            }
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        write!(f, "{table}")
    }
}
