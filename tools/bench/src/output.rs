//! Output formats of the benchmarks.

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

/// Returns a report as JSON.
pub(crate) fn json(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).expect("a report has string keys only")
}

/// Returns a table in Markdown. All columns except the one with index `label` are numbers, aligned right.
pub(crate) fn table<const COLUMNS: usize>(
    header: [&str; COLUMNS],
    label: usize,
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> Table {
    let mut table = Table::new();
    table
        .load_preset(presets::ASCII_MARKDOWN)
        .set_header(header)
        .add_rows(rows);
    for column in table.column_iter_mut() {
        if column.index != label {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
