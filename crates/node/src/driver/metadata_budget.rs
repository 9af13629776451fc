//! Budget of metadata: how often a peer is answered, and how often it is asked.

use std::time::Duration;

use libp2p::PeerId;
use undertone_gossip::Time;
use undertone_services::rate_limit::{RateLimit, RateLimiter, RateLimiterLimits};

/// Limits of metadata for each peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataLimits {
    /// Questions of a peer that are answered; further ones lose their stream. js-waku asks several times at once.
    pub(crate) answered: RateLimit,
    /// Questions to a peer, one for each identification that it sends.
    pub(crate) asked: RateLimit,
    /// Bounds on the peers that are remembered.
    pub(crate) remembered: RateLimiterLimits,
}

impl Default for MetadataLimits {
    fn default() -> Self {
        let each_minute = |volume| RateLimit {
            volume,
            period: Duration::from_secs(60),
        };
        Self {
            answered: each_minute(60),
            asked: each_minute(10),
            remembered: RateLimiterLimits::default(),
        }
    }
}

/// Budget of metadata of all peers. Peer ids outlive connections, so that a peer does not get a full share by reconnecting.
#[derive(Debug)]
pub(crate) struct MetadataBudget {
    answered: RateLimiter<PeerId>,
    asked: RateLimiter<PeerId>,
}

impl MetadataBudget {
    pub(crate) fn new(limits: MetadataLimits) -> Self {
        Self {
            answered: RateLimiter::per_peer(limits.answered, limits.remembered),
            asked: RateLimiter::per_peer(limits.asked, limits.remembered),
        }
    }

    /// Counts a question of a peer, and returns whether it is answered.
    pub(crate) fn may_answer(&mut self, now: Time, peer: PeerId) -> bool {
        self.answered.allow(now, peer)
    }

    /// Counts a question to a peer, and returns whether it is sent.
    pub(crate) fn may_ask(&mut self, now: Time, peer: PeerId) -> bool {
        self.asked.allow(now, peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_peer_has_a_burst_and_then_its_rate() {
        let limits = MetadataLimits::default();
        let mut budget = MetadataBudget::new(limits);
        let (greedy, other) = (PeerId::random(), PeerId::random());
        let volume = limits.answered.volume as usize;
        let mut served = |at_s, peer, count: usize| {
            let now = Time::ZERO.after(Duration::from_secs(at_s));
            (0..count).filter(|_| budget.may_answer(now, peer)).count()
        };
        assert_eq!(served(0, greedy, 10 * volume), volume);
        assert_eq!(
            served(0, other, 1),
            1,
            "another peer does not pay for that one"
        );
        assert_eq!(served(1, greedy, volume), volume / 60);
        assert_eq!(served(120, greedy, 10 * volume), volume);
    }

    #[test]
    fn a_peer_that_keeps_identifying_itself_is_asked_some_times() {
        let limits = MetadataLimits::default();
        let mut budget = MetadataBudget::new(limits);
        let peer = PeerId::random();
        let asked = (0..1_000).filter(|_| budget.may_ask(Time::ZERO, peer));
        assert_eq!(asked.count(), limits.asked.volume as usize);
        assert!(
            budget.may_answer(Time::ZERO, peer),
            "it may ask all the same"
        );
    }
}
