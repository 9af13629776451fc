//! Metadata: a peer's cluster and shards, which decide whether a connection to it is kept.
//!
//! Both ends of a connection ask. The frames are [`WakuMetadata`]. [`MetadataExchange`] limits requests in both
//! directions, and [`judge`] decides what a peer's answer means for the connection.

use std::time::Duration;

use undertone_gossip::Time;
use undertone_message::WakuMetadata;

use crate::rate_limit::{RateLimit, RateLimiter, RateLimiterLimits};

#[cfg(test)]
#[path = "tests/metadata.rs"]
mod tests;

/// Identifier of the protocol.
pub const PROTOCOL_ID: &str = "/vac/waku/metadata/1.0.0";

/// Limits of metadata for each peer.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MetadataLimits {
    /// Requests answered per peer; the streams of further ones are closed. js-waku sends several at once.
    pub answered: RateLimit,
    /// Requests sent per peer, one for each identification that it sends.
    pub asked: RateLimit,
    /// Limits on the number of remembered peers.
    pub remembered: RateLimiterLimits,
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

/// Request budget for metadata of all peers. `P` should outlive connections, as a peer id does, so that a peer does
/// not get a full share by reconnecting.
#[derive(Debug)]
pub struct MetadataExchange<P> {
    answered: RateLimiter<P>,
    asked: RateLimiter<P>,
}

impl<P: Copy + Ord> MetadataExchange<P> {
    /// Creates an unspent budget.
    pub fn new(limits: MetadataLimits) -> Self {
        Self {
            answered: RateLimiter::per_peer(limits.answered, limits.remembered),
            asked: RateLimiter::per_peer(limits.asked, limits.remembered),
        }
    }

    /// Counts a request from a peer, and returns whether to answer it.
    pub fn may_answer(&mut self, now: Time, peer: P) -> bool {
        self.answered.allow(now, peer)
    }

    /// Counts a request to a peer, and returns whether to send it.
    pub fn may_ask(&mut self, now: Time, peer: P) -> bool {
        self.asked.allow(now, peer)
    }
}

/// Consequence of a peer's metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataVerdict {
    /// The peer belongs to this other cluster, so the connection must be closed.
    OtherCluster(u32),
    /// The peer stays and takes part in these shards. A light client may name neither cluster nor shards.
    Shards(Vec<u16>),
}

/// Judges a peer by its metadata. Shards above 65,535 are ignored, as no topic has them.
pub fn judge(our_cluster: u16, theirs: &WakuMetadata) -> MetadataVerdict {
    let is_other = |cluster: &u32| *cluster != u32::from(our_cluster);
    if let Some(cluster) = theirs.cluster_id.filter(is_other) {
        return MetadataVerdict::OtherCluster(cluster);
    }
    let shards = theirs.shards.iter();
    MetadataVerdict::Shards(
        shards
            .filter_map(|shard| u16::try_from(*shard).ok())
            .collect(),
    )
}
