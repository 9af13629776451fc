//! Subscriptions of the application, and up to which time each store has been asked about them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::config::{LightConfig, LightLimits, nanos};
use super::io::LightSubscribeError;
use crate::PeerNo;

/// Pubsub topic and content topic.
pub(crate) type TopicPair = (Arc<str>, Arc<str>);

/// Depth of a listing: how far it overlaps the last listing of the same depth.
///
/// Stores order messages by the sender's timestamp. A message that reaches a store late is only found by a listing that
/// begins before its timestamp. Most listings therefore overlap a little, some more, and few much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ListingDepth {
    /// Overlap for the lag of archives and clocks.
    Usual,
    /// Overlap for the time during which senders repeat a message.
    Late,
    /// Overlap for the delay with which stores learn from other stores.
    Deep,
}

impl ListingDepth {
    const DEEPEST_FIRST: [Self; 3] = [Self::Deep, Self::Late, Self::Usual];

    /// Returns the shortest time between two listings of this depth, nanoseconds.
    fn every_ns(self, config: &LightConfig) -> i64 {
        match self {
            Self::Usual => 0,
            Self::Late => nanos(config.late_every),
            Self::Deep => nanos(config.deep_every),
        }
    }

    /// Returns the time by which two listings of this depth overlap, nanoseconds.
    fn overlap_ns(self, config: &LightConfig) -> i64 {
        nanos(match self {
            Self::Usual => config.check_overlap,
            Self::Late => config.late_overlap,
            Self::Deep => config.deep_overlap,
        })
    }
}

/// Times up to which a store has listed its messages, by [`ListingDepth`], Unix nanoseconds.
pub(crate) type ListedUntil = [i64; 3];

/// Subscription of the application.
#[derive(Debug)]
pub(crate) struct Interest {
    /// Time from which messages are wanted, Unix nanoseconds.
    pub(crate) since_ns: i64,
    /// Times up to which each store has listed its messages.
    pub(crate) listed: BTreeMap<PeerNo, ListedUntil>,
}

/// Subscriptions of the application, at most [`LightLimits::max_subscriptions`].
#[derive(Debug, Default)]
pub(crate) struct WantedTopics {
    interests: BTreeMap<TopicPair, Interest>,
}

/// Content topics of one pubsub topic, few enough for one query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) pubsub_topic: Arc<str>,
    pub(crate) content_topics: Vec<Arc<str>>,
}

impl Chunk {
    pub(crate) fn criteria(&self) -> impl Iterator<Item = TopicPair> + '_ {
        let topic = &self.pubsub_topic;
        self.content_topics
            .iter()
            .map(|c| (topic.clone(), c.clone()))
    }
}

