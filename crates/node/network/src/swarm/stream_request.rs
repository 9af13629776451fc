//! Service streams, exchanged between the behaviour, the connection handlers and the services.

use std::sync::Arc;

use crate::stopped::Stopped;
use libp2p::PeerId;
use libp2p::swarm::{Stream, StreamProtocol};
use thiserror::Error;
use tokio::sync::{Semaphore, oneshot};

/// Stream that a peer opened.
pub struct InboundStream {
    /// Peer that opened the stream.
    pub peer: PeerId,
    /// Protocol that was negotiated.
    pub protocol: StreamProtocol,
    /// The stream itself.
    pub stream: Stream,
    /// Limits the concurrent requests of the connection by this protocol.
    pub turns: Arc<Semaphore>,
}

/// Reason why a stream could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StreamOpenError {
    /// The peer is not connected.
    #[error("not connected")]
    NotConnected,
    /// The peer does not offer the protocol.
    #[error("the peer does not offer {0}")]
    Unsupported(StreamProtocol),
    /// The stream failed while it was set up.
    #[error("{0}")]
    Failed(String),
    /// The node is stopping.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Request for a stream to a peer.
#[derive(Debug)]
pub struct StreamRequest {
    pub(crate) peer: PeerId,
    pub(crate) protocol: StreamProtocol,
    pub(crate) reply: oneshot::Sender<Result<Stream, StreamOpenError>>,
}
