//! Resolves the shards that a node joins, and their content topics.

use undertone_message::pubsub_topic::MAX_SHARD_INDEX;
use undertone_message::{ContentTopic, NetworkPreset, Shard, shard_of};

use super::Resolver;
use crate::config::{ConfigError, ShardBandwidth};

/// Most content topics in a configuration; the REST cache holds no more.
const CONTENT_TOPICS_MAX: usize = 4096;

impl Resolver {
    /// Whether automatic sharding is used: as in nwaku, zero shards in the network mean static sharding.
    pub(super) fn autosharding(&self) -> bool {
        !self.raw.num_shards_in_network.is(&0)
    }

    /// Returns the content topics to join, each with its shard.
    pub(super) fn content_topics(
        &self,
        network: &NetworkPreset,
    ) -> Result<Vec<(String, Shard)>, ConfigError> {
        let topics = self.raw.content_topics.get()?.unwrap_or_default();
        let bad = |expected: String| self.raw.content_topics.bad_because(expected);
        if !topics.is_empty() && !self.autosharding() {
            let expected = "none with num-shards-in-network = 0: no shard carries them by itself";
            return Err(bad(expected.to_owned()));
        }
        if topics.len() > CONTENT_TOPICS_MAX {
            return Err(bad(format!("at most {CONTENT_TOPICS_MAX} content topics")));
        }
        let carried = |text: String| {
            let topic = ContentTopic::parse(&text)
                .map_err(|e| bad(format!("content topics; {text:?} is not one ({e})")))?;
            let shard = Shard {
                cluster: network.cluster_id,
                index: shard_of(&topic, network.num_shards),
            };
            Ok((text, shard))
        };
        topics.into_iter().map(carried).collect()
    }

    /// Returns the bandwidth limits of the shards.
    pub(super) fn shard_bandwidth(&self) -> Result<ShardBandwidth, ConfigError> {
        let key = &self.raw.shard_bandwidth;
        let mut bandwidth = ShardBandwidth::default();
        for text in key.get()?.unwrap_or_default() {
            let (shard, bytes) = match text.split_once(':') {
                Some((shard, bytes)) => (Some(shard.trim()), bytes.trim()),
                None => (None, text.trim()),
            };
            let shard = shard.map(str::parse).transpose();
            let bytes: Option<u64> = bytes.parse().ok().filter(|bytes| *bytes > 0);
            match (shard, bytes) {
                (Ok(None), Some(bytes)) => bandwidth.each_bytes_per_s = Some(bytes),
                (Ok(Some(shard)), Some(bytes)) if shard <= MAX_SHARD_INDEX => {
                    bandwidth.of_shard.insert(shard, bytes);
                }
                _ => {
                    return Err(key.bad_because(format!(
                        "bytes per second, 1 or more, or SHARD:BYTES with a shard of 0 to {MAX_SHARD_INDEX}; \
                         {text:?} is neither"
                    )));
                }
            }
        }
        Ok(bandwidth)
    }

    /// Returns the configured shards and those of the content topics. Default: all shards of the network, or
    /// shard 0 with static sharding.
    pub(super) fn shards(
        &self,
        network: &NetworkPreset,
        content_topics: &[(String, Shard)],
    ) -> Result<Vec<Shard>, ConfigError> {
        let count = match self.autosharding() {
            true => network.num_shards.get(),
            false => 1,
        };
        let named = self.raw.shards.get()?;
        let mut indices = named.unwrap_or_else(|| (0..count).collect());
        if indices.iter().any(|index| *index > MAX_SHARD_INDEX) {
            let expected = format!("shard indices, 0 to {MAX_SHARD_INDEX}");
            return Err(self.raw.shards.bad_because(expected));
        }
        indices.extend(content_topics.iter().map(|(_, shard)| shard.index));
        indices.sort_unstable();
        indices.dedup();
        let cluster = network.cluster_id;
        let shards = indices.into_iter().map(|index| Shard { cluster, index });
        Ok(shards.collect())
    }
}
