use std::io;

use libp2p::swarm::{DialError, StreamProtocol};
use libp2p::{Multiaddr, TransportError, noise};
use libp2p_stream::OpenStreamError;
use thiserror::Error;

/// What went wrong with a raw peer.
#[derive(Debug, Error)]
pub enum RawError {
    /// No handshake is possible with the own key.
    #[error("noise: {0}")]
    Noise(#[from] noise::Error),
    /// The own address cannot be listened on.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: Multiaddr,
        /// What the transport said.
        source: TransportError<io::Error>,
    },
    /// The other side cannot be reached.
    #[error("cannot connect to {addr}: {source}")]
    Dial {
        /// Its address.
        addr: Multiaddr,
        /// Why not.
        source: Box<DialError>,
    },
    /// The other side is connected and takes no stream.
    #[error("no stream of {protocol}: {source}; let both sides speak the same protocol")]
    Stream {
        /// The protocol id.
        protocol: StreamProtocol,
        /// What it answered.
        source: OpenStreamError,
    },
    /// The connection ended while it was written to.
    #[error("cannot send: {0}")]
    Send(io::Error),
    /// The swarm ended before there was a connection.
    #[error("the connection closed before it was of use")]
    Closed,
    /// The other side did not do in time what was expected of it.
    #[error("no {waiting_for} within {deadline_s} s")]
    Late {
        /// What was expected.
        waiting_for: &'static str,
        /// How long it was given, in seconds.
        deadline_s: u64,
    },
}