impl WantedTopics {
    /// Adds all content topics or none; those already wanted keep their start time.
    pub(crate) fn add(
        &mut self,
        limits: &LightLimits,
        pubsub_topic: &Arc<str>,
        content_topics: Vec<Arc<str>>,
        since_ns: i64,
    ) -> Result<(), LightSubscribeError> {
        let max = limits.max_topic_bytes;
        if pubsub_topic.len() > max || content_topics.iter().any(|topic| topic.len() > max) {
            return Err(LightSubscribeError::TopicTooLong { max });
        }
        let mut new: Vec<TopicPair> = content_topics
            .into_iter()
            .map(|content| (pubsub_topic.clone(), content))
            .filter(|criterion| !self.interests.contains_key(criterion))
            .collect();
        new.sort();
        new.dedup();
        let max = limits.max_subscriptions;
        if self.interests.len() + new.len() > max {
            return Err(LightSubscribeError::TooMany { max });
        }
        for criterion in new {
            let interest = Interest {
                since_ns,
                listed: BTreeMap::new(),
            };
            self.interests.insert(criterion, interest);
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, pubsub_topic: &Arc<str>, content_topics: Vec<Arc<str>>) {
        for content in content_topics {
            self.interests.remove(&(pubsub_topic.clone(), content));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.interests.is_empty()
    }

    pub(crate) fn get(&self, criterion: &TopicPair) -> Option<&Interest> {
        self.interests.get(criterion)
    }

    pub(crate) fn contains(&self, criterion: &TopicPair) -> bool {
        self.interests.contains_key(criterion)
    }

    pub(crate) fn criteria(&self) -> impl Iterator<Item = &TopicPair> {
        self.interests.keys()
    }

    pub(crate) fn pubsub_topics(&self) -> Vec<Arc<str>> {
        let mut topics: Vec<Arc<str>> = self
            .interests
            .keys()
            .map(|(topic, _)| topic.clone())
            .collect();
        topics.dedup();
        topics
    }

    /// Returns the subscriptions in chunks of at most `size` content topics.
    pub(crate) fn chunks(&self, size: usize) -> Vec<Chunk> {
        let mut chunks: Vec<Chunk> = Vec::new();
        for (pubsub_topic, content_topic) in self.interests.keys() {
            match chunks.last_mut() {
                Some(chunk)
                    if chunk.pubsub_topic == *pubsub_topic && chunk.content_topics.len() < size =>
                {
                    chunk.content_topics.push(content_topic.clone());
                }
                _ => chunks.push(Chunk {
                    pubsub_topic: pubsub_topic.clone(),
                    content_topics: vec![content_topic.clone()],
                }),
            }
        }
        chunks
    }

    /// Returns the depth of a store's next listing of a chunk, and the time from which it begins; `None` if nothing of
    /// the chunk is wanted any more. A time already listed counts only up to `now_ns`, since the clock may have been
    /// set back.
    pub(crate) fn ask_from(
        &self,
        chunk: &Chunk,
        store: PeerNo,
        config: &LightConfig,
        now_ns: i64,
    ) -> Option<(ListingDepth, i64)> {
        let interests = || {
            let wanted = chunk.criteria();
            wanted.filter_map(|criterion| self.interests.get(&criterion))
        };
        let is_due = |depth: &ListingDepth| {
            interests().any(|interest| {
                let listed = interest.listed.get(&store);
                listed.is_none_or(|listed| {
                    let listed = listed[*depth as usize].min(now_ns);
                    now_ns.saturating_sub(listed) >= depth.every_ns(config)
                })
            })
        };
        let mut depths = ListingDepth::DEEPEST_FIRST.into_iter();
        let depth = depths.find(is_due)?;
        let from_ns = |interest: &Interest| match interest.listed.get(&store) {
            Some(listed) => {
                let listed = listed[depth as usize].min(now_ns);
                let overlapping = listed.saturating_sub(depth.overlap_ns(config));
                interest.since_ns.max(overlapping)
            }
            None => interest.since_ns,
        };
        Some((depth, interests().map(from_ns).min()?))
    }

    /// Returns the latest time up to which any store has listed all of a chunk.
    pub(crate) fn confirmed_until(&self, chunk: &Chunk) -> i64 {
        let latest = |interest: &Interest| {
            let listed = interest.listed.values();
            let usual = listed.map(|listed| listed[ListingDepth::Usual as usize]);
            usual.max().unwrap_or(interest.since_ns)
        };
        chunk
            .criteria()
            .filter_map(|criterion| self.interests.get(&criterion).map(latest))
            .min()
            .unwrap_or(i64::MAX)
    }

    /// Records the time up to which a store has listed at some depth; it also counts for smaller depths.
    pub(crate) fn listed(
        &mut self,
        chunk: &Chunk,
        store: PeerNo,
        depth: ListingDepth,
        until_ns: i64,
    ) {
        for criterion in chunk.criteria() {
            if let Some(interest) = self.interests.get_mut(&criterion) {
                let listed = interest.listed.entry(store).or_insert([until_ns; 3]);
                for listed in &mut listed[..=depth as usize] {
                    *listed = (*listed).max(until_ns);
                }
            }
        }
    }

    /// Discards listed times after `now_ns`, because the wall clock was set back.
    pub(crate) fn clock_set(&mut self, now_ns: i64) {
        for interest in self.interests.values_mut() {
            interest.since_ns = interest.since_ns.min(now_ns);
            for listed in interest.listed.values_mut().flatten() {
                *listed = (*listed).min(now_ns);
            }
        }
    }

    pub(crate) fn forget_store(&mut self, store: PeerNo) {
        for interest in self.interests.values_mut() {
            interest.listed.remove(&store);
        }
    }
}
