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

/// The message cache: one window per heartbeat, bounded in bytes.
#[derive(Debug)]
pub(crate) struct Cache {
    messages: IdMap<Cached>,
    /// Ids by heartbeat, the newest window in front.
    windows: VecDeque<VecDeque<(MessageId, TopicIx)>>,
    /// Length of the longest frame added in each window, bytes.
    longest: VecDeque<usize>,
    history_length: usize,
    history_gossip: usize,
    bytes: usize,
    bytes_max: usize,
}

impl Cache {
    pub(crate) fn new(rng: &mut Rng, length: usize, gossip: usize, bytes_max: usize) -> Self {
        Self {
            messages: IdMap::new(rng),
            windows: VecDeque::from([VecDeque::new()]),
            longest: VecDeque::from([0]),
            history_length: length,
            history_gossip: gossip,
            bytes: 0,
            bytes_max,
        }
    }

    /// Adds a message; the oldest ones are evicted if the cache is over its limit.
    pub(crate) fn put(&mut self, id: MessageId, topic: TopicIx, frame: Bytes) {
        self.bytes += frame.len();
        if let Some(longest) = self.longest.front_mut() {
            *longest = frame.len().max(*longest);
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
            newest.push_back((id, topic));
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

    /// Ids of `topic` in the windows that are advertised.
    pub(crate) fn advertised(&self, topic: TopicIx) -> Vec<MessageId> {
        let windows = self.windows.iter().take(self.history_gossip).flatten();
        windows
            .filter(|(_, t)| *t == topic)
            .map(|(id, _)| *id)
            .collect()
    }

    /// Starts a new window at a heartbeat and drops the messages of the oldest one.
    pub(crate) fn shift(&mut self) {
        self.windows.push_front(VecDeque::new());
        self.longest.push_front(0);
        self.longest.truncate(self.history_length.max(1));
        while self.windows.len() > self.history_length.max(1) {
            for (id, _) in self.windows.pop_back().into_iter().flatten() {
                self.remove(&id);
            }
        }
    }

    fn drop_oldest(&mut self) {
        for window in self.windows.iter_mut().rev() {
            if let Some((id, _)) = window.pop_front() {
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
        self.longest
            .iter()
            .copied()
            .max()
            .filter(|longest| *longest > 0)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
