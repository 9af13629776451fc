//! Arithmetic shared by the benchmarks.

#[cfg(test)]
#[path = "tests/figures.rs"]
mod tests;

/// Returns the median: the middle value, or the mean of the two middle values. `None` if there are no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = sorted[sorted.len() / 2 - 1];
    Some(f64::midpoint(lower, upper))
}

/// Returns the nearest-rank percentile of sorted values: the smallest value that at least `percent` of them do not
/// exceed. `None` if there are no values.
#[must_use]
pub fn percentile(sorted: &[f64], percent: usize) -> Option<f64> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

/// Returns `figure / base`; `None` if the base is too small to divide by.
#[must_use]
pub fn ratio(figure: f64, base: f64) -> Option<f64> {
    (base > 1e-6).then(|| figure / base)
}

/// Formats a ratio as a table cell; "-" for `None`.
#[must_use]
pub fn times(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}
