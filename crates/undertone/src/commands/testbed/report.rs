//! Results of runs, for people and programs.

use std::collections::BTreeSet;
use std::fmt;

use comfy_table::presets::UTF8_BORDERS_ONLY;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;
use undertone_lab::report::Campaign;

use super::costs::Costs;
use super::hops::{Connections, HopRow};
use super::runner::Packets;

/// Results of all runs of one scenario.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    #[serde(flatten)]
    pub(crate) campaign: Campaign,
    pub(crate) hop_rows: Vec<HopRow>,
    pub(crate) costs: Costs,
    /// Packet counts of the emulated network, by run.
    pub(crate) packets: Vec<Packets>,
    /// Notes on differences from the scenario.
    pub(crate) notes: Vec<String>,
    /// Messages that did not leave their publishers, by run.
    #[serde(skip)]
    pub(crate) unsent: Vec<BTreeSet<u32>>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.campaign)?;
        writeln!(f, "\nper hop, ms (median)\n{}", hop_table(&self.hop_rows))?;
        let costs = &self.costs;
        writeln!(
            f,
            "a proof took {:.1} ms, validation {:.2} ms and {:.4} ms for each kB (medians)",
            costs.generation_ms, costs.validation_ms, costs.validation_ms_per_kb
        )?;
        for packets in &self.packets {
            writeln!(f, "{packets}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} packets, {} lost, {} at a partition, {} dropped by queues, {:.0} µs late on average, {:.0} at most",
            self.delivered,
            self.lost,
            self.cut,
            self.queue_dropped,
            self.late_mean_us,
            self.late_max_us
        )
    }
}

impl Connections {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Warm => "warm",
        }
    }
}

/// Returns the table of hops; without simulated rows, their columns are left out.
pub(crate) fn hop_table(rows: &[HopRow]) -> Table {
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
            row.connections.name().to_owned(),
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
