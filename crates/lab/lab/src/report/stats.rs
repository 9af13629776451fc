//! Order statistics. Quantiles are nearest-rank: the smallest value that a share `q` of all values does
//! not exceed, so that every quantile is a measured value.

use serde::Serialize;

/// A list of values in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts the values in ascending order.
    pub fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// The values, smallest first.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The nearest-rank quantile for `q` from 0 to 1; `None` without values.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let n = self.0.len();
        // A share such as 0.95 of 20 is 19, and the last bit of a product must not make it 20.
        let rank = (q * n as f64 - 1e-9).ceil().max(1.0) as usize;
        self.0.get(rank.min(n).wrapping_sub(1)).copied()
    }

    /// The arithmetic mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        let n = self.0.len();
        (n > 0).then(|| self.0.iter().sum::<f64>() / n as f64)
    }
}

/// The middle value, or the mean of the two in the middle; `None` without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let sorted = Sorted::new(values.into_iter().collect());
    let values = sorted.values();
    let n = values.len();
    (n > 0).then(|| (values[(n - 1) / 2] + values[n / 2]) / 2.0)
}

/// Distribution of latencies, milliseconds from publishing (before the proof)
/// to delivery (after validation).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Number of deliveries in the distribution.
    pub n: usize,
    /// Smallest latency of all deliveries.
    pub min: f64,
    /// Arithmetic mean of the latencies.
    pub mean: f64,
    /// Median, nearest-rank like the other quantiles.
    pub p50: f64,
    /// 75th percentile of the latencies.
    pub p75: f64,
    /// 95th percentile of the latencies.
    pub p95: f64,
    /// 99th percentile of the latencies.
    pub p99: f64,
    /// Largest latency of all deliveries.
    pub max: f64,
}

impl Latency {
    /// Distribution of the given latencies; `None` without any.
    pub fn of(sorted: &Sorted) -> Option<Self> {
        let q = |q| sorted.quantile(q);
        Some(Self {
            n: sorted.values().len(),
            min: q(0.0)?,
            mean: sorted.mean()?,
            p50: q(0.5)?,
            p75: q(0.75)?,
            p95: q(0.95)?,
            p99: q(0.99)?,
            max: q(1.0)?,
        })
    }
}
