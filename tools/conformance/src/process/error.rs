use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Errors of a peer program.
#[derive(Debug, Error)]
pub enum PeerError {
    /// The program could not be started.
    #[error("{peer}: cannot start {program}: {source}; is it built or installed?")]
    Start {
        /// Label of the failed peer.
        peer: String,
        /// Path of the program.
        program: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The peer ended while an answer was expected.
    #[error("{peer} ended ({status}) while waiting for {waiting_for}; its last words:\n{stderr}")]
    Gone {
        /// Label of the failed peer.
        peer: String,
        /// Description of the expected answer.
        waiting_for: &'static str,
        /// Exit status of the peer.
        status: String,
        /// End of its standard error.
        stderr: String,
    },
    /// The peer missed a deadline.
    #[error("{peer}: no {waiting_for} within {deadline_s} s; its last words:\n{stderr}")]
    Late {
        /// Label of the failed peer.
        peer: String,
        /// Description of the expected answer.
        waiting_for: &'static str,
        /// Time limit, in seconds.
        deadline_s: u64,
        /// End of its standard error.
        stderr: String,
    },
    /// The peer answered a command with an error.
    #[error("{peer} refused {command}: {reason}")]
    Refused {
        /// Label of the failed peer.
        peer: String,
        /// Name of the command.
        command: &'static str,
        /// Error text of the peer.
        reason: String,
    },
    /// The peer wrote a line that is not part of the line protocol.
    #[error("{peer} broke the line protocol: {line}")]
    Protocol {
        /// Label of the failed peer.
        peer: String,
        /// Line that the peer wrote.
        line: String,
    },
}
