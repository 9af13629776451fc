//! Topics of a network as the program names them.

use undertone_message::PubsubTopic;
use undertone_node::config::NodeConfig;
use undertone_services::sharding::Sharding;

use crate::error::NodeError;
use crate::inbox::WantedTopic;

/// Topics of a node's network.
pub(crate) struct NetworkTopics {
    sharding: Sharding,
}

impl NetworkTopics {
    pub(crate) fn new(config: &NodeConfig) -> Self {
        let shards = config.network.num_shards;
        Self {
            sharding: Sharding {
                cluster: config.network.cluster_id,
                num_shards: config.autosharding.then_some(shards),
            },
        }
    }

    /// Returns the pubsub topic that was named, or the one that carries the content topic.
    pub(crate) fn one(
        &self,
        named: Option<&str>,
        content_topic: &str,
    ) -> Result<PubsubTopic, NodeError> {
        match named {
            Some(named) => parse(named),
            None => {
                let derived = self.sharding.derive(content_topic);
                parse(&derived.map_err(|error| NodeError::argument("content_topic", error))?)
            }
        }
    }

    /// Returns what a subscription to these topics wants.
    pub(crate) fn wanted(
        &self,
        content_topics: &[String],
        named: Option<&str>,
    ) -> Result<Vec<WantedTopic>, NodeError> {
        if content_topics.is_empty() {
            let Some(named) = named else {
                let reason = "none given, and no pubsub_topic; name one of the two";
                return Err(NodeError::argument("content_topics", reason));
            };
            return Ok(vec![(parse(named)?, None)]);
        }
        let wanted = content_topics.iter().map(|content_topic| {
            let topic = self.one(named, content_topic)?;
            Ok((topic, Some(content_topic.as_str().into())))
        });
        wanted.collect()
    }
}

fn parse(topic: &str) -> Result<PubsubTopic, NodeError> {
    PubsubTopic::parse_any(topic).map_err(|error| NodeError::argument("pubsub_topic", error))
}
