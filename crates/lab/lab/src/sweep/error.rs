//! Errors in sweep files.

use thiserror::Error;

use super::limits::{MAX_POINTS, MAX_RUNS};
use crate::scenario::{ScenarioError, SeedsError};

/// Reason why a sweep cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The file, or the scenario of a point, cannot be read.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The file is not TOML, or a key or value in it is wrong.
    #[error(transparent)]
    Setting(#[from] undertone_settings::Error),
    /// The seeds are not a list of seeds.
    #[error("{place}: sweep.seeds: {source}")]
    Seeds {
        /// File and line of the key.
        place: String,
        /// Description of the mistake.
        source: SeedsError,
    },
    /// The grid has too many points.
    #[error("the grid has {points} points; at most {MAX_POINTS} are run")]
    TooManyPoints {
        /// Number of points of the grid.
        points: u128,
    },
    /// Points and seeds make too many runs.
    #[error("{points} points with {seeds} seeds are more than {MAX_RUNS} runs")]
    TooManyRuns {
        /// Number of points.
        points: usize,
        /// Number of seeds.
        seeds: usize,
    },
}
