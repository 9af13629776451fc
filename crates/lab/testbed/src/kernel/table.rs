//! Table of measurements, for people and for `docs/`.

use std::fmt::Write;
use std::time::Duration;

use super::{Case, Measured, Moment};

/// Row of a table: all measurements of one case.
#[derive(Clone, Debug)]
pub struct Row {
    /// The case that was measured; its `sockets` is ignored here.
    pub case: Case,
    /// Results of the measurements of this case.
    pub runs: Vec<Measured>,
    /// Prediction of a model in milliseconds, in the order of [`Moment::ALL`].
    pub predicted_ms: Option<[f64; 3]>,
}

/// Returns the median of `times` in milliseconds; of an even number, the upper of the two middle
/// ones. `None` when there are none.
pub fn median_ms(times: impl IntoIterator<Item = Duration>) -> Option<f64> {
    let mut times: Vec<_> = times.into_iter().collect();
    times.sort_unstable();
    let middle = times.get(times.len() / 2)?;
    Some(middle.as_secs_f64() * 1000.0)
}

/// Formats a table in Markdown: a line for each size, and for each delay the medians at all
/// moments, followed by a slash and the prediction if there is one.
pub fn table(rows: &[Row]) -> String {
    let mut delays: Vec<_> = rows.iter().map(|row| row.case.one_way_ms).collect();
    delays.sort_unstable();
    delays.dedup();
    let mut sizes: Vec<_> = rows.iter().map(|row| row.case.size_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut text = "| size |".to_owned();
    for delay in &delays {
        for moment in Moment::ALL {
            push(&mut text, format_args!(" {delay} ms {} |", moment.name()));
        }
    }
    push(
        &mut text,
        format_args!("\n| ---: |{}\n", " ---: |".repeat(delays.len() * 3)),
    );
    for size in sizes {
        push(&mut text, format_args!("| {} |", bytes(size)));
        for delay in &delays {
            let of_case = |row: &&Row| row.case.size_bytes == size && row.case.one_way_ms == *delay;
            let row = rows.iter().find(of_case);
            for place in 0..Moment::ALL.len() {
                push(&mut text, format_args!(" {} |", cell(row, place)));
            }
        }
        text.push('\n');
    }
    text
}

fn push(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part)
        .expect("writing to a string cannot fail");
}

fn cell(row: Option<&Row>, place: usize) -> String {
    let Some(row) = row else {
        return String::new();
    };
    let Some(median) = median_ms(row.runs.iter().map(|run| run.took[place])) else {
        return String::new();
    };
    match row.predicted_ms {
        Some(predicted) => format!("{median:.1} / {:.1}", predicted[place]),
        None => format!("{median:.1}"),
    }
}

/// Formats a size as the tables of this project do: decimal.
fn bytes(size_bytes: usize) -> String {
    match size_bytes {
        size if size >= 1_000_000 && size.is_multiple_of(1_000_000) => {
            format!("{} MB", size / 1_000_000)
        }
        size if size.is_multiple_of(1000) => format!("{} KB", size / 1000),
        size => format!("{size} B"),
    }
}

#[cfg(test)]
#[path = "tests/table.rs"]
mod tests;
