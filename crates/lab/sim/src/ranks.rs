//! Running one simulation on several processes (ranks), such as those of MPI on a cluster.
//!
//! Each rank simulates a part of the nodes on threads of its own. At the end of each window of time all ranks exchange
//! the events that nodes of one rank caused at nodes of another, and the time of their next event. A rank is known here
//! by the trait [`Ranks`] alone, so that this crate knows nothing of the library that carries the bytes.

pub(crate) mod agreement;
pub(crate) mod claims;
pub(crate) mod event_codec;
pub(crate) mod frames;
pub(crate) mod letters;
pub(crate) mod note;
pub(crate) mod numbers;
pub(crate) mod reader;
pub(crate) mod results;

/// One of several processes that run a simulation together, as it sees the others. All of them call the same methods in
/// the same order.
pub trait Ranks {
    /// Number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of all ranks.
    fn count(&self) -> usize;

    /// Gives each rank its letter, and returns the letters of all ranks to this one, both by the number of the rank.
    /// Waits until every rank has called it. The letter of a rank to itself comes back unchanged.
    ///
    /// # Errors
    /// Returns [`RankError`] when letters cannot be exchanged any more.
    fn exchange(&mut self, letters: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, RankError>;
}

/// Reason why a run over several ranks cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RankError {
    /// Another rank has failed.
    #[error("rank {rank} failed; what it printed says why")]
    Failed {
        /// Number of the rank.
        rank: usize,
    },
    /// Another rank runs something else.
    #[error(
        "rank {rank} runs another {what} than rank 0; all must have the same arguments, files and program"
    )]
    Differs {
        /// Number of the rank.
        rank: usize,
        /// Subject of the difference.
        what: &'static str,
    },
    /// A letter that cannot be read.
    #[error("what rank {rank} sent cannot be read: {what}")]
    Malformed {
        /// Number of the rank that sent the letter.
        rank: usize,
        /// Part of the letter.
        what: &'static str,
    },
    /// Letters that are too long for one exchange.
    #[error(
        "letters of {bytes} bytes are too long for one exchange; more ranks exchange less each"
    )]
    TooLong {
        /// Length of the letters, bytes.
        bytes: u64,
    },
    /// A rank that is gone without a word.
    #[error("a rank is gone")]
    Gone,
}
