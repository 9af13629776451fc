//! Bounds on sweeps.

/// Maximum number of points of a sweep.
pub const MAX_POINTS: usize = 100_000;
/// Maximum number of runs of a sweep, over all points and seeds.
pub const MAX_RUNS: usize = 1_000_000;
