//! Errors of endpoints, grouped by what can be done about them.

use std::time::Duration;

use alloy::primitives::Address;

/// The defect of an invalid answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerFault {
    /// The answer is not JSON, or not a JSON-RPC 2.0 answer to the request.
    #[error("not a JSON-RPC answer")]
    Json,
    /// The result has a type, length or range that the method cannot return.
    #[error("the result has the wrong type, length or range")]
    Shape,
    /// The requested block is missing.
    #[error("a block that it should have is missing")]
    NoBlock,
    /// A log is of another contract, kind or block than requested, or was removed.
    #[error("a log that was not asked for")]
    OtherLog,
    /// Logs are not in the order of the chain, or repeated.
    #[error("logs out of order")]
    Order,
    /// A block's time is earlier than that of a block before it, or later than that of a block after it.
    #[error("the times of blocks are out of order")]
    Time,
    /// The events do not lead to the contract's root.
    #[error("the events do not lead to the contract's root")]
    Root,
    /// A membership's leaf does not match its commitment and limit.
    #[error("a membership with another leaf")]
    Leaf,
    /// A Merkle path does not lead from the leaf to the root.
    #[error("a path that does not lead to the root")]
    Path,
    /// The endpoint's chain has none of the known blocks.
    #[error("the chain has none of the known blocks")]
    UnknownFork,
}

/// Error of a request to an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// The URL cannot be used.
    #[error("endpoint {url:?} is not a URL; give http://, https://, ws:// or wss://")]
    Url {
        /// Scheme and host of the URL, or only the host if it resolves to no address. The rest may contain a
        /// key.
        url: String,
    },
    /// The connection could not be made, or broke.
    #[error("cannot be reached ({detail}); check the URL and the network")]
    Unreachable {
        /// Error text of the transport.
        detail: String,
    },
    /// The endpoint did not answer in time.
    #[error("no answer within {after_ms} ms")]
    Timeout {
        /// Timeout of the request, in milliseconds.
        after_ms: u64,
    },
    /// The endpoint limits the request rate (HTTP 429, or its JSON-RPC error code).
    #[error("asks for fewer requests; a plan with more, or a second endpoint, helps")]
    Busy {
        /// Time that the endpoint asks to wait.
        retry_after: Option<Duration>,
    },
    /// The HTTP status is not 200, 400 (whose body is read) or 429.
    #[error("HTTP status {status}; check the URL and its key")]
    Status {
        /// The HTTP status code.
        status: u16,
    },
    /// The answer is longer than allowed.
    #[error("an answer of more than {max_bytes} bytes")]
    TooLong {
        /// Maximum length of an answer, in bytes.
        max_bytes: u64,
    },
    /// The endpoint refuses the request.
    #[error("refused with code {code}: {message}")]
    Refused {
        /// JSON-RPC code of the error.
        code: i64,
        /// The endpoint's error message, truncated.
        message: String,
    },
    /// The endpoint serves another chain.
    #[error("is of chain {found}, not {expected}; give an endpoint of that chain")]
    OtherChain {
        /// Chain id of the endpoint.
        found: u64,
        /// Chain id of the contract.
        expected: u64,
    },
    /// The address has no code on the endpoint's chain, or a contract without the functions of a
    /// membership contract.
    #[error(
        "no membership contract at {address} on chain {chain_id}; check the address and the chain, \
         and that the endpoint has all blocks"
    )]
    NoContract {
        /// Address that was asked.
        address: Address,
        /// Chain id of the contract.
        chain_id: u64,
    },
    /// The endpoint's newest block is older than the newest known block.
    #[error("is {blocks} blocks behind")]
    Behind {
        /// Number of blocks that the endpoint is behind.
        blocks: u64,
    },
    /// The answer is invalid.
    #[error("invalid answer: {fault}")]
    InvalidAnswer {
        /// The defect of the answer.
        fault: AnswerFault,
    },
}

impl RpcError {
    /// Whether a request for fewer blocks or leaves may succeed.
    pub(in crate::evm) fn may_be_too_much(&self) -> bool {
        matches!(
            self,
            Self::TooLong { .. } | Self::Refused { .. } | Self::Status { status: 413 }
        )
    }
}
