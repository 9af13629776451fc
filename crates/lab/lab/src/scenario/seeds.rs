//! Lists of seeds: `7`, `1,4,9`, `1..5` (both ends included).

use thiserror::Error;

/// Maximum number of seeds of one campaign.
pub const MAX_SEEDS: usize = 10_000;

/// Error in a list of seeds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SeedsError {
    /// A part is neither a number nor a range.
    #[error("{part:?} is not a seed: expected a number (7), a list (1,4,9) or a range (1..5)")]
    Malformed {
        /// Part of the list.
        part: String,
    },
    /// The first seed of a range exceeds the last.
    #[error("{part:?} is empty: the first seed of a range must not exceed the last")]
    Empty {
        /// Part of the list.
        part: String,
    },
    /// The list has more than [`MAX_SEEDS`] seeds.
    #[error("more than {MAX_SEEDS} seeds")]
    TooMany,
}

/// Reads a list of seeds, keeping their order; a repeated seed counts once.
///
/// # Errors
/// Returns an error for the first part that is malformed or empty, or when there are too many seeds.
pub fn parse_seeds(text: &str) -> Result<Vec<u64>, SeedsError> {
    let mut seeds = Vec::new();
    for part in text.split(',').map(str::trim) {
        let malformed = || SeedsError::Malformed {
            part: part.to_owned(),
        };
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| malformed());
        let (first, last) = match part.split_once("..") {
            Some((first, last)) => (number(first)?, number(last.trim_start_matches('='))?),
            None => (number(part)?, number(part)?),
        };
        if first > last {
            return Err(SeedsError::Empty {
                part: part.to_owned(),
            });
        }
        if last - first >= MAX_SEEDS as u64 {
            return Err(SeedsError::TooMany);
        }
        for seed in first..=last {
            if !seeds.contains(&seed) {
                seeds.push(seed);
            }
        }
        if seeds.len() > MAX_SEEDS {
            return Err(SeedsError::TooMany);
        }
    }
    Ok(seeds)
}
