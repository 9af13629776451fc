//! Results of runs on the testbed, for people.

use std::fmt;

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;
use undertone_fleet::processes::{CampaignReport, Connections, MeasuredHop, Packets};

/// Results of all runs of one scenario, as tables or as JSON.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Shown<'a>(pub(super) &'a CampaignReport);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        write!(f, "{}", report.campaign)?;
        writeln!(f, "\nper hop, ms (median)\n{}", hop_table(&report.hop_rows))?;
        let costs = &report.costs;
        writeln!(
            f,
            "a proof took {:.1} ms, validation {:.2} ms and {:.4} ms for each kB (medians)",
            costs.generation_ms, costs.validation_ms, costs.validation_ms_per_kb
        )?;
        for packets in &report.packets {
            writeln!(f, "{}", packet_line(packets))?;
        }
        Ok(())
    }
}

fn packet_line(packets: &Packets) -> String {
    format!(
        "{} packets, {} lost, {} at a partition, {} dropped by queues, {:.0} µs late on average, {:.0} at most",
        packets.delivered,
        packets.lost,
        packets.cut,
        packets.queue_dropped,
        packets.late_mean_us,
        packets.late_max_us
    )
}

/// Returns the name of a state of connections.
pub(super) fn name(connections: Connections) -> &'static str {
    match connections {
        Connections::Cold => "cold",
        Connections::Warm => "warm",
    }
}

/// Returns the table of hops; without simulated rows, their columns are omitted.
fn hop_table(rows: &[MeasuredHop]) -> Table {
    let has_sim = rows.iter().any(|row| row.sim_ms.is_some());
    let mut header = vec![
        "bytes", "", "hop", "n", "transmit", "validate", "both", "formula",
    ];
    if has_sim {
        header.extend(["simulated: transmit", "both", "ratio: transmit", "both"]);
    }
    let mut table = Table::new();
    table.load_preset(UTF8_BORDERS_ONLY).set_header(header);
    for row in rows {
        let number = |ms: Option<f64>| ms.map_or(String::new(), |ms| format!("{ms:.1}"));
        let mut cells = vec![
            row.size_bytes.to_string(),
            name(row.connections).to_owned(),
            row.hop.to_string(),
            row.n.to_string(),
            format!("{:.1}", row.transmit_ms),
            format!("{:.2}", row.validate_ms),
            format!("{:.1}", row.hop_ms),
            number(row.formula_ms),
        ];
        if has_sim {
            let ratio = |ratio: Option<f64>| ratio.map_or(String::new(), |r| format!("{r:.3}"));
            cells.extend([
                number(row.sim_transmit_ms),
                number(row.sim_ms),
                ratio(row.transmit_ratio()),
                ratio(row.hop_ratio()),
            ]);
        }
        table.add_row(cells);
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
