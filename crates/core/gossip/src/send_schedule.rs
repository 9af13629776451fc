//! Copies whose sending is delayed (staggered sending and interval flooding).

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use crate::io::Class;
use crate::time::Time;
use crate::types::{MessageId, PeerIx};

/// Delayed copies of one message.
#[derive(Debug)]
pub(crate) struct DelayedCopies {
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
#[derive(Debug)]
pub(crate) struct SendSchedule {
    messages: VecDeque<DelayedCopies>,
    messages_max: usize,
}

/// One copy whose time has come.
#[derive(Debug)]
pub(crate) struct DueCopy {
    pub(crate) peer: PeerIx,
    pub(crate) class: Class,
    pub(crate) id: MessageId,
    pub(crate) frame: Bytes,
}

impl SendSchedule {
    /// Creates a schedule for at most `messages_max` messages.
    pub(crate) fn new(messages_max: usize) -> Self {
        Self {
            messages: VecDeque::new(),
            messages_max,
        }
    }

    /// Adds the delayed copies of a message; returns them when there are too many messages.
    pub(crate) fn push(&mut self, copies: DelayedCopies) -> Result<(), DelayedCopies> {
        if self.messages.len() >= self.messages_max {
            return Err(copies);
        }
        self.messages.push_back(copies);
        Ok(())
    }

    /// Drops the copy of a message for `peer`.
    pub(crate) fn cancel(&mut self, peer: PeerIx, id: &MessageId) {
        for copies in self.messages.iter_mut().filter(|copies| copies.id == *id) {
            copies.waiting.retain(|waiting| *waiting != peer);
        }
        self.drop_empty();
    }

    /// Drops all copies for a peer that disconnected.
    pub(crate) fn forget(&mut self, peer: PeerIx) {
        for copies in &mut self.messages {
            copies.waiting.retain(|waiting| *waiting != peer);
        }
        self.drop_empty();
    }

    /// Time at which the next copies are due; [`Time::MAX`] when there are none.
    pub(crate) fn next(&self) -> Time {
        let due = self.messages.iter().map(|copies| copies.due);
        due.min().unwrap_or(Time::MAX)
    }

    /// Removes and returns the copies that are due. The next group of a message is due `gap` after the last.
    pub(crate) fn take_due(&mut self, now: Time, gap: Duration) -> Vec<DueCopy> {
        let mut due = Vec::new();
        for copies in &mut self.messages {
            while copies.due <= now && !copies.waiting.is_empty() {
                let count = copies.group.min(copies.waiting.len());
                let leaving = copies.waiting.drain(..count).map(|peer| DueCopy {
                    peer,
                    class: copies.class,
                    id: copies.id,
                    frame: copies.frame.clone(),
                });
                due.extend(leaving);
                copies.due = copies.due.after(gap);
            }
        }
        self.drop_empty();
        due
    }

    /// Number of messages with delayed copies.
    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    fn drop_empty(&mut self) {
        self.messages.retain(|copies| !copies.waiting.is_empty());
    }
}
