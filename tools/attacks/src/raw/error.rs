use std::io;

use libp2p::swarm::{DialError, StreamProtocol};
use libp2p::{Multiaddr, TransportError, noise};
use libp2p_stream::OpenStreamError;
use thiserror::Error;

/// Errors of a raw peer.
#[derive(Debug, Error)]
pub enum RawError {
    /// The noise handshake cannot be set up with this peer's key.
    #[error("noise: {0}")]
    Noise(#[from] noise::Error),
    /// This peer cannot listen on its address.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// Address to listen on.
        addr: Multiaddr,
        /// Error of the transport.
        source: TransportError<io::Error>,
    },
    /// The other side cannot be reached.
    #[error("cannot connect to {addr}: {source}")]
    Dial {
        /// Address of the other side.
        addr: Multiaddr,
        /// Reason of the failed dial.
        source: Box<DialError>,
    },
    /// The other side is connected but accepts no stream.
    #[error("no stream of {protocol}: {source}; let both sides speak the same protocol")]
    Stream {
        /// Id of the requested protocol.
        protocol: StreamProtocol,
        /// Reason of the refusal.
        source: OpenStreamError,
    },
    /// A write to the connection failed.
    #[error("cannot send: {0}")]
    Send(io::Error),
    /// The other side ended a stream without an answer.
    #[error("the stream ended without an answer")]
    NoAnswer,
    /// The swarm or the listener ended before there was a connection.
    #[error("the connection closed before it could be used")]
    Closed,
    /// The other side missed a deadline.
    #[error("no {waiting_for} within {deadline_s} s")]
    Late {
        /// Description of the awaited event.
        waiting_for: &'static str,
        /// Time limit, in seconds.
        deadline_s: u64,
    },
}
