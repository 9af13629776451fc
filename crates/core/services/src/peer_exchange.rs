//! Peer exchange: addresses of other nodes on request.
//!
//! [`PeerExchangeServer`] serves clients; clients use the frames [`PeerExchangeRequest`] and
//! [`PeerExchangeResponse`].

mod codec;
mod server;

pub use codec::{
    PeerExchangeCodecLimits, PeerExchangeRequest, PeerExchangeResponse, PeerExchangeStatus,
};
pub use server::{Input, Output, PeerExchangeLimits, PeerExchangeServer, PeerExchangeStats};

/// Identifier of the protocol.
pub const PROTOCOL_ID: &str = "/vac/waku/peer-exchange/2.0.0-alpha1";

/// Number of node records that clients ask for, and that a server returns when a request names no
/// number (nwaku).
pub const NUM_PEERS_DEFAULT: usize = 5;
