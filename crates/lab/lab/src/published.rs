//! Published tables as vendored files; `published/README.md` names their sources.

/// Table 1 of Revuelta et al.: proof generation and verification by platform, ms.
pub const RLN_PLATFORMS: &str = include_str!("../published/rln_platforms.csv");
/// Table 3 of Revuelta et al.: five nodes in a line, ms.
pub const MULTIHOST_LATENCY: &str = include_str!("../published/multihost_latency.csv");
/// Table 4 of Revuelta et al.: hashing, ms.
pub const HASHING: &str = include_str!("../published/hashing.csv");
/// Table 5 of Revuelta et al.: 1000 simulated nodes beside the line of five, ms.
pub const LATENCY_DISTRIBUTION: &str = include_str!("../published/latency_distribution.csv");
/// Figures of *RLN Key Benchmarks*, Waku research.
pub const RLN_KEY_BENCHMARKS: &str = include_str!("../published/rln_key_benchmarks.csv");
/// Figures of *Large Message Handling in GossipSub*, vac forum.
pub const LARGE_MESSAGES: &str = include_str!("../published/large_messages.csv");
/// GossipSub v1.2 over message sizes and over publishers: vac's comparison of August 2025.
pub const GOSSIPSUB_V12_SERIES: &str = include_str!("../published/gossipsub_v12_series.csv");

/// Cells of each line of a CSV text, without the header line.
pub fn rows(csv: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = csv.lines().skip(1).filter(|line| !line.is_empty());
    lines.map(|line| line.split(',').collect())
}

/// The number in column `column` of the line that begins with `key`.
pub fn cell(csv: &'static str, key: &str, column: &str) -> Option<f64> {
    let at = csv
        .lines()
        .next()?
        .split(',')
        .position(|name| name == column)?;
    let row = rows(csv).find(|row| row.first() == Some(&key))?;
    row.get(at)?.parse().ok()
}
