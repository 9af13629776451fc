//! Shards of a network: how a server derives a topic when a request names none.

use std::{num::NonZeroU16, sync::Arc};

use thiserror::Error;
use undertone_message::{ContentTopic, ContentTopicError, Shard, shard_of};

#[cfg(test)]
#[path = "tests/sharding.rs"]
mod tests;

/// Cluster and number of shards of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharding {
    /// Cluster id of the network.
    pub cluster: u16,
    /// Number of shards over which autosharding spreads content topics; `None` on a network with
    /// static shards only, where every request must name its topic.
    pub num_shards: Option<NonZeroU16>,
}

/// Reason why a request has no usable pubsub topic.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ShardingError {
    /// No topic is named, and the network has static shards only.
    #[error("Pubsub topic must be specified when static sharding is enabled")]
    TopicRequired,
    /// No topic is named, and the content topic has not the form of RFC 23.
    #[error("Invalid content-topic: {0}")]
    ContentTopic(#[from] ContentTopicError),
}

impl Sharding {
    /// Returns the pubsub topic of a content topic by autosharding (RFC 51).
    ///
    /// # Errors
    /// [`ShardingError`] when the network has static shards only, or the content topic is not valid.
    pub fn derive(&self, content_topic: &str) -> Result<Arc<str>, ShardingError> {
        let num_shards = self.num_shards.ok_or(ShardingError::TopicRequired)?;
        let shard = Shard {
            cluster: self.cluster,
            index: shard_of(&ContentTopic::parse(content_topic)?, num_shards),
        };
        Ok(shard.to_string().into())
    }
}
