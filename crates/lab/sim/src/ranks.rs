//! Running one simulation on several processes (ranks), such as those of MPI on a cluster.
//!
//! Each rank simulates a part of the nodes on its own threads. At the end of each time window, all ranks exchange the
//! events that their nodes cause at nodes of other ranks, and the time of their next event. This crate sees ranks only
//! through the trait [`Ranks`], so it does not depend on the library that transports the bytes.

pub(crate) mod assertions;
pub(crate) mod event_codec;
pub(crate) mod frames;
pub(crate) mod handshake;
pub(crate) mod header;
pub(crate) mod messages;
pub(crate) mod numbers;
pub(crate) mod reader;
pub(crate) mod results;

/// The view that one of several processes has of a joint simulation. All of them must call the same methods in the same
/// order.
pub trait Ranks {
    /// Number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of all ranks.
    fn count(&self) -> usize;

    /// Sends a message to each rank, and returns the messages from all ranks, both indexed by rank. Waits until every
    /// rank has called it. A rank's message to itself comes back unchanged.
    ///
    /// # Errors
    /// Returns [`RankError`] when messages can no longer be exchanged.
    fn exchange(&mut self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, RankError>;
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
    /// Another rank runs a different program, scenario or seed.
    #[error(
        "rank {rank} runs another {what} than rank 0; all must have the same arguments, files and program"
    )]
    Differs {
        /// Number of the rank.
        rank: usize,
        /// Subject of the difference.
        what: &'static str,
    },
    /// A message cannot be read.
    #[error("what rank {rank} sent cannot be read: {what}")]
    Malformed {
        /// Number of the rank that sent the message.
        rank: usize,
        /// Part of the message.
        what: &'static str,
    },
    /// The messages are too long for one exchange.
    #[error(
        "messages of {bytes} bytes are too long for one exchange; more ranks exchange less each"
    )]
    TooLong {
        /// Length of the messages, bytes.
        bytes: u64,
    },
    /// A rank has ended without a message.
    #[error("a rank is gone")]
    Gone,
}
