//! Why an endpoint was of no use, by what to do about it.

use std::time::Duration;

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No JSON, or none of JSON-RPC 2.0.
    #[error("no JSON-RPC answer")]
    Json,
    /// Another type, length or range than the method's.
    #[error("not of the method's shape")]
    Shape,
    /// The block asked for is not there.
    #[error("a block that it should have is missing")]
    NoBlock,
    /// A log of another contract, kind or block than asked for, or one that was removed.
    #[error("a log that was not asked for")]
    OtherLog,
    /// Logs that are not in the order of the chain, or twice.
    #[error("logs out of order")]
    Order,
    /// Events and root contradict each other.
    #[error("events and root do not fit together")]
    Root,
    /// A membership whose leaf is another's.
    #[error("a membership with another leaf")]
    Leaf,
    /// A path that does not lead from the leaf to the root.
    #[error("a path that does not lead to the root")]
    Path,
    /// None of the blocks that were known before.
    #[error("none of the known blocks")]
    Foreign,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// The URL cannot be used.
    #[error("endpoint {url:?} is no URL; give http://, https://, ws:// or wss://")]
    Url {
        /// As given.
        url: String,
    },
    /// No connection, or it broke.
    #[error("cannot be reached ({detail}); check the URL and the network")]
    Unreachable {
        /// What the transport says.
        detail: String,
    },
    /// No answer in time.
    #[error("no answer within {after_ms} ms")]
    Timeout {
        /// How long was waited.
        after_ms: u64,
    },
    /// The endpoint asks for less (HTTP 429, or its JSON-RPC code).
    #[error("asks for fewer requests; a plan with more, or a second endpoint, helps")]
    Busy {
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// Another HTTP status than 200.
    #[error("HTTP status {status}; check the URL and its key")]
    Status {
        /// The status.
        status: u16,
    },
    /// The answer is longer than allowed.
    #[error("an answer of more than {max_bytes} bytes")]
    TooLong {
        /// The bound.
        max_bytes: u64,
    },
    /// The endpoint refuses the request.
    #[error("refused with code {code}: {message}")]
    Refused {
        /// JSON-RPC's code.
        code: i64,
        /// The endpoint's words, cut short.
        message: String,
    },
    /// The endpoint is of another chain.
    #[error("is of chain {found}, not {expected}; give an endpoint of that chain")]
    OtherChain {
        /// Its chain.
        found: u64,
        /// The contract's.
        expected: u64,
    },
    /// The newest block is older than what is known.
    #[error("is {blocks} blocks behind")]
    Behind {
        /// How many.
        blocks: u64,
    },
    /// The answer cannot be right.
    #[error("a wrong answer: {fault}")]
    Nonsense {
        /// What is wrong.
        fault: Fault,
    },
}

impl RpcError {
    /// Whether asking for less may help.
    pub(in crate::evm) fn may_be_too_much(&self) -> bool {
        matches!(
            self,
            Self::TooLong { .. } | Self::Refused { .. } | Self::Status { status: 413 }
        )
    }
}
