//! Limiter of one service.

use std::{collections::BTreeMap, time::Duration};

use undertone_gossip::Time;

use super::{LimitedService, RateLimit, RateLimits, bucket::Bucket, fair::FairBudget};
use crate::PeerNo;

#[cfg(test)]
#[path = "tests/limiter.rs"]
mod tests;

/// Bounds on what a [`RateLimiter`] remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimiterLimits {
    /// Maximum number of peers remembered. Beyond, the peer is forgotten whose last request is the
    /// longest ago, or that has used the least of what all share; it then begins with its full share again.
    pub max_peers: usize,
}

impl Default for RateLimiterLimits {
    fn default() -> Self {
        Self { max_peers: 4096 }
    }
}

/// Limiter of the requests to one service. It needs no timer.
///
/// Peers are named by `K`. The name should outlive a connection, as a peer id does; else a peer would
/// get a full share by reconnecting.
#[derive(Debug)]
pub struct RateLimiter<K = PeerNo>(Kind<K>);

#[derive(Debug)]
enum Kind<K> {
    /// Everything is served.
    Unlimited,
    /// All peers share one limit.
    Shared(FairBudget<K>),
    /// Each peer has a limit of its own.
    PerPeer(PeerBuckets<K>),
}

/// Buckets of peers that do not share anything.
#[derive(Debug)]
struct PeerBuckets<K> {
    limits: RateLimiterLimits,
    limit: RateLimit,
    peers: BTreeMap<K, PeerBucket>,
    /// Peers by last request, the longest ago first.
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
    /// Creates the limiter of a service: of each peer's requests to filter and rendezvous, of all together to others.
    pub fn of_service(service: LimitedService, limits: &RateLimits) -> Self {
        let (limit, bounds) = (limits.of(service), RateLimiterLimits::default());
        match service {
            LimitedService::Filter | LimitedService::Rendezvous => Self::per_peer(limit, bounds),
            LimitedService::Store | LimitedService::Lightpush | LimitedService::PeerExchange => {
                Self::shared(limit, bounds)
            }
        }
    }

    /// Creates a limiter of all requests together, which are divided fairly among the peers that send some.
    ///
    /// The number of requests at once is the volume, stretched tenfold for periods of up to a second, threefold for those
    /// of up to a minute, else twofold (nwaku); only the volume itself at first. A peer alone gets more than half of
    /// them. The rate goes in equal parts to the peers that ask for more than theirs; what others do not use is theirs,
    /// too.
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

    /// Creates a limiter of the requests of each peer, however many peers there are, as for filter.
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

    /// Counts a request of a peer, and returns whether it is to be served. A refused one costs nothing.
    pub fn allow(&mut self, now: Time, peer: K) -> bool {
        match &mut self.0 {
            Kind::Unlimited => true,
            Kind::Shared(budget) => budget.allow(now, peer),
            Kind::PerPeer(buckets) => buckets.allow(now, peer),
        }
    }

    /// Whether the limiter remembers a peer, which would have its full share again under another name.
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

    /// Moves a peer to the end of the order of last requests. The bucket of a new peer is full.
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

    /// Forgets peers whose bucket has become full since their last request: they are as new.
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
