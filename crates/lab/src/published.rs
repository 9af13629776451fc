//! The published tables as they are vendored; `published/README.md` names their sources.

/// Revuelta et al., Table 1: proof generation and verification by platform, ms.
pub const RLN_PLATFORMS: &str = include_str!("../published/rln_platforms.csv");
/// The same, Table 3: five nodes in a line, ms.
pub const MULTIHOST_LATENCY: &str = include_str!("../published/multihost_latency.csv");
/// The same, Table 4: hashing, ms.
pub const HASHING: &str = include_str!("../published/hashing.csv");
/// The same, Table 5: 1000 simulated nodes beside the line of five, ms.
pub const LATENCY_DISTRIBUTION: &str = include_str!("../published/latency_distribution.csv");
/// Waku research, *RLN Key Benchmarks*.
pub const RLN_KEY_BENCHMARKS: &str = include_str!("../published/rln_key_benchmarks.csv");
/// vac forum, *Large Message Handling in GossipSub*.
pub const LARGE_MESSAGES: &str = include_str!("../published/large_messages.csv");

/// Cells of all lines but the first.
pub fn rows(csv: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = csv.lines().skip(1).filter(|line| !line.is_empty());
    lines.map(|line| line.split(',').collect())
}

/// The number in the column `column` of the line that begins with `key`.
pub fn cell(csv: &'static str, key: &str, column: &str) -> Option<f64> {
    let at = csv
        .lines()
        .next()?
        .split(',')
        .position(|name| name == column)?;
    let row = rows(csv).find(|row| row.first() == Some(&key))?;
    row.get(at)?.parse().ok()
}
