//! Topics of the attacked networks.

use std::num::NonZeroU16;

use undertone_message::{ContentTopic, shard_of};

/// Number of shards of the network `local`.
const SHARDS: NonZeroU16 = NonZeroU16::new(8).expect("8 is not zero");
/// Cluster id of all networks here, that of the network `local`.
pub(super) const CLUSTER: u16 = 66;

/// Returns the name of a shard's pubsub topic.
#[must_use]
pub fn pubsub_topic(shard: u16) -> String {
    format!("/waku/2/rs/{CLUSTER}/{shard}")
}

/// Returns the application and version part of content topics that belong to a shard.
#[must_use]
pub fn prefix(shard: u16) -> String {
    let prefixes = (0..1_000).map(|n| format!("/hostile-{n}/1"));
    let mut fitting = prefixes.filter(|prefix| {
        let topic = format!("{prefix}/name/proto");
        ContentTopic::parse(&topic).is_ok_and(|topic| shard_of(&topic, SHARDS) == shard)
    });
    fitting
        .next()
        .expect("one in eight names belongs to each shard")
}
