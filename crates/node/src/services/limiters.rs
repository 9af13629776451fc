//! Limits on the requests of peers to this node's services.

use libp2p::PeerId;
use undertone_gossip::Time;
use undertone_services::rate_limit::{LimitedService, RateLimiter, RateLimiterLimits, RateLimits};
use undertone_services::{filter, lightpush, peer_exchange, rendezvous, store};

/// Limiter of each service.
pub(super) struct ServiceLimiters {
    store: RateLimiter<PeerId>,
    filter: RateLimiter<PeerId>,
    lightpush: RateLimiter<PeerId>,
    exchange: RateLimiter<PeerId>,
    rendezvous: RateLimiter<PeerId>,
}

impl ServiceLimiters {
    pub(super) fn new(limits: &RateLimits) -> Self {
        let shared =
            |service| RateLimiter::shared(limits.of(service), RateLimiterLimits::default());
        let per_peer =
            |service| RateLimiter::per_peer(limits.of(service), RateLimiterLimits::default());
        Self {
            store: shared(LimitedService::Store),
            filter: per_peer(LimitedService::Filter),
            lightpush: shared(LimitedService::Lightpush),
            exchange: shared(LimitedService::PeerExchange),
            rendezvous: per_peer(LimitedService::Rendezvous),
        }
    }

    /// Counts a request, and returns whether it is to be served.
    pub(super) fn allow(&mut self, now: Time, protocol: &str, peer: PeerId) -> bool {
        let limiter = match protocol {
            store::PROTOCOL_ID => &mut self.store,
            filter::SUBSCRIBE_PROTOCOL_ID => &mut self.filter,
            lightpush::PROTOCOL_ID | lightpush::legacy::PROTOCOL_ID => &mut self.lightpush,
            peer_exchange::PROTOCOL_ID => &mut self.exchange,
            rendezvous::PROTOCOL_ID => &mut self.rendezvous,
            // No other protocol is accepted.
            _ => return false,
        };
        limiter.allow(now, peer)
    }
}
