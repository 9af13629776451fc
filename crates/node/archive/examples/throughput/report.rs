//! Figures as they are printed.

use std::time::Duration;

use undertone_archive::Archive;

use crate::Failure;

/// Number of times and their percentiles.
pub(crate) fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |percent| percentile_ms(&times, percent);
    format!(
        "{} read, p50 {:.2} ms, p95 {:.2} ms, p99 {:.2} ms",
        times.len(),
        at(50),
        at(95),
        at(99)
    )
}

/// Percentile of sorted times, in milliseconds.
pub(crate) fn percentile_ms(times: &[Duration], percent: usize) -> f64 {
    let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
    times
        .get(index)
        .map_or(0.0, |time| time.as_secs_f64() * 1000.0)
}

/// Prints how many messages the archive has and how large it is; returns the size of its indexes in relation to its data.
pub(crate) async fn print_sizes(archive: &Archive) -> Result<f64, Failure> {
    let stats = archive.stats().await?;
    let sizes = archive.sizes().await?;
    let index_share = sizes.index_bytes as f64 / sizes.data_bytes.max(1) as f64;
    println!(
        "{} messages in {} slots, {} MB on disk; data {} MB, indexes {index_share:.2} of that",
        stats.messages,
        stats.slots,
        stats.bytes / 1_000_000,
        sizes.data_bytes / 1_000_000
    );
    Ok(index_share)
}
