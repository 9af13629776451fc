//! Table of measured and simulated times, and their errors.

use std::fmt::Write;

use super::{FanCase, FanTime, FanTimes};
use crate::kernel::Moment;

#[cfg(test)]
#[path = "tests/table.rs"]
mod tests;

/// Relative error up to which a simulated time agrees with the measured one.
const TOLERANCE_SHARE: f64 = 0.05;

/// Absolute error up to which a simulated time agrees, whatever its relative error, microseconds.
const TOLERANCE_US: f64 = 2_000.0;

/// Figures of one message on all connections, microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Figures {
    first_begun: u64,
    median_done: u64,
    last_done: u64,
}

impl Figures {
    fn of(times: &[FanTime]) -> Option<Self> {
        let mut done: Vec<u64> = times.iter().map(|time| time.done_us).collect();
        done.sort_unstable();
        Some(Self {
            first_begun: times.iter().map(|time| time.begun_us).min()?,
            median_done: *done.get(done.len() / 2)?,
            last_done: *done.last()?,
        })
    }

    fn all(self) -> [u64; 3] {
        [self.first_begun, self.median_done, self.last_done]
    }
}

/// Errors of the simulated figures (first arrival, median and last arrival of each message).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FanErrors {
    /// Figures within 5 % or 2 ms of the measured ones.
    pub within: usize,
    /// Number of figures that were compared.
    pub of: usize,
    /// Largest error beyond 2 ms, as a share of the measured figure.
    pub largest: f64,
    /// Mean over all connections of the difference between simulated and measured completion, relative to the measured
    /// one.
    pub mean_of_connections: f64,
}

/// Compares simulated times with measured ones, case by case.
pub fn errors<'a>(pairs: impl IntoIterator<Item = (&'a FanTimes, &'a FanTimes)>) -> FanErrors {
    let mut errors = FanErrors::default();
    let (mut sum, mut connections) = (0.0, 0.0);
    for (measured, simulated) in pairs {
        for (measured, simulated) in measured.iter().zip(simulated) {
            if let (Some(real), Some(model)) = (Figures::of(measured), Figures::of(simulated)) {
                for (real, model) in real.all().into_iter().zip(model.all()) {
                    let off_us = (model as f64 - real as f64).abs();
                    let share = off_us / (real as f64).max(1.0);
                    errors.of += 1;
                    if off_us <= TOLERANCE_US || share <= TOLERANCE_SHARE {
                        errors.within += 1;
                    } else {
                        errors.largest = errors.largest.max(share);
                    }
                }
            }
            for (real, model) in measured.iter().zip(simulated) {
                let off_us = (model.done_us as f64 - real.done_us as f64).abs();
                sum += off_us / (real.done_us as f64).max(1.0);
                connections += 1.0;
            }
        }
    }
    errors.mean_of_connections = if connections > 0.0 {
        sum / connections
    } else {
        0.0
    };
    errors
}

/// Formats a table in Markdown: a line for each case, with the first arrival of any bytes, the median and the last
/// complete arrival of each message, in milliseconds, measured / simulated. A figure beyond the tolerance is marked
/// with `*`.
pub fn table(rows: &[(FanCase, FanTimes, FanTimes)]) -> String {
    let mut text = "| Mbit/s | one way | connections | size |".to_owned();
    for moment in Moment::ALL {
        for figure in ["first", "median", "last"] {
            push(&mut text, format_args!(" {} {figure} |", moment.name()));
        }
    }
    push(
        &mut text,
        format_args!("\n| ---: | ---: | ---: | ---: |{}\n", " ---: |".repeat(9)),
    );
    for (case, measured, simulated) in rows {
        push(
            &mut text,
            format_args!(
                "| {} | {} ms | {} | {} KB |",
                case.mbit_per_s,
                case.one_way_ms,
                case.connections,
                case.size_bytes / 1000
            ),
        );
        for (measured, simulated) in measured.iter().zip(simulated) {
            if let (Some(real), Some(model)) = (Figures::of(measured), Figures::of(simulated)) {
                for (real, model) in real.all().into_iter().zip(model.all()) {
                    push(&mut text, format_args!(" {} |", cell(real, model)));
                }
            }
        }
        text.push('\n');
    }
    text
}

fn cell(real_us: u64, model_us: u64) -> String {
    let (real, model) = (real_us as f64, model_us as f64);
    let off_us = (model - real).abs();
    let is_off = off_us > TOLERANCE_US && off_us > TOLERANCE_SHARE * real;
    let mark = if is_off { "*" } else { "" };
    format!("{:.1} / {:.1}{mark}", real / 1_000.0, model / 1_000.0)
}

fn push(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part)
        .expect("writing to a string cannot fail");
}
