//! Vertical lines of a chart, with their labels in rows above the data.

use super::LETTER;
use super::words::{chars, shorten};

/// Length to which labels are shortened, characters.
const MAX_CHARS: usize = 40;
/// Space between two labels in a row.
const GAP: f64 = 12.0;

/// A vertical line with its placed label.
#[derive(Debug, PartialEq)]
pub(super) struct Placed {
    /// Horizontal position of the line.
    pub(super) x: f64,
    /// Horizontal position of the label's middle.
    pub(super) middle: f64,
    /// Row of the label, counted from the one next to the data.
    pub(super) row: usize,
    pub(super) label: String,
}

/// Distributes labels over rows so that none overlap, each in the first row with room, all
/// between `left` and `right`.
pub(super) fn place(marks: &[(f64, &str)], left: f64, right: f64) -> Vec<Placed> {
    let mut sorted = marks.to_vec();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut row_ends: Vec<f64> = Vec::new();
    let place = |(x, label): (f64, &str)| {
        let label = shorten(label, MAX_CHARS);
        let half = chars(&label) as f64 * LETTER / 2.0;
        let middle = x.min(right - half).max(left + half);
        let free = row_ends.iter().position(|end| end + GAP <= middle - half);
        let row = free.unwrap_or(row_ends.len());
        if row == row_ends.len() {
            row_ends.push(0.0);
        }
        row_ends[row] = middle + half;
        Placed {
            x,
            middle,
            row,
            label,
        }
    };
    sorted.into_iter().map(place).collect()
}
