//! Reasons why a chat ends without its user's request.

use std::io;
use std::time::Duration;

use thiserror::Error;
use undertone_node::handle::Stopped;
use undertone_node::services::{SendFailure, ServiceFailure};

/// Reason why a chat ends without its user's request.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ChatError {
    /// The node has stopped.
    #[error(transparent)]
    Node(#[from] Stopped),
    /// The queue of own messages cannot be read.
    #[error(transparent)]
    Queue(#[from] SendFailure),
    /// The room cannot be subscribed to at filter peers.
    #[error(transparent)]
    Subscribe(#[from] ServiceFailure),
    /// There is no terminal, or its screen cannot be used.
    #[error("the terminal: {0}")]
    Screen(io::Error),
    /// The terminal or the output failed during the chat.
    #[error("the terminal: {0}")]
    Terminal(io::Error),
    /// The time limit after the end of the input has passed, and some messages have not reached anybody.
    #[error("{}", unsent(numbers, *waited))]
    Unsent {
        /// Numbers of the messages, as the chat shows them.
        numbers: Vec<u64>,
        /// Time waited.
        waited: Duration,
    },
}

impl ChatError {
    /// Returns advice for the user of `undertone chat`, if the message alone does not say what to do.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Screen(_) => Some("use --lines for one line per event"),
            Self::Unsent { .. } => Some(
                "start a chat or a node with the same --data-dir to send what waits, or raise --end-wait-s",
            ),
            Self::Node(_) | Self::Queue(_) | Self::Subscribe(_) | Self::Terminal(_) => None,
        }
    }
}

fn unsent(numbers: &[u64], waited: Duration) -> String {
    let listed: Vec<_> = numbers.iter().map(u64::to_string).collect();
    let (messages, they) = match numbers.len() {
        1 => ("message", "it waits"),
        _ => ("messages", "they wait"),
    };
    format!(
        "{messages} {} reached no other node within {} s after the end of the input; {they} in the send queue",
        listed.join(", "),
        waited.as_secs(),
    )
}
