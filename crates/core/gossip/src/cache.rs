//! Cache of recent messages, to answer IWANT and to advertise in IHAVE.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::idmap::IdMap;
use crate::rng::Rng;
use crate::topics::TopicIx;
use crate::types::{MessageId, PeerIx};

/// A cached message as its encoded frame, shared by all receivers.
#[derive(Debug)]
struct Cached {
    topic: TopicIx,
    frame: Bytes,
    /// Number of times that each peer was served.
    served: Vec<(PeerIx, u8)>,
}

/// Messages added to the cache between two heartbeats. Most windows are empty.
#[derive(Debug, Default)]
#[expect(
    clippy::box_collection,
    reason = "most windows of most nodes are empty, and a box is a quarter of a queue"
)]
struct CacheWindow {
    ids: Option<Box<VecDeque<(MessageId, TopicIx)>>>,
    /// Length of the longest frame, bytes.
    longest_bytes: usize,
}

impl CacheWindow {
    fn ids(&self) -> impl Iterator<Item = &(MessageId, TopicIx)> {
        self.ids.iter().flat_map(|ids| ids.iter())
    }
}

/// The message cache: one window per heartbeat, bounded in bytes.
#[derive(Debug)]
pub(crate) struct Cache {
    messages: IdMap<Cached>,
    /// Messages by the heartbeat after which they were added; the newest window in front.
    windows: VecDeque<CacheWindow>,
    history_length: usize,
    history_gossip: usize,
    bytes: usize,
    bytes_max: usize,
}

impl Cache {
    pub(crate) fn new(rng: &mut Rng, length: usize, gossip: usize, bytes_max: usize) -> Self {
        Self {
            messages: IdMap::new(rng),
            windows: VecDeque::from([CacheWindow::default()]),
            history_length: length,
            history_gossip: gossip,
            bytes: 0,
            bytes_max,
        }
    }

    /// Adds a message; the oldest ones are evicted if the cache is over its limit.
    pub(crate) fn put(&mut self, id: MessageId, topic: TopicIx, frame: Bytes) {
        self.bytes += frame.len();
        if let Some(newest) = self.windows.front_mut() {
            newest.longest_bytes = frame.len().max(newest.longest_bytes);
        }
        if let Some(old) = self.messages.insert(
            id,
            Cached {
                topic,
                frame,
                served: Vec::new(),
            },
        ) {
            self.bytes -= old.frame.len();
        } else if let Some(newest) = self.windows.front_mut() {
            let ids = newest.ids.get_or_insert_default();
            ids.push_back((id, topic));
        }
        while self.bytes > self.bytes_max && self.messages.len() > 1 {
            self.drop_oldest();
        }
    }

    /// Returns topic and frame for `peer` and counts it, if the message is cached and the peer was served fewer
    /// than `times_max` times.
    pub(crate) fn serve(
        &mut self,
        id: &MessageId,
        peer: PeerIx,
        times_max: u8,
    ) -> Option<(TopicIx, Bytes)> {
        let message = self.messages.get_mut(id)?;
        let times = match message.served.iter_mut().find(|(p, _)| *p == peer) {
            Some((_, times)) => times,
            None => {
                message.served.push((peer, 0));
                &mut message.served.last_mut().expect("pushed just now").1
            }
        };
        if *times >= times_max {
            return None;
        }
        *times += 1;
        Some((message.topic, message.frame.clone()))
    }

    /// Returns the ids of `topic` in the advertised windows.
    pub(crate) fn advertised(&self, topic: TopicIx) -> Vec<MessageId> {
        let windows = self.windows.iter().take(self.history_gossip);
        let windows = windows.flat_map(CacheWindow::ids);
        windows
            .filter(|(_, t)| *t == topic)
            .map(|(id, _)| *id)
            .collect()
    }

    /// Whether no message is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.len() == 0
    }

    /// Starts a new window at a heartbeat and drops the messages of the oldest one.
    pub(crate) fn shift(&mut self) {
        while self.windows.len() >= self.history_length.max(1) {
            let oldest = self.windows.pop_back().and_then(|window| window.ids);
            for (id, _) in oldest.into_iter().flat_map(|ids| *ids) {
                self.remove(&id);
            }
        }
        self.windows.push_front(CacheWindow::default());
    }

    fn drop_oldest(&mut self) {
        for window in self.windows.iter_mut().rev() {
            if let Some((id, _)) = window.ids.as_mut().and_then(|ids| ids.pop_front()) {
                self.remove(&id);
                return;
            }
        }
    }

    fn remove(&mut self, id: &MessageId) {
        if let Some(message) = self.messages.remove(id) {
            self.bytes -= message.frame.len();
        }
    }

    /// Length of the longest frame in the kept windows, bytes; `None` when there was none.
    pub(crate) fn longest_bytes(&self) -> Option<usize> {
        let longest = self.windows.iter().map(|window| window.longest_bytes).max();
        longest.filter(|bytes| *bytes > 0)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
