//! Detects the node's shards on which no message can be relayed, because no peer in their mesh answers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use undertone_message::PubsubTopic;

/// Time without an answer from any peer in its mesh after which a shard counts as cut off. Meshes change all the time,
/// and a moment without a peer is no fault. Peers answer pings every 5 s, and the watch looks every 2 s.
const CUT_OFF_AFTER: Duration = Duration::from_secs(20);

/// The node's topics, each with the time when a peer in its mesh last answered.
#[derive(Debug, Default)]
pub(crate) struct ShardWatch {
    reached: BTreeMap<PubsubTopic, Instant>,
}

impl ShardWatch {
    /// Updates when a peer in the mesh of each joined topic last answered; `answered` returns `None` for an empty mesh.
    pub(crate) fn note(
        &mut self,
        now: Instant,
        joined: &BTreeSet<PubsubTopic>,
        answered: impl Fn(&PubsubTopic) -> Option<Instant>,
    ) {
        self.reached.retain(|topic, _| joined.contains(topic));
        for topic in joined {
            // A newly joined topic starts with its full time.
            let reached = self.reached.entry(topic.clone()).or_insert(now);
            *reached = answered(topic).unwrap_or(*reached).max(*reached);
        }
    }

    /// Returns the topics in whose meshes no peer has answered for 20 s.
    pub(crate) fn cut_off(&self, now: Instant) -> impl Iterator<Item = &PubsubTopic> {
        let reached = self.reached.iter();
        reached
            .filter(move |(_, at)| now.duration_since(**at) >= CUT_OFF_AFTER)
            .map(|(topic, _)| topic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(shard: u16) -> PubsubTopic {
        PubsubTopic::parse(&format!("/waku/2/rs/1/{shard}")).unwrap()
    }

    #[test]
    fn a_shard_is_cut_off_after_a_while_without_peers_and_not_longer() {
        let joined = BTreeSet::from([topic(0), topic(1)]);
        let (mut watch, start) = (ShardWatch::default(), Instant::now());
        let only_shard_0 =
            |at: Instant| move |asked: &PubsubTopic| (*asked == topic(0)).then_some(at);
        watch.note(start, &joined, only_shard_0(start));
        let soon = start + CUT_OFF_AFTER - Duration::from_millis(1);
        assert_eq!(watch.cut_off(soon).count(), 0);
        let later = start + CUT_OFF_AFTER;
        watch.note(later, &joined, only_shard_0(later));
        assert_eq!(watch.cut_off(later).collect::<Vec<_>>(), [&topic(1)]);
        watch.note(later, &joined, |_| Some(later));
        assert_eq!(watch.cut_off(soon + CUT_OFF_AFTER).count(), 0);
        watch.note(later, &BTreeSet::from([topic(0)]), only_shard_0(later));
        let left = watch.cut_off(later + CUT_OFF_AFTER);
        assert_eq!(
            left.collect::<Vec<_>>(),
            [&topic(0)],
            "a topic that was left is not watched"
        );
    }

    #[test]
    fn a_peer_that_stopped_answering_counts_until_its_last_answer() {
        let joined = BTreeSet::from([topic(0)]);
        let (mut watch, start) = (ShardWatch::default(), Instant::now());
        let second = |n| start + Duration::from_secs(n);
        watch.note(second(0), &joined, |_| Some(second(0)));
        for now in [5, 10, 15] {
            // It is in the mesh all the time.
            watch.note(second(now), &joined, |_| Some(second(3)));
            assert_eq!(watch.cut_off(second(now)).count(), 0);
        }
        watch.note(second(23), &joined, |_| Some(second(3)));
        assert_eq!(watch.cut_off(second(23)).count(), 1);
        // Its connection is closed, which changes nothing.
        watch.note(second(26), &joined, |_| None);
        assert_eq!(watch.cut_off(second(26)).count(), 1);
    }
}
