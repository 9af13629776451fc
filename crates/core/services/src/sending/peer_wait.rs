//! Messages that wait for a peer and end when one has them: nothing of them is kept on disk, and only a failure is told.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use undertone_gossip::Time;
use undertone_message::WakuMessage;

use super::MessageSender;
use super::entry::QueuedMessage;
use super::io::{Output, SendError, SendEvent, SendEventKind, SendId};

/// Wait of a message for a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerWait {
    /// Whether this node's own readers have the message, with its timestamp and proof.
    pub is_delivered: bool,
    /// Whether this node chose the timestamp, or is to choose it.
    pub is_self_stamped: bool,
    /// Longest wait.
    pub at_most: Duration,
}

impl MessageSender {
    /// Takes a message into the queue that was published without a peer, or not at all for want of one: whole, or as these
    /// fragments. It goes by relay alone, with the proof that it has. Its end is that a relay peer has it: no store is
    /// asked, and it is not sent again. A timestamp that is too old for a proof is renewed only if it is this node's.
    ///
    /// These messages have bounds of their own, and the driver is asked to keep nothing of them; the only event is an
    /// [`Output::GivenUp`].
    ///
    /// # Errors
    /// [`SendError`] when too many messages wait, or this one does already.
    pub fn wait_for_peer(
        &mut self,
        now: Time,
        pubsub_topic: Arc<str>,
        parts: Vec<WakuMessage>,
        wait: PeerWait,
    ) -> Result<SendId, SendError> {
        let parts: Vec<_> = parts
            .into_iter()
            .map(|part| (part.encoded_len(), part))
            .collect();
        let more_bytes: usize = parts.iter().map(|(size_bytes, _)| size_bytes).sum();
        let limits = &self.config.limits;
        if self.peer_waits() >= limits.max_peer_waits {
            let max = limits.max_peer_waits;
            return Err(SendError::QueueFull { max });
        }
        if more_bytes > self.peer_wait_room() {
            let max = limits.max_peer_wait_bytes;
            return Err(SendError::QueueBytes { max });
        }
        self.enqueue(now, pubsub_topic, parts, Some(wait))
    }

    /// Returns the number of messages that wait for a peer.
    pub fn peer_waits(&self) -> usize {
        let whole = |entry: &QueuedMessage| entry.record.part.map(|place| place.whole);
        let wholes = self.waiting_entries();
        let wholes = wholes.map(|entry| whole(entry).unwrap_or(entry.id()));
        wholes.collect::<BTreeSet<_>>().len()
    }

    /// Returns the number of bytes that a further message that waits for a peer may have; 0 if none may.
    pub fn peer_wait_room(&self) -> usize {
        let limits = &self.config.limits;
        let bytes: usize = self.waiting_entries().map(|entry| entry.size_bytes).sum();
        match self.peer_waits() < limits.max_peer_waits {
            true => limits.max_peer_wait_bytes.saturating_sub(bytes),
            false => 0,
        }
    }

    fn waiting_entries(&self) -> impl Iterator<Item = &QueuedMessage> {
        let entries = self.entries.values();
        entries.filter(|entry| self.waits_for_peer(entry.id()))
    }

    /// Whether a message, or a fragment, ends when a peer has it.
    pub(super) fn waits_for_peer(&self, id: SendId) -> bool {
        self.peer_waits.contains(&id)
    }

    /// Returns what the driver has to do of an output: nothing is kept or told of a message that waits for a peer.
    pub(super) fn for_driver(&mut self, output: Output) -> Option<Output> {
        match output {
            Output::Erase(id) if self.peer_waits.remove(&id) => None,
            Output::Persist { id, .. } if self.waits_for_peer(id) => None,
            Output::Event(SendEvent { id, kind, .. }) if self.waits_for_peer(id) => match kind {
                SendEventKind::Failed(reason) => Some(Output::GivenUp { id, reason }),
                _ => None,
            },
            output => Some(output),
        }
    }
}
