//! Reasons why a synchronisation session failed.

use thiserror::Error;
use undertone_archive::ArchiveError;
use undertone_network::handle::Stopped;
use undertone_services::sync::{SyncError, TransferError};

/// Reason why a synchronisation session failed.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum SyncFailure {
    /// No stream to the peer could be opened.
    #[error("cannot reach the peer: {reason}")]
    Unreachable {
        /// Error of the stream.
        reason: String,
    },
    /// A session with the peer is open already, or the maximum number with other peers.
    #[error("too many sessions are open")]
    Busy,
    /// The peer has recently been at fault, or begins sessions too often.
    #[error("the peer gets no session now")]
    Banned,
    /// The peer or the connection ended the session.
    #[error("the peer ended the session: {reason}")]
    Ended {
        /// Error of the stream.
        reason: String,
    },
    /// The peer did not answer or read in time.
    #[error("the peer took more than {timeout_s} s for {what}")]
    TimedOut {
        /// Action that took too long.
        what: &'static str,
        /// Time limit, seconds.
        timeout_s: u64,
    },
    /// The peer broke the rules of reconciliation.
    #[error("the peer is at fault: {0}")]
    Session(#[from] SyncError),
    /// The peer sent bytes that are not a message.
    #[error("the peer is at fault: {0}")]
    Transfer(#[from] TransferError),
    /// A frame of the peer exceeds the maximum length.
    #[error("the peer is at fault: {reason}")]
    Frame {
        /// Defect of the frame.
        reason: String,
    },
    /// The peer sent messages that it had not named.
    #[error("the peer is at fault: it sent {count} messages that it had not named")]
    Unasked {
        /// Number of such messages.
        count: usize,
    },
    /// The proof of a message sent by the peer is invalid.
    #[error("the peer is at fault: it sent a message with an invalid rate-limit proof")]
    InvalidProof,
    /// The peer did not send messages that it had named.
    #[error("the peer did not send {count} messages that it had named")]
    Withheld {
        /// Number of such messages.
        count: usize,
    },
    /// This node's archive cannot be read or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The node is stopping or has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl SyncFailure {
    /// Whether the peer did something that no honest peer does.
    pub(super) fn is_peers_fault(&self) -> bool {
        matches!(
            self,
            Self::Session(_)
                | Self::Transfer(_)
                | Self::Frame { .. }
                | Self::Unasked { .. }
                | Self::InvalidProof
        )
    }

    /// Converts a stream error.
    pub(super) fn of_stream(error: &std::io::Error) -> Self {
        let reason = error.to_string();
        match error.kind() {
            std::io::ErrorKind::InvalidData => Self::Frame { reason },
            _ => Self::Ended { reason },
        }
    }
}
