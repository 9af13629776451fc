//! Rate limiter of one service.

use std::{collections::BTreeMap, time::Duration};

use undertone_gossip::Time;

use super::{LimitedService, RateLimit, RateLimits, bucket::Bucket, fair::FairBudget};
use crate::PeerNo;

#[cfg(test)]
#[path = "tests/limiter.rs"]
mod tests;

/// Limits on what a [`RateLimiter`] remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimiterLimits {
    /// Maximum number of peers remembered. Beyond it, the limiter forgets the peer with the oldest last request, or, if
    /// peers share the limit, the one with the smallest debt; that peer then starts with its full share again.
    pub max_peers: usize,
}

impl Default for RateLimiterLimits {
    fn default() -> Self {
        Self { max_peers: 4096 }
    }
}

/// Limiter of the requests to one service. It needs no timer.
///
/// Peers are keyed by `K`. A key should outlive connections, as a peer id does; otherwise a peer gets a full share by
/// reconnecting.
#[derive(Debug)]
pub struct RateLimiter<K = PeerNo>(Kind<K>);

#[derive(Debug)]
enum Kind<K> {
    /// Every request is served.
    Unlimited,
    /// All peers share one limit.
    Shared(FairBudget<K>),
    /// Each peer has a limit of its own.
    PerPeer(PeerBuckets<K>),
}

/// Token buckets of peers with separate limits.
#[derive(Debug)]
struct PeerBuckets<K> {
    limits: RateLimiterLimits,
    limit: RateLimit,
    peers: BTreeMap<K, PeerBucket>,
    /// Peers by last request, the oldest first.
    by_use: BTreeMap<u64, (Time, K)>,
    next_use: u64,
}

/// Bucket of a peer, and its place in the order of last requests.
#[derive(Debug)]
struct PeerBucket {
    bucket: Bucket,
    last_use: u64,
}

impl<K: Ord + Copy> RateLimiter<K> {
    /// Creates the limiter of a service: a limit for each peer for filter and rendezvous, a shared limit for the
    /// others.
    pub fn of_service(service: LimitedService, limits: &RateLimits) -> Self {
        let (limit, bounds) = (limits.of(service), RateLimiterLimits::default());
        match service {
            LimitedService::Filter | LimitedService::Rendezvous => Self::per_peer(limit, bounds),
            LimitedService::Store | LimitedService::Lightpush | LimitedService::PeerExchange => {
                Self::shared(limit, bounds)
            }
        }
    }

    /// Creates a limiter of the total requests, which are divided fairly among the peers that send some.
    ///
    /// The maximum burst is the volume times ten for periods of up to a second, times three for periods of up to a
    /// minute, else times two (nwaku). At first it is only the volume itself. A lone peer gets more than half of the
    /// burst. The rate is divided equally among the peers that ask for more than their share; they also get what others
    /// do not use.
    pub fn shared(limit: RateLimit, limits: RateLimiterLimits) -> Self {
        if limit.is_unlimited() {
            return Self(Kind::Unlimited);
        }
        let stretch: u64 = match limit.period {
            period if period <= Duration::from_secs(1) => 10,
            period if period <= Duration::from_secs(60) => 3,
            _ => 2,
        };
        let capacity = u64::from(limit.volume) * stretch;
        Self(Kind::Shared(FairBudget::new(
            limit,
            capacity,
            limits.max_peers,
        )))
    }

    /// Creates a limiter that limits each peer separately, however many there are, as for filter.
    pub fn per_peer(limit: RateLimit, limits: RateLimiterLimits) -> Self {
        if limit.is_unlimited() {
            return Self(Kind::Unlimited);
        }
        Self(Kind::PerPeer(PeerBuckets {
            limits,
            limit,
            peers: BTreeMap::new(),
            by_use: BTreeMap::new(),
            next_use: 0,
        }))
    }

    /// Counts a request of a peer, and returns whether to serve it. A refused request costs nothing.
    pub fn allow(&mut self, now: Time, peer: K) -> bool {
        match &mut self.0 {
            Kind::Unlimited => true,
            Kind::Shared(budget) => budget.allow(now, peer),
            Kind::PerPeer(buckets) => buckets.allow(now, peer),
        }
    }

    /// Whether the limiter remembers a peer. Under another name the peer would have its full share again.
    pub fn remembers(&self, peer: K) -> bool {
        match &self.0 {
            Kind::Unlimited => false,
            Kind::Shared(budget) => budget.remembers(peer),
            Kind::PerPeer(buckets) => buckets.peers.contains_key(&peer),
        }
    }

    /// Returns the number of peers that the limiter remembers.
    pub fn peers(&self) -> usize {
        match &self.0 {
            Kind::Unlimited => 0,
            Kind::Shared(budget) => budget.peers(),
            Kind::PerPeer(buckets) => buckets.peers(),
        }
    }
}

impl<K: Ord + Copy> PeerBuckets<K> {
    fn allow(&mut self, now: Time, peer: K) -> bool {
        self.forget_idle(now);
        self.touch(now, peer);
        let Some(PeerBucket { bucket, .. }) = self.peers.get_mut(&peer) else {
            return false; // no peer may be remembered
        };
        let allowed = bucket.fill(now, &self.limit, u64::from(self.limit.volume));
        if allowed {
            bucket.take(&self.limit);
        }
        allowed
    }

    fn peers(&self) -> usize {
        debug_assert_eq!(self.peers.len(), self.by_use.len());
        self.peers.len()
    }

    /// Marks a peer as the one that sent the last request. The bucket of a new peer is full.
    fn touch(&mut self, now: Time, peer: K) {
        self.next_use += 1;
        let limit = &self.limit;
        let entry = self.peers.entry(peer).or_insert_with(|| PeerBucket {
            bucket: Bucket::new(now, limit, u64::from(limit.volume)),
            last_use: self.next_use,
        });
        self.by_use.remove(&entry.last_use);
        entry.last_use = self.next_use;
        self.by_use.insert(self.next_use, (now, peer));
        if self.peers.len() > self.limits.max_peers
            && let Some((_, (_, longest_ago))) = self.by_use.pop_first()
        {
            self.peers.remove(&longest_ago);
        }
    }

    /// Forgets peers whose bucket has become full since their last request: they are no different from new ones.
    fn forget_idle(&mut self, now: Time) {
        while let Some(first) = self.by_use.first_entry() {
            let (at, peer) = *first.get();
            if now.since(at) < self.limit.period {
                break;
            }
            first.remove();
            self.peers.remove(&peer);
        }
    }
}
