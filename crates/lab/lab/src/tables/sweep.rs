//! Tables of a sweep.

use std::collections::HashMap;

use arrow_array::RecordBatch;

use super::columns::Columns;
use crate::sweep::{RunFigures, SweepReport};

/// One row per point: its values, the number of its runs, and the medians of their figures with 95 % bands.
pub fn sweep_points(report: &SweepReport) -> RecordBatch {
    let table = &report.table;
    let mut columns = Columns::default();
    for (at, key) in table.keys.iter().enumerate() {
        let values: Vec<&str> = table
            .rows
            .iter()
            .map(|row| row.values[at].as_str())
            .collect();
        columns = columns.key(key, &values);
    }
    columns = columns.int64("runs", table.rows.iter().map(|row| row.runs as u64));
    for (at, name) in table.columns.iter().enumerate() {
        let bands = || table.rows.iter().map(move |row| row.figures[at]);
        columns = columns
            .maybe_float(name, bands().map(|band| Some(band?.median)))
            .maybe_float(&format!("{name}_low"), bands().map(|band| band?.low))
            .maybe_float(&format!("{name}_high"), bands().map(|band| band?.high));
    }
    columns.table(HashMap::new())
}

/// One row per run in the folder: values of its point, seed, figures, and the file with its deliveries.
pub fn sweep_runs(report: &SweepReport) -> RecordBatch {
    let runs = || report.there.iter();
    let figures = || runs().map(|run| &run.figures);
    let mut columns = Columns::default();
    for (at, key) in report.table.keys.iter().enumerate() {
        let value = |point: usize| report.table.rows[point].values[at].as_str();
        let values: Vec<&str> = runs().map(|run| value(run.point)).collect();
        columns = columns.key(key, &values);
    }
    let files: Vec<String> = runs()
        .map(|run| run.file.to_string_lossy().into_owned())
        .collect();
    let number = |figure: fn(&RunFigures) -> Option<f64>| figures().map(figure);
    columns
        .int64("seed", runs().map(|run| run.seed))
        .int64("expected", figures().map(|run| run.expected))
        .int64("delivered", figures().map(|run| run.delivered))
        .maybe_float("p50_ms", number(|run| run.p50_ms))
        .maybe_float("p95_ms", number(|run| run.p95_ms))
        .maybe_float("max_ms", number(|run| run.max_ms))
        .maybe_float("copies", number(|run| run.copies))
        .int64("wire_bytes", figures().map(|run| run.wire_bytes))
        .text("file", files.iter().map(String::as_str))
        .table(HashMap::new())
}
