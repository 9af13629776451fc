//! Histogram as lines of text bars.

use std::fmt::Write;

/// Width of the longest bar, columns.
const WIDTH: usize = 50;
/// Upper bound of the number of lines.
const LINES: usize = 24;
/// Last character of a bar, by eighths of a column.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar for a share between 0 and 1. Any share above 0 is visible.
pub(super) fn bar(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * (WIDTH * 8) as f64).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Returns the histogram of values in ascending order, in bins of a round width (1, 2 or 5 times a power
/// of ten); empty without values.
pub(super) fn histogram(sorted: &[f64]) -> String {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
        return String::new();
    };
    let width = round_width((last - first) / (LINES - 2) as f64);
    let start = (first / width).floor() * width;
    let lines = (((last - start) / width).floor() as usize + 1).min(LINES);
    let mut counts = vec![0_usize; lines];
    for value in sorted {
        let bin = ((value - start) / width) as usize;
        counts[bin.min(lines - 1)] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let decimals = (-width.log10().floor()).clamp(0.0, 6.0) as usize;
    let mut text = String::new();
    for (bin, count) in counts.into_iter().enumerate() {
        let from = start + bin as f64 * width;
        let line = format!("{from:>9.decimals$} {}", bar(count as f64 / most as f64));
        let line = line.trim_end();
        // Writing to a string cannot fail.
        let _ = match count {
            0 => writeln!(text, "{line}"),
            _ => writeln!(text, "{line} {count}"),
        };
    }
    text
}

/// The smallest round width that is not below `least`.
fn round_width(least: f64) -> f64 {
    const SMALLEST: f64 = 1e-6;
    let least = least.max(SMALLEST);
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|width| *width >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}
