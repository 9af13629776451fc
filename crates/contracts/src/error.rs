//! Why something on the chain did not happen.

use std::time::Duration;

use alloy::primitives::{Address, TxHash};
use alloy::transports::TransportError;

use crate::artifact::ArtifactError;
use crate::refusal::Refusal;

/// By who is at fault: the caller, the endpoint, the contract, the chain.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// Not the address of an endpoint. It is not repeated: it may hold a key.
    #[error(
        "not the address of an RPC endpoint; write it as http://HOST:PORT or https://HOST/PATH"
    )]
    Endpoint,
    /// The endpoint cannot be reached or does not answer as it should.
    #[error(
        "{method} failed at the RPC endpoint: {source}; is it running, and is this its address?"
    )]
    Rpc {
        /// What was asked.
        method: &'static str,
        /// What came back.
        source: Box<TransportError>,
    },
    /// The answer cannot be read.
    #[error(
        "{function} of contract {contract} gave an answer that cannot be read: is it a membership \
         contract, and is it on this chain?"
    )]
    Answer {
        /// The function called.
        function: &'static str,
        /// The contract.
        contract: Address,
    },
    /// The contract says no.
    #[error("the contract refuses: {0}")]
    Refused(Refusal),
    /// It was sent, and is in no block yet.
    #[error(
        "transaction {hash} is in no block after {} s; it may come later: look it up before \
         sending it again",
        waited.as_secs()
    )]
    NotMined {
        /// The transaction.
        hash: TxHash,
        /// How long it was waited for.
        waited: Duration,
    },
    /// It is in a block, and failed there without a reason that could be learnt.
    #[error("transaction {hash} failed in block {block}; it may have run out of gas")]
    Failed {
        /// The transaction.
        hash: TxHash,
        /// The block.
        block: u64,
    },
    /// It is in a block, and what it was to bring about is not in its receipt.
    #[error("transaction {hash} left no {event}: {contract} is no membership contract")]
    NoEvent {
        /// The transaction.
        hash: TxHash,
        /// What was looked for.
        event: &'static str,
        /// The contract.
        contract: Address,
    },
    /// The contract to deploy cannot be made ready.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
}

impl ChainError {
    /// The contract's reason, when that is what went wrong.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}
