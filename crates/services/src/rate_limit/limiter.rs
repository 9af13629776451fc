//! Limiter of one service.

use std::{collections::BTreeMap, time::Duration};

use undertone_gossip::Time;

use super::{RateLimit, bucket::Bucket};
use crate::PeerNo;

#[cfg(test)]
mod tests;

/// Bounds on what a [`RateLimiter`] remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimiterLimits {
    /// Maximum number of peers remembered. Beyond, the peer is forgotten whose last request is the
    /// longest ago; it then begins with its full share again.
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
pub struct RateLimiter<K = PeerNo> {
    limits: RateLimiterLimits,
    /// Limit of each peer; `None` when everything is served.
    peer_limit: Option<RateLimit>,
    /// Bucket of all peers; `None` when only each peer is limited.
    total: Option<Total>,
    peers: BTreeMap<K, PeerBucket>,
    /// Peers by last request, the longest ago first.
    by_use: BTreeMap<u64, (Time, K)>,
    next_use: u64,
}

/// Bucket of all peers.
#[derive(Debug)]
struct Total {
    limit: RateLimit,
    capacity: u64,
    /// `None` before the first request.
    bucket: Option<Bucket>,
}

/// Bucket of a peer, and its place in the order of last requests.
#[derive(Debug)]
struct PeerBucket {
    bucket: Bucket,
    last_use: u64,
}

impl<K: Ord + Copy> RateLimiter<K> {
    /// Creates a limiter of all requests together, of which each peer has at most three quarters.
    ///
    /// Volume and period are both stretched, tenfold for periods of up to a second, threefold for those
    /// of up to a minute, else twofold: the rate stays, and bursts get room (nwaku). A peer that is new begins with
    /// three quarters of the requests that are left at its first one, so that no peer alone empties what all share.
    pub fn shared(limit: RateLimit, limits: RateLimiterLimits) -> Self {
        let stretch: u32 = match limit.period {
            period if period <= Duration::from_secs(1) => 10,
            period if period <= Duration::from_secs(60) => 3,
            _ => 2,
        };
        let capacity = u64::from(limit.volume) * u64::from(stretch);
        let peer_limit = RateLimit {
            volume: u32::try_from(capacity * 3 / 4).unwrap_or(u32::MAX),
            period: limit.period.saturating_mul(stretch),
        };
        let total = Total {
            limit,
            capacity,
            bucket: None,
        };
        let mut limiter = Self::per_peer(peer_limit, limits);
        limiter.total = Some(total);
        limiter
    }

    /// Creates a limiter of the requests of each peer, however many peers there are, as for filter.
    pub fn per_peer(limit: RateLimit, limits: RateLimiterLimits) -> Self {
        Self {
            limits,
            peer_limit: (!limit.is_unlimited()).then_some(limit),
            total: None,
            peers: BTreeMap::new(),
            by_use: BTreeMap::new(),
            next_use: 0,
        }
    }

    /// Counts a request of a peer, and returns whether it is to be served. A refused one costs nothing.
    pub fn allow(&mut self, now: Time, peer: K) -> bool {
        let Some(limit) = self.peer_limit else {
            return true;
        };
        self.forget_idle(now, &limit);
        self.touch(now, peer, &limit);
        let Some(PeerBucket { bucket, .. }) = self.peers.get_mut(&peer) else {
            return false; // no peer may be remembered
        };
        let has = bucket.fill(now, &limit, u64::from(limit.volume));
        let allowed = has && self.total.as_mut().is_none_or(|total| total.take(now));
        if allowed {
            bucket.take(&limit);
        }
        allowed
    }

    /// Returns the number of peers that the limiter remembers.
    pub fn peers(&self) -> usize {
        debug_assert_eq!(self.peers.len(), self.by_use.len());
        self.peers.len()
    }

    /// Moves a peer to the end of the order of last requests. The bucket of a new peer is full, or has its share of what
    /// is left for all.
    fn touch(&mut self, now: Time, peer: K, limit: &RateLimit) {
        self.next_use += 1;
        let left = self.total.as_mut().map(|total| total.left(now));
        let entry = self.peers.entry(peer).or_insert_with(|| {
            let full = u64::from(limit.volume);
            // Half a request is none: the last one goes to the peer that asks for it.
            let first = left.map_or(full, |left| full.min((left * 3).div_ceil(4)));
            PeerBucket {
                bucket: Bucket::new(now, limit, first),
                last_use: self.next_use,
            }
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
    fn forget_idle(&mut self, now: Time, limit: &RateLimit) {
        while let Some(first) = self.by_use.first_entry() {
            let (at, peer) = *first.get();
            if now.since(at) < limit.period {
                break;
            }
            first.remove();
            self.peers.remove(&peer);
        }
    }
}

impl Total {
    /// Number of requests that all peers together may send now.
    fn left(&mut self, now: Time) -> u64 {
        let (limit, bucket) = self.filled(now);
        bucket.tokens(limit)
    }

    /// Takes a token, if there is one.
    fn take(&mut self, now: Time) -> bool {
        let (limit, bucket) = self.filled(now);
        let has = bucket.tokens(limit) > 0;
        if has {
            bucket.take(limit);
        }
        has
    }

    /// Fills the bucket. It begins with the volume, not with the capacity, so that the first burst is as configured
    /// (nwaku).
    fn filled(&mut self, now: Time) -> (&RateLimit, &mut Bucket) {
        let limit = &self.limit;
        let new = || Bucket::new(now, limit, u64::from(limit.volume));
        let bucket = self.bucket.get_or_insert_with(new);
        bucket.fill(now, limit, self.capacity);
        (limit, bucket)
    }
}
