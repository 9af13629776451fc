//! Comma-separated values by RFC 4180, but with line feeds.

use super::figures::{COLUMNS, Column};
use crate::record::{Chart, ExperimentRecord, Role, Series, Shape, Table};

/// Text with one row per figure.
pub(super) fn figures(records: &[ExperimentRecord]) -> String {
    let mut csv = row(COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    for record in records {
        for figure in &record.figures {
            csv += &row(COLUMNS.iter().map(|(_, column)| match column {
                Column::Text(text) => text(record, figure).unwrap_or_default(),
                Column::Number(number) => shown(number(record, figure)),
            }));
        }
    }
    csv
}

/// Text with one row per value of a chart. `x_to` is the right end of a bar, `low` and `high` are those
/// of a band, `word` is the word at `x` on an axis of words.
pub(super) fn chart(chart: &Chart) -> String {
    let header = [
        "series", "role", "shape", "x", "x_to", "y", "low", "high", "word",
    ];
    let mut csv = row(header.map(str::to_owned));
    for series in &chart.series {
        let (shape, values) = values(series);
        let role = match series.role {
            Role::Ours => "ours",
            Role::Published => "published",
            Role::Model => "model",
        };
        for value in values {
            let [x, ..] = value;
            let word = x.and_then(|x| word_at(&chart.x.categories, x));
            let names = [series.name.as_str(), role, shape].map(str::to_owned);
            let numbers = value.map(shown);
            let word = word.cloned().unwrap_or_default();
            csv += &row(names.into_iter().chain(numbers).chain([word]));
        }
    }
    csv
}

/// Text with the rows of a table.
pub(super) fn table(table: &Table) -> String {
    let rows = std::iter::once(&table.columns).chain(&table.rows);
    rows.map(|cells| row(cells.iter().cloned())).collect()
}

/// The word of the axis nearest to `x`; bars are drawn beside their word.
fn word_at(words: &[String], x: f64) -> Option<&String> {
    let number = x.round();
    (number >= 0.0).then(|| words.get(number as usize))?
}

/// Name of a series' shape, and its values as `x`, `x_to`, `y`, `low`, `high`.
fn values(series: &Series) -> (&'static str, Vec<[Option<f64>; 5]>) {
    let point = |p: &[f64; 2]| [Some(p[0]), None, Some(p[1]), None, None];
    match &series.shape {
        Shape::Line(points) => ("line", points.iter().map(point).collect()),
        Shape::Steps(points) => ("steps", points.iter().map(point).collect()),
        Shape::Points(points) => ("points", points.iter().map(point).collect()),
        Shape::Band(points) => {
            let value = |p: &[f64; 4]| [Some(p[0]), None, Some(p[1]), Some(p[2]), Some(p[3])];
            ("band", points.iter().map(value).collect())
        }
        Shape::Bars(bars) => {
            let value = |p: &[f64; 3]| [Some(p[0]), Some(p[1]), Some(p[2]), None, None];
            ("bars", bars.iter().map(value).collect())
        }
    }
}

fn shown(number: Option<f64>) -> String {
    number.map_or(String::new(), |number| number.to_string())
}

fn row(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().map(quoted).collect();
    cells.join(",") + "\n"
}

fn quoted(cell: String) -> String {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}
