//! Watch over the node's shards: those on which no message can be relayed, because nobody is in their mesh.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use undertone_message::PubsubTopic;

/// Time after which a shard without peers in its mesh counts as cut off. Meshes change all the time, and one
/// without a peer for a moment is no fault.
const CUT_OFF_AFTER: Duration = Duration::from_secs(20);

/// Topics without peers in their meshes, and since when.
#[derive(Debug, Default)]
pub(crate) struct ShardWatch {
    lonely: BTreeMap<PubsubTopic, Instant>,
}

impl ShardWatch {
    /// Notes which joined topics have peers in their meshes now.
    pub(crate) fn note(
        &mut self,
        now: Instant,
        joined: &BTreeSet<PubsubTopic>,
        has_mesh: impl Fn(&PubsubTopic) -> bool,
    ) {
        self.lonely
            .retain(|topic, _| joined.contains(topic) && !has_mesh(topic));
        for topic in joined.iter().filter(|topic| !has_mesh(topic)) {
            self.lonely.entry(topic.clone()).or_insert(now);
        }
    }

    /// Returns the topics that have been without peers in their meshes for 20 s.
    pub(crate) fn cut_off(&self, now: Instant) -> impl Iterator<Item = &PubsubTopic> {
        let lonely = self.lonely.iter();
        lonely
            .filter(move |(_, since)| now.duration_since(**since) >= CUT_OFF_AFTER)
            .map(|(topic, _)| topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_cut_off_after_a_while_without_peers_and_not_longer() {
        let topic = |shard| PubsubTopic::parse(&format!("/waku/2/rs/1/{shard}")).unwrap();
        let joined = BTreeSet::from([topic(0), topic(1)]);
        let (mut watch, start) = (ShardWatch::default(), Instant::now());
        let only_shard_0 = |asked: &PubsubTopic| *asked == topic(0);
        watch.note(start, &joined, only_shard_0);
        let soon = start + CUT_OFF_AFTER - Duration::from_millis(1);
        assert_eq!(watch.cut_off(soon).count(), 0);
        let later = start + CUT_OFF_AFTER;
        watch.note(later, &joined, only_shard_0);
        assert_eq!(watch.cut_off(later).collect::<Vec<_>>(), [&topic(1)]);
        watch.note(later, &joined, |_| true);
        assert_eq!(watch.cut_off(later + CUT_OFF_AFTER).count(), 0);
        watch.note(later, &joined, only_shard_0);
        watch.note(later, &BTreeSet::from([topic(0)]), only_shard_0);
        let left = watch.cut_off(later + CUT_OFF_AFTER).count();
        assert_eq!(left, 0, "a topic that was left is not watched");
    }
}
