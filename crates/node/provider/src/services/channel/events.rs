//! Events and failures of a reliable channel.

use std::path::PathBuf;
use undertone_network::handle::Stopped;

use thiserror::Error;
use undertone_sds::{Id, SdsSendError, StateError};

/// Event of a reliable channel, for the program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChannelEvent {
    /// Message of another member, delivered after all messages that precede it. After a crash, the last one may come
    /// again.
    Message {
        /// Id of the message in the channel.
        id: Id,
        /// Participant id of its sender, as claimed.
        sender: Id,
        /// Lamport timestamp; `None` for an ephemeral message, which is not ordered.
        lamport_timestamp: Option<u64>,
        /// Content of the message.
        payload: Vec<u8>,
        /// Preceding messages that were given up.
        gaps: Vec<Id>,
    },
    /// An own message has reached another member.
    Acknowledged {
        /// Id of the message.
        id: Id,
    },
    /// An own message was sent the maximum number of times, and nobody has acknowledged it.
    Unconfirmed {
        /// Id of the message.
        id: Id,
    },
    /// Messages of others have been missing for too long and are no longer awaited.
    Lost {
        /// Ids of the messages.
        ids: Vec<Id>,
    },
}

/// Reason why a channel cannot be joined, or why a message was not sent on it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChannelFailure {
    /// The saved state cannot be read or written.
    #[error("{path}: {error}; check that the folder exists, is writable and has space")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The saved state does not belong to this member.
    #[error("{path}: {error}; move the file away to join anew")]
    State {
        /// Path of the file.
        path: PathBuf,
        /// Defect of the state.
        error: StateError,
    },
    /// The channel does not accept the message.
    #[error(transparent)]
    Refused(#[from] SdsSendError),
    /// The system has no random numbers.
    #[error("the system's random generator: {0}")]
    Random(std::io::Error),
    /// The node is stopping or has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}
