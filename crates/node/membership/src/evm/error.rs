//! Error of starting to follow a contract.

use super::rpc::RpcError;
use crate::storage::StorageError;

/// Error of starting to follow a contract.
#[derive(Debug, thiserror::Error)]
pub enum EvmError {
    /// The URL of an endpoint cannot be used.
    #[error("endpoint list: {error}")]
    Endpoint {
        /// The reason why the URL cannot be used, with its host.
        error: RpcError,
    },
    /// The configuration names no endpoint.
    #[error("no endpoint; give the URL of at least one")]
    NoEndpoint,
    /// The file with the follower's state cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The operating system refused to start a thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}
