//! Table of measured and simulated figures.

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use serde::Serialize;

use crate::profiles::figures::{ProfileFigures, mean};
use crate::profiles::peer_kind::PeerKind;

/// Name of the row of real nodes.
pub(crate) const MEASURED: &str = "measured";

/// Figures of one implementation, measured or simulated, as means over the seeds.
#[derive(Debug, Serialize)]
pub(crate) struct ComparedRow {
    implementation: String,
    /// Simulated profile, or [`MEASURED`] for real nodes.
    by: &'static str,
    runs: Vec<ProfileFigures>,
}

impl ComparedRow {
    pub(crate) fn new(implementation: PeerKind, by: &'static str, runs: &[ProfileFigures]) -> Self {
        Self {
            implementation: implementation.to_string(),
            by,
            runs: runs.to_vec(),
        }
    }

    fn cells(&self) -> Vec<(&'static str, f64)> {
        let Some(first) = self.runs.first() else {
            return Vec::new();
        };
        let names = first.named().map(|(name, _)| name);
        let values = |at: usize| mean(self.runs.iter().map(|run| run.named()[at].1));
        names
            .into_iter()
            .enumerate()
            .map(|(at, name)| (name, values(at)))
            .collect()
    }
}

/// Returns the text table: simulated values with their ratio to the measured value of the implementation.
pub(crate) fn text(rows: &[ComparedRow]) -> String {
    let mut table = Table::new();
    table.load_preset(ASCII_MARKDOWN);
    let mut measured: Vec<(&'static str, f64)> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.cells();
        if number == 0 {
            let names = cells.iter().map(|(name, _)| *name);
            table.set_header(["nodes", ""].into_iter().chain(names));
        }
        let is_measured = row.by == MEASURED;
        if is_measured {
            measured.clone_from(&cells);
        }
        let what = match is_measured {
            true => row.by.to_owned(),
            false => format!("profile {}", row.by),
        };
        let shown = cells.iter().enumerate().map(|(at, (_, value))| {
            let base = measured.get(at).map(|(_, base)| *base);
            match base.filter(|base| !is_measured && *base > 0.0) {
                Some(base) => format!("{} ({:.2})", rounded(*value), value / base),
                None => rounded(*value),
            }
        });
        table.add_row([row.implementation.clone(), what].into_iter().chain(shown));
    }
    table.to_string()
}

fn rounded(value: f64) -> String {
    match value.abs() {
        nothing if nothing.is_nan() => "-".to_owned(),
        large if large >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}
