//! Automatic sharding: the shard on which a message belongs (RFC 51).

use std::num::NonZeroU16;

use bytes::Bytes;
use undertone_gossip::{Placement, Topic};
use undertone_message::{ContentTopic, PubsubTopic, WakuMessage, shard_of};

/// Returns the shard that carries a content topic; `None` for a text that automatic sharding cannot map.
pub(crate) fn shard_of_content(content_topic: &str, num_shards: NonZeroU16) -> Option<u16> {
    let topic = ContentTopic::parse(content_topic).ok()?;
    Some(shard_of(&topic, num_shards))
}

/// Whether a message about `content_topic` may be on a pubsub topic. Only a shard can be wrong, and only
/// for a content topic that automatic sharding can map.
pub(crate) fn may_be_on(topic: &PubsubTopic, content_topic: &str, num_shards: NonZeroU16) -> bool {
    let Some(shard) = topic.shard() else {
        return true;
    };
    shard_of_content(content_topic, num_shards).is_none_or(|index| index == shard.index)
}

/// Placement rule by which messages belong on the shards of their content topics.
#[derive(Debug)]
pub(crate) struct ByContentTopic {
    pub(crate) num_shards: NonZeroU16,
}

impl Placement for ByContentTopic {
    fn belongs(&mut self, topic: &Topic, data: &Bytes) -> bool {
        let Ok(topic) = PubsubTopic::parse(topic.as_str()) else {
            return true;
        };
        // Data that cannot be decoded is left to the validator.
        WakuMessage::content_topic_in(data)
            .is_none_or(|content_topic| may_be_on(&topic, content_topic, self.num_shards))
    }
}
