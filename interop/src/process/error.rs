use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// What went wrong with a peer program.
#[derive(Debug, Error)]
pub enum PeerError {
    /// It could not be started.
    #[error("{peer}: cannot start {program}: {source}; is it built or installed?")]
    Start {
        /// The peer's label.
        peer: String,
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It ended while something was expected of it.
    #[error("{peer} ended ({status}) while waiting for {waiting_for}; its last words:\n{stderr}")]
    Gone {
        /// The peer's label.
        peer: String,
        /// What was expected.
        waiting_for: &'static str,
        /// How it ended.
        status: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It did not do in time what was expected of it.
    #[error("{peer}: no {waiting_for} within {deadline_s} s; its last words:\n{stderr}")]
    Late {
        /// The peer's label.
        peer: String,
        /// What was expected.
        waiting_for: &'static str,
        /// How long it was given, in seconds.
        deadline_s: u64,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// It answered a command with an error.
    #[error("{peer} refused {command}: {reason}")]
    Refused {
        /// The peer's label.
        peer: String,
        /// The command.
        command: &'static str,
        /// Its answer.
        reason: String,
    },
    /// It wrote something that is not of the line protocol.
    #[error("{peer} broke the line protocol: {line}")]
    Protocol {
        /// The peer's label.
        peer: String,
        /// What it wrote.
        line: String,
    },
}
