//! Page of a sweep: its figures over the values of its keys, and its table.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use super::chart::Drawing;
use super::document;
use super::escape::Escaped;
use super::section::outside_checked;
use super::table::Rows;
use undertone_lab::record::{Axis, Chart, Role, Shape};
use undertone_lab::sweep::{SweepReport, SweepRow, SweepTable};

#[cfg(test)]
#[path = "tests/sweep.rs"]
mod tests;

/// Maximum number of series with a look of their own; with more, only points are drawn.
const MAX_SERIES: usize = 6;
/// Ratio of the largest to the smallest value at which an axis becomes logarithmic.
const LOG_FROM: f64 = 100.0;

/// Renders a sweep as a page, under its name.
pub fn sweep_page(name: &str, report: &SweepReport) -> String {
    SweepPage { name, report }.to_string()
}

struct SweepPage<'a> {
    name: &'a str,
    report: &'a SweepReport,
}

impl Display for SweepPage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, report } = self;
        document::begin(f, &format!("Undertone: {name}"))?;
        write!(
            f,
            "<header>\n<h1>{}</h1>\n<p class=\"key\">{} of {} runs. Lines are medians over seeds; shaded areas and whiskers are \
             their bootstrap bands of 95 %.</p>\n</header>\n<main class=\"runs\">\n<div class=\"charts\">\n",
            Escaped(name),
            report.runs - report.left,
            report.runs
        )?;
        for (number, chart) in charts(&report.table).iter().enumerate() {
            let id = &format!("chart-{number}");
            write!(f, "{}", Drawing { chart, id })?;
        }
        write!(f, "</div>\n{}", Rows(&report.table.in_words()))?;
        if !report.failures.is_empty() {
            f.write_str("<h3>Runs that failed</h3>\n<ul>\n")?;
            for failed in &report.failures {
                let (why, replay) = (Escaped(&failed.why), Escaped(&failed.replay));
                writeln!(f, "<li>{why}: <code>{replay}</code></li>")?;
            }
            f.write_str("</ul>\n")?;
        }
        outside_checked(f, &report.validity)?;
        f.write_str("</main>\n")?;
        document::end(f)
    }
}

/// A chart for each figure, over the key with the most values.
fn charts(table: &SweepTable) -> Vec<Chart> {
    let numbers = |at: usize| -> Option<Vec<f64>> {
        let values = table.rows.iter().map(|row| row.values[at].parse().ok());
        values.collect()
    };
    // Numeric keys take precedence, then keys with more values; of equal ones, the first.
    let across = (0..table.keys.len())
        .rev()
        .max_by_key(|at| (numbers(*at).is_some(), words(table, *at).len()));
    let Some(across) = across else {
        return Vec::new();
    };
    let words = words(table, across);
    let (axis, places) = match numbers(across) {
        Some(values) => (number_axis(&table.keys[across], &values), values),
        None => {
            let place = |row: &SweepRow| words.iter().position(|word| *word == row.values[across]);
            let places = table.rows.iter().map(|row| place(row).unwrap_or(0) as f64);
            (Axis::words(&table.keys[across], &words), places.collect())
        }
    };
    let others = |row: &SweepRow| {
        let named = table.keys.iter().zip(&row.values).enumerate();
        let others = named.filter(|(at, _)| *at != across);
        let others: Vec<_> = others
            .map(|(_, (key, value))| format!("{key} {value}"))
            .collect();
        match others.is_empty() {
            true => "median".to_owned(),
            false => others.join(", "),
        }
    };
    let figures = table.columns.iter().enumerate();
    let chart = |(figure, name): (usize, &&str)| {
        let mut series: BTreeMap<String, Vec<[f64; 4]>> = BTreeMap::new();
        for (row, x) in table.rows.iter().zip(&places) {
            if let Some(band) = row.figures[figure] {
                let [low, high] = [band.low, band.high].map(|end| end.unwrap_or(band.median));
                let points = series.entry(others(row)).or_default();
                points.push([*x, band.median, low, high]);
            }
        }
        let title = format!("{name} over {}", table.keys[across]);
        let mut chart = Chart::new(title, axis.clone(), Axis::linear(name));
        if series.len() > MAX_SERIES {
            let points = series.values().flatten().map(|point| [point[0], point[1]]);
            return chart.with("points", Role::Ours, Shape::Points(points.collect()));
        }
        for (name, mut points) in series {
            points.sort_by(|one, other| one[0].total_cmp(&other[0]));
            chart = chart.with(name, Role::Ours, Shape::Band(points));
        }
        chart
    };
    figures.map(chart).collect()
}

/// Values of a key, each once, in the order of the sweep.
fn words(table: &SweepTable, at: usize) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    for row in &table.rows {
        if !words.contains(&row.values[at].as_str()) {
            words.push(&row.values[at]);
        }
    }
    words
}

fn number_axis(key: &str, values: &[f64]) -> Axis {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    match least > 0.0 && most >= LOG_FROM * least {
        true => Axis::log(key),
        false => Axis::linear(key),
    }
}
