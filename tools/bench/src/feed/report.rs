use serde::Serialize;
use undertone_bench::figures::{median, ratio, times};

use crate::feed::subject::Cost;
use crate::output;

#[cfg(test)]
#[path = "tests/report.rs"]
mod tests;

/// Result of one round, in microseconds of processor time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Sample {
    /// Processor time per new message.
    new_us: f64,
    /// Processor time per duplicate.
    duplicate_us: f64,
}

/// Results of all rounds of all variants.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Number of messages of each size in a round.
    messages: u32,
    /// Number of connections in the mesh of the peer.
    connections: u8,
    /// Rows by size in the order of the run, then by variant.
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    size_bytes: usize,
    label: String,
    rounds: Vec<Sample>,
    /// Medians over the rounds, of each figure separately.
    median: Sample,
    ratio_to_first: Ratios,
}

/// Medians divided by those of the first variant at the same size; `None` where the divisor is zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Ratios {
    new: Option<f64>,
    duplicate: Option<f64>,
}

impl Sample {
    /// Computes the costs per message. The new message after the duplicates counts with the mean cost of the
    /// other new messages.
    pub(crate) fn of(cost: Cost, messages: u32) -> Self {
        let messages = f64::from(messages.max(1));
        let new_us = cost.new_us as f64 / messages;
        let duplicates_us = (cost.again_us as f64 - new_us).max(0.0);
        Self {
            new_us,
            duplicate_us: duplicates_us / messages,
        }
    }

    fn median(rounds: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> f64| {
            let values: Vec<f64> = rounds.iter().map(figure).collect();
            median(&values).unwrap_or(0.0)
        };
        Self {
            new_us: of(|round| round.new_us),
            duplicate_us: of(|round| round.duplicate_us),
        }
    }

    fn over(self, base: Self) -> Ratios {
        Ratios {
            new: ratio(self.new_us, base.new_us),
            duplicate: ratio(self.duplicate_us, base.duplicate_us),
        }
    }
}

impl Report {
    pub(crate) fn new(messages: u32, connections: u8) -> Self {
        Self {
            messages,
            connections,
            rows: Vec::new(),
        }
    }

    /// Adds a round; at every size, the first variant's round must be added first.
    pub(crate) fn add(&mut self, size_bytes: usize, label: &str, sample: Sample) {
        let of_size = |row: &Row| row.size_bytes == size_bytes;
        let known = self
            .rows
            .iter()
            .position(|row| of_size(row) && row.label == label);
        let index = known.unwrap_or_else(|| {
            self.rows.push(Row {
                size_bytes,
                label: label.to_owned(),
                rounds: Vec::new(),
                median: sample,
                ratio_to_first: sample.over(sample),
            });
            self.rows.len() - 1
        });
        let row = &mut self.rows[index];
        row.rounds.push(sample);
        row.median = Sample::median(&row.rounds);
        let first = self.rows.iter().find(|row| of_size(row));
        let base = first.map_or(sample, |row| row.median);
        for row in self.rows.iter_mut().filter(|row| of_size(row)) {
            row.ratio_to_first = row.median.over(base);
        }
    }

    pub(crate) fn table(&self) -> String {
        let header = [
            "bytes",
            "variant",
            "us/new",
            "us/duplicate",
            "x new",
            "x duplicate",
        ];
        let rows = self.rows.iter().map(|row| {
            [
                row.size_bytes.to_string(),
                row.label.clone(),
                format!("{:.1}", row.median.new_us),
                format!("{:.1}", row.median.duplicate_us),
                times(row.ratio_to_first.new),
                times(row.ratio_to_first.duplicate),
            ]
        });
        let table = output::table(header, 1, rows);
        format!(
            "{table}\n{} messages a round, forwarded to {} connections. Processor time of the whole \
             process in us; medians over the rounds.",
            self.messages,
            self.connections.saturating_sub(1)
        )
    }
}
