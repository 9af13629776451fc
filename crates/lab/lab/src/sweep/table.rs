//! Table of a sweep: medians over seeds, point by point, with their bands.

use std::fmt::{self, Display};

use serde::Serialize;

use super::folder::RunFigures;
use super::statistics::{Band, median_band};
use crate::record::Table;

/// Figure of a run that is a column of the table.
#[derive(Clone, Copy, Debug)]
pub struct SweepColumn {
    /// Name of the figure, with its unit.
    pub name: &'static str,
    value: fn(&RunFigures) -> Option<f64>,
}

const COLUMNS: [SweepColumn; 6] = [
    SweepColumn {
        name: "delivered_share",
        value: |run| (run.expected > 0).then(|| run.delivered as f64 / run.expected as f64),
    },
    SweepColumn {
        name: "p50_ms",
        value: |run| run.p50_ms,
    },
    SweepColumn {
        name: "p95_ms",
        value: |run| run.p95_ms,
    },
    SweepColumn {
        name: "max_ms",
        value: |run| run.max_ms,
    },
    SweepColumn {
        name: "copies",
        value: |run| run.copies,
    },
    SweepColumn {
        name: "wire_mb",
        value: |run| Some(run.wire_bytes as f64 / 1e6),
    },
];

/// One point with the medians of its runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepRow {
    /// Values of the keys.
    pub values: Vec<String>,
    /// Number of runs in the folder.
    pub runs: usize,
    /// Medians, one for each column; `None` if no run has the figure.
    pub figures: Vec<Option<Band>>,
}

/// Table of all points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepTable {
    /// Keys of the sweep.
    pub keys: Vec<String>,
    /// Names of the figures.
    pub columns: Vec<&'static str>,
    /// The points, in the order of the sweep.
    pub rows: Vec<SweepRow>,
}

impl SweepTable {
    /// Creates a table of no points.
    pub fn new(keys: Vec<String>) -> Self {
        Self {
            keys,
            columns: COLUMNS.iter().map(|column| column.name).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a point with its runs.
    pub fn push(&mut self, values: Vec<String>, runs: &[RunFigures]) {
        let figures = COLUMNS.iter().map(|column| {
            let values: Vec<f64> = runs.iter().filter_map(column.value).collect();
            median_band(&values)
        });
        self.rows.push(SweepRow {
            values,
            runs: runs.len(),
            figures: figures.collect(),
        });
    }

    /// The table as CSV: for each figure, its median and the ends of its band.
    pub fn csv(&self) -> String {
        let figures = self.columns.iter().flat_map(|name| {
            [
                (*name).to_owned(),
                format!("{name}_low"),
                format!("{name}_high"),
            ]
        });
        let header: Vec<String> = self
            .keys
            .iter()
            .cloned()
            .chain(["runs".to_owned()])
            .collect();
        let header: Vec<String> = header.into_iter().chain(figures).collect();
        let mut text = csv_line(&header);
        for row in &self.rows {
            let mut cells = row.values.clone();
            cells.push(row.runs.to_string());
            for band in &row.figures {
                let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
                cells.push(number(band.map(|band| band.median)));
                cells.push(number(band.and_then(|band| band.low)));
                cells.push(number(band.and_then(|band| band.high)));
            }
            text += &csv_line(&cells);
        }
        text
    }
}

fn csv_line(cells: &[String]) -> String {
    let quoted = cells
        .iter()
        .map(|cell| match cell.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.clone(),
        });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}

impl SweepTable {
    /// The table for the terminal.
    pub fn in_words(&self) -> Table {
        let keys = self.keys.iter().map(String::as_str);
        let header = keys.chain(["runs"]).chain(self.columns.iter().copied());
        let rows = self.rows.iter().map(|row| {
            let figures = row.figures.iter().map(|band| shown(band.as_ref()));
            let cells = row.values.iter().cloned().chain([row.runs.to_string()]);
            cells.chain(figures).collect()
        });
        Table {
            title: "Medians over seeds, with their bootstrap bands of 95 %".to_owned(),
            columns: header.map(str::to_owned).collect(),
            rows: rows.collect(),
        }
    }
}

impl Display for SweepTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.in_words().drawn())
    }
}

/// A median with its band, to four digits.
fn shown(band: Option<&Band>) -> String {
    let Some(band) = band else {
        return "-".to_owned();
    };
    let digits = |value: f64| match value.abs() {
        value if value >= 1000.0 => 0,
        value if value >= 100.0 => 1,
        value if value >= 10.0 => 2,
        _ => 3,
    };
    let number = |value: f64| format!("{value:.*}", digits(value));
    match (band.low, band.high) {
        (Some(low), Some(high)) if number(low) != number(high) => {
            format!(
                "{} ({} to {})",
                number(band.median),
                number(low),
                number(high)
            )
        }
        _ => number(band.median),
    }
}
