//! Errors of operations on the chain.

use std::time::Duration;

use alloy::primitives::{Address, TxHash};
use alloy::transports::TransportError;

use crate::artifact::ArtifactError;
use crate::refusal::Refusal;

/// Error of an operation on the chain, grouped by who is at fault: caller, endpoint, contract or chain.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The URL is not that of an endpoint. The text does not repeat it, because it may contain a key.
    #[error(
        "not the address of an RPC endpoint; write it as http://HOST:PORT or https://HOST/PATH"
    )]
    Endpoint,
    /// The endpoint cannot be reached, or its answer is not valid.
    #[error(
        "{method} failed at the RPC endpoint: {source}; is it running, and is this its address?"
    )]
    Rpc {
        /// JSON-RPC method of the request.
        method: &'static str,
        /// Error of the transport or of the endpoint.
        source: Box<TransportError>,
    },
    /// The result of a contract's function cannot be decoded.
    #[error(
        "{function} of contract {contract} gave an answer that cannot be read: is it a membership \
         contract, and is it on this chain?"
    )]
    Answer {
        /// Signature of the function that was called.
        function: &'static str,
        /// Address of the contract.
        contract: Address,
    },
    /// The contract reverted the transaction, with a reason.
    #[error("the contract refuses: {0}")]
    Refused(Refusal),
    /// The transaction was sent, but is not in a block yet.
    #[error(
        "transaction {hash} is in no block after {} s; it may come later: look it up before \
         sending it again",
        waited.as_secs()
    )]
    NotMined {
        /// Hash of the transaction.
        hash: TxHash,
        /// Time for which the receipt was waited for.
        waited: Duration,
    },
    /// The transaction is in a block and failed there, without a known reason.
    #[error("transaction {hash} failed in block {block}; it may have run out of gas")]
    Failed {
        /// Hash of the transaction.
        hash: TxHash,
        /// Number of the block.
        block: u64,
    },
    /// The transaction is in a block, but the expected event is not in its receipt.
    #[error("transaction {hash} emitted no {event}: {contract} is not a membership contract")]
    NoEvent {
        /// Hash of the transaction.
        hash: TxHash,
        /// Signature of the expected event.
        event: &'static str,
        /// Address of the contract.
        contract: Address,
    },
    /// The artifact of a contract to deploy cannot be used.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
}

impl ChainError {
    /// Returns the contract's reason, if the contract refused the transaction.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}
