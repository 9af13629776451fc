//! Comparison of our figures with published ones, with a computed verdict.
//!
//! Latencies over all deliveries are judged by a tolerance. Figures that depend on the one network drawn (the nodes at
//! a hop) are judged by the band that holds 95 % of at least 20 seeds. Tolerances were set before the first run. The
//! reference is the paper's raw logs, so only its runs "as run" can be compared; a corrected reading of the paper
//! differs from them on purpose.

mod published;
mod text;
mod verdict;

#[cfg(test)]
#[path = "tests/compare.rs"]
mod tests;

pub use published::{PublishedRun, published, published_names};
pub(crate) use verdict::BAND_SEEDS;
pub use verdict::{ComparedFigure, Comparison, ComparisonRule, ComparisonVerdict, compare};
