//! Publishing messages of this node.

use bytes::Bytes;

use crate::error::{ApiMisuse, PublishError};
use crate::io::{Class, Output};
use crate::router::Router;
use crate::seen::SeenStatus;
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx, RequestId, Topic};
use crate::wire;

/// Treatment of a message that was published or received before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// The message is not published.
    Refused,
    /// The message is sent again.
    Allowed,
}

impl Router {
    pub(crate) fn publish(
        &mut self,
        topic: &Topic,
        data: Bytes,
        request: RequestId,
        repetition: Repetition,
    ) -> Result<(), ApiMisuse> {
        let ix = self.own_topic(topic)?;
        let outcome = self.try_publish(ix, &data, repetition);
        self.output(Output::Published { request, outcome });
        Ok(())
    }

    /// Whether a message was published or received within the seen time.
    pub fn knows(&mut self, data: &Bytes) -> bool {
        let id = self.ids.id_of(data);
        self.seen.contains(&id)
    }

    /// Returns the index of a topic that this node uses itself; from now on the topic keeps this index.
    pub(crate) fn own_topic(&mut self, topic: &Topic) -> Result<TopicIx, ApiMisuse> {
        let ix = self
            .intern(topic)
            .ok_or_else(|| ApiMisuse::TopicLimit(topic.clone()))?;
        self.topics.get_mut(ix).ours = true;
        Ok(ix)
    }

    fn try_publish(
        &mut self,
        ix: TopicIx,
        data: &Bytes,
        repetition: Repetition,
    ) -> Result<(MessageId, usize), PublishError> {
        let id = self.ids.id_of(data);
        let is_seen = self.seen.contains(&id);
        if is_seen && repetition == Repetition::Refused {
            return Err(PublishError::Duplicate(id));
        }
        let frame = wire::message_frame(&self.topics.get(ix).name, data);
        let max = self.config.limits.frame_bytes_max;
        if frame.len() > max {
            return Err(PublishError::TooLarge {
                len: data.len(),
                max,
            });
        }
        if let Some(stemmed) = self.stem.make_public(&id) {
            return Ok((id, self.end_stem(id, stemmed)));
        }
        if !is_seen {
            self.note_valid(id, Vec::new());
        }
        // Peers that were asked for the message may still answer; their copies will be duplicates.
        self.on_message_received(&id, None);
        if !is_seen && self.pass_on(ix, id, data, None) {
            return Ok((id, 1));
        }
        Ok((id, self.spread_own(ix, id, data.len(), frame)))
    }

    /// Sends a message of this node to the receivers of published messages; returns their number.
    pub(crate) fn spread_own(
        &mut self,
        ix: TopicIx,
        id: MessageId,
        len: usize,
        frame: Bytes,
    ) -> usize {
        self.fill_fanout(ix);
        self.cache.put(id, ix, frame.clone());
        let receivers =
            self.ask_strategy(ix, |strategy, view, rng| strategy.publish(view, len, rng));
        self.spread(ix, id, Class::Publish, (len, &frame), receivers)
    }

    /// Records an accepted message as seen from now on; the peers in `credited` have delivered it.
    pub(crate) fn note_valid(&mut self, id: MessageId, credited: Vec<PeerIx>) {
        let expires = self.now.after(self.config.seen_ttl);
        let at = self.now;
        self.seen
            .begin(id, SeenStatus::Valid { at, credited }, expires);
    }

    /// Fills the fanout of a topic that is published to without a subscription: D peers that are kept.
    fn fill_fanout(&mut self, ix: TopicIx) {
        if self.topics.get(ix).joined || !self.strategy.keeps_mesh() {
            return;
        }
        let missing = self
            .config
            .degrees
            .d
            .saturating_sub(self.topics.get(ix).fanout.len());
        let mut candidates = self.fanout_candidates(ix);
        self.rng.choose(&mut candidates, missing);
        let topic = self.topics.get_mut(ix);
        topic.last_publish = self.now;
        for peer in candidates.into_iter().take(missing) {
            topic.fanout.insert(peer);
        }
    }

    fn fanout_candidates(&self, ix: TopicIx) -> Vec<PeerIx> {
        let topic = self.topics.get(ix);
        let publish = self.config.thresholds.publish;
        let subscribers = topic.subscribers.as_slice().iter().copied();
        subscribers
            .filter(|p| !topic.fanout.contains(*p) && self.scores.score(*p) >= publish)
            .filter(|p| {
                self.peers
                    .get(*p)
                    .is_some_and(|s| s.features.mesh && !s.explicit)
            })
            .collect()
    }

    /// Drops fanouts that have not been used for `fanout_ttl`, and refills the others.
    pub(crate) fn maintain_fanout(&mut self) {
        let publish = self.config.thresholds.publish;
        let ours = self
            .topics
            .iter()
            .filter(|(_, topic)| !topic.fanout.is_empty());
        for ix in ours.map(|(ix, _)| ix).collect::<Vec<_>>() {
            let last_publish = self.topics.get(ix).last_publish;
            if self.now >= last_publish.after(self.config.fanout_ttl) {
                self.topics.get_mut(ix).fanout = Default::default();
                continue;
            }
            let peers = self.topics.get(ix).fanout.as_slice().iter().copied();
            let kept = peers.filter(|p| self.scores.score(*p) >= publish).collect();
            self.topics.get_mut(ix).fanout = kept;
            self.fill_fanout(ix);
            self.topics.get_mut(ix).last_publish = last_publish;
        }
    }
}
