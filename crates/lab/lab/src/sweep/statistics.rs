//! Medians over seeds with bootstrap bands.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use serde::Serialize;

use super::points::below;
use crate::report::{Sorted, median};

/// Number of bootstrap resamples.
const RESAMPLES: usize = 2_000;
/// Share of the resampled medians that lie within a band.
const CONFIDENCE: f64 = 0.95;
/// Seed of the resampling, fixed so that the same values have the same band.
const SEED: u64 = 1;

/// Median with the band in which it lies with a confidence of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Band {
    /// Median of the values.
    pub median: f64,
    /// Lower end of the band; `None` with fewer than two values.
    pub low: Option<f64>,
    /// Upper end of the band; `None` with fewer than two values.
    pub high: Option<f64>,
}

/// Computes the median of values and its percentile bootstrap band; `None` without values.
pub fn median_band(values: &[f64]) -> Option<Band> {
    let middle = median(values.iter().copied())?;
    if values.len() < 2 {
        return Some(Band {
            median: middle,
            low: None,
            high: None,
        });
    }
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut resampled = || {
        let drawn = values.iter().map(|_| values[below(&mut rng, values.len())]);
        median(drawn)
    };
    let medians = Sorted::new((0..RESAMPLES).filter_map(|_| resampled()).collect());
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some(Band {
        median: middle,
        low: medians.quantile(tail),
        high: medians.quantile(1.0 - tail),
    })
}
