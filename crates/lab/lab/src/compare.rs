//! Comparison of our figures with published ones, with a computed verdict.
//!
//! Latencies over all deliveries are judged by a tolerance, and figures of the one network that was drawn (the nodes at
//! a hop) by the band in which 95 % of at least 20 seeds lie. Tolerances were set before the first run. The reference is the raw logs of the paper, so only its runs
//! "as run" can be compared; a corrected reading of the paper differs from them on purpose.

mod published;
mod text;
mod verdict;

#[cfg(test)]
#[path = "tests/compare.rs"]
mod tests;

pub use published::{PublishedRun, published, published_names};
pub(crate) use verdict::BAND_SEEDS;
pub use verdict::{ComparedFigure, Comparison, ComparisonRule, ComparisonVerdict, compare};
