//! Metadata: cluster and shards of a peer, which decide whether a connection to it is kept.
//!
//! Both ends of a connection ask. The frames are [`WakuMetadata`]; [`MetadataExchange`] says whom to ask and whom to
//! answer, and [`judge`] what follows from what a peer says.

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
    /// Questions of a peer that are answered; further ones lose their stream. js-waku asks several times at once.
    pub answered: RateLimit,
    /// Questions to a peer, one for each identification that it sends.
    pub asked: RateLimit,
    /// Bounds on the peers that are remembered.
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

/// Budget of metadata of all peers. Identities of peers outlive connections, so that a peer does not get a full share
/// by reconnecting.
#[derive(Debug)]
pub struct MetadataExchange<P> {
    answered: RateLimiter<P>,
    asked: RateLimiter<P>,
}

impl<P: Copy + Ord> MetadataExchange<P> {
    /// Makes a budget of which nothing is spent.
    pub fn new(limits: MetadataLimits) -> Self {
        Self {
            answered: RateLimiter::per_peer(limits.answered, limits.remembered),
            asked: RateLimiter::per_peer(limits.asked, limits.remembered),
        }
    }

    /// Counts a question of a peer, and returns whether it is answered.
    pub fn may_answer(&mut self, now: Time, peer: P) -> bool {
        self.answered.allow(now, peer)
    }

    /// Counts a question to a peer, and returns whether it is sent.
    pub fn may_ask(&mut self, now: Time, peer: P) -> bool {
        self.asked.allow(now, peer)
    }
}

/// Consequence of what a peer says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetadataVerdict {
    /// The peer belongs to another network, and the connection is to be closed.
    OtherCluster(u32),
    /// The peer stays; it takes part in these shards. A light client may name neither cluster nor shards.
    Shards(Vec<u16>),
}

/// Judges a peer by its metadata. Shards above 65,535 are passed over, as no topic has them.
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
