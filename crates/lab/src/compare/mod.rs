//! Comparison of our figures with published ones, with a computed verdict.
//!
//! Tolerances were set before the first run. The reference is the raw logs of the paper, so only its runs
//! "as run" can be compared; a corrected reading of the paper differs from them on purpose.

mod published;
mod text;
mod verdict;

#[cfg(test)]
mod tests;

pub use published::{PublishedRun, published, published_names};
pub use verdict::{ComparedFigure, Comparison, ComparisonVerdict, compare};
