//! Protocols on which peers send requests to services.

use crate::filter::{self, FilterCodecLimits};
use crate::lightpush::{self, LightpushCodecLimits};
use crate::peer_exchange::{self, PeerExchangeCodecLimits};
use crate::rate_limit::LimitedService;
use crate::rendezvous::{self, RendezvousCodecLimits};
use crate::store::{self, StoreLimits};

/// Protocol on which a peer sends one request and reads one response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestProtocol {
    /// Store v3.
    Store,
    /// Subscriptions of filter v2.
    Filter,
    /// Lightpush v3.
    Lightpush,
    /// Lightpush v2.
    LegacyLightpush,
    /// Peer exchange.
    PeerExchange,
    /// Rendezvous.
    Rendezvous,
}

impl RequestProtocol {
    /// All protocols.
    pub const ALL: [Self; 6] = [
        Self::Store,
        Self::Filter,
        Self::Lightpush,
        Self::LegacyLightpush,
        Self::PeerExchange,
        Self::Rendezvous,
    ];

    /// Identifier of the protocol.
    pub fn id(self) -> &'static str {
        self.row().0
    }

    /// Service that answers, and under whose rate limit the requests count.
    pub fn service(self) -> LimitedService {
        self.row().1
    }

    /// Maximum length of a request without its length prefix, in bytes.
    pub fn max_request_bytes(self) -> usize {
        self.row().2
    }

    /// Row of the protocol: identifier, service, maximum request length.
    fn row(self) -> (&'static str, LimitedService, usize) {
        let push_bytes = LightpushCodecLimits::default().max_request_bytes;
        match self {
            Self::Store => (
                store::PROTOCOL_ID,
                LimitedService::Store,
                StoreLimits::default().max_request_bytes,
            ),
            Self::Filter => (
                filter::SUBSCRIBE_PROTOCOL_ID,
                LimitedService::Filter,
                FilterCodecLimits::default().max_request_bytes,
            ),
            Self::Lightpush => (
                lightpush::PROTOCOL_ID,
                LimitedService::Lightpush,
                push_bytes,
            ),
            Self::LegacyLightpush => (
                lightpush::legacy::PROTOCOL_ID,
                LimitedService::Lightpush,
                push_bytes,
            ),
            Self::PeerExchange => (
                peer_exchange::PROTOCOL_ID,
                LimitedService::PeerExchange,
                PeerExchangeCodecLimits::default().max_request_bytes,
            ),
            Self::Rendezvous => (
                rendezvous::PROTOCOL_ID,
                LimitedService::Rendezvous,
                RendezvousCodecLimits::default().max_request_bytes,
            ),
        }
    }
}
