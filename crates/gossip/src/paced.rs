//! Copies whose sending is delayed (staggered sending and interval flooding).

use std::collections::VecDeque;

use bytes::Bytes;

use crate::io::{Class, Output};
use crate::router::Router;
use crate::time::Time;
use crate::types::{MessageId, PeerIx};
use crate::wire;

/// Maximum number of messages with delayed copies; copies of further ones are sent at once.
const TRAINS_MAX: usize = 256;

/// Delayed copies of one message.
#[derive(Debug)]
pub(crate) struct Train {
    pub(crate) id: MessageId,
    pub(crate) class: Class,
    pub(crate) frame: Bytes,
    pub(crate) waiting: VecDeque<PeerIx>,
    /// Time at which the next copies are sent.
    pub(crate) due: Time,
    /// Number of copies sent at that time.
    pub(crate) group: usize,
}

/// Delayed copies of all messages, bounded in number of messages.
#[derive(Debug, Default)]
pub(crate) struct Paced(VecDeque<Train>);

impl Paced {
    /// Adds the delayed copies of a message; returns them when there are too many messages.
    pub(crate) fn push(&mut self, train: Train) -> Result<(), Train> {
        if self.0.len() >= TRAINS_MAX {
            return Err(train);
        }
        self.0.push_back(train);
        Ok(())
    }

    /// Drops the copy of a message for `peer`.
    pub(crate) fn take_back(&mut self, peer: PeerIx, id: &MessageId) {
        for train in self.0.iter_mut().filter(|train| train.id == *id) {
            train.waiting.retain(|waiting| *waiting != peer);
        }
        self.drop_empty();
    }

    /// Drops all copies for a peer that disconnected.
    pub(crate) fn forget(&mut self, peer: PeerIx) {
        for train in &mut self.0 {
            train.waiting.retain(|waiting| *waiting != peer);
        }
        self.drop_empty();
    }

    /// Time at which the next copies are due; [`Time::MAX`] when there are none.
    pub(crate) fn next(&self) -> Time {
        let due = self.0.iter().map(|train| train.due);
        due.min().unwrap_or(Time::MAX)
    }

    fn drop_empty(&mut self) {
        self.0.retain(|train| !train.waiting.is_empty());
    }
}

impl Router {
    /// Sends the copies that are due.
    pub(crate) fn send_due(&mut self) {
        let gap = self.config.large.gap;
        let mut leaving = Vec::new();
        for train in &mut self.paced.0 {
            while train.due <= self.now && !train.waiting.is_empty() {
                let count = train.group.min(train.waiting.len());
                for peer in train.waiting.drain(..count) {
                    leaving.push((peer, train.class, train.id, train.frame.clone()));
                }
                train.due = train.due.after(gap);
            }
        }
        self.paced.drop_empty();
        if self.strategy.keeps_mesh() {
            for (peer, class, id, frame) in leaving {
                self.send_message(peer, class, id, frame);
            }
            return;
        }
        // An interval of flooding has ended: the copies for one peer are sent together.
        leaving.sort_by_key(|(peer, ..)| *peer);
        for of_peer in leaving.chunk_by(|a, b| a.0 == b.0) {
            let frames = of_peer.iter().map(|(.., frame)| frame);
            let max = self.config.limits.frame_bytes_max;
            let (peer, class, ..) = of_peer[0];
            for frame in wire::join(frames, max) {
                // A message in a joined frame can no longer be cancelled by itself.
                let handle = self.handle_for_send();
                self.output(Output::Send {
                    peer,
                    handle,
                    class,
                    frame,
                });
            }
            self.stats.messages_sent += of_peer.len() as u64;
        }
    }
}
