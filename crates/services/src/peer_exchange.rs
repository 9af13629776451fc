//! Peer exchange: addresses of other nodes on request.

mod codec;

pub use codec::{CodecLimits, PeerExchangeRequest, PeerExchangeResponse, Status};

/// Identifier of the protocol.
pub const PROTOCOL_ID: &str = "/vac/waku/peer-exchange/2.0.0-alpha1";
