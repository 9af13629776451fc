//! Which seeds to run: `7`, `1,4,9`, `1..5` (both ends included).

use thiserror::Error;

/// Most seeds of one campaign.
pub const MAX_SEEDS: usize = 10_000;

/// Why a list of seeds was not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SeedsError {
    /// Not a number and not a range.
    #[error("{part:?} is not a seed: expected a number (7), a list (1,4,9) or a range (1..5)")]
    Malformed {
        /// The part of the list.
        part: String,
    },
    /// A range that runs backwards.
    #[error("{part:?} is empty: the first seed of a range must not exceed the last")]
    Empty {
        /// The part of the list.
        part: String,
    },
    /// Too many.
    #[error("more than {MAX_SEEDS} seeds")]
    TooMany,
}

/// Reads a list of seeds, in the order given; a seed given twice counts once.
///
/// # Errors
/// The first part that is not understood.
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
