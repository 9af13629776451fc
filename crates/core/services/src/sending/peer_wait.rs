//! Messages that wait for a relay peer and end once one has them. They are not persisted, and only failures are
//! reported.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use undertone_gossip::Time;
use undertone_message::WakuMessage;

use super::MessageSender;
use super::entry::QueuedMessage;
use super::io::{Output, SendError, SendEvent, SendEventKind, SendId};

/// Parameters of a message that waits for a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerWait {
    /// Whether this node's own subscribers have the message, with its timestamp and proof.
    pub is_delivered: bool,
    /// Whether this node chose the timestamp, or is to choose it.
    pub is_self_stamped: bool,
    /// Maximum wait.
    pub at_most: Duration,
}

impl MessageSender {
    /// Queues a message that could not be published for want of a peer, or was published without one: whole, or as
    /// these fragments. It goes only through the relay, with the proof that it has. It ends once a relay peer has it:
    /// no store is asked, and it is not sent again. A timestamp too old for a proof is renewed only if this node chose
    /// it.
    ///
    /// These messages have limits of their own, and the driver persists nothing of them; the only event is an
    /// [`Output::GivenUp`].
    ///
    /// # Errors
    /// [`SendError`] when too many messages wait, or this one already does.
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

    /// Returns the maximum size in bytes of another message that waits for a peer; 0 if none fits.
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

    /// Whether a message, or a fragment, ends once a peer has it.
    pub(super) fn waits_for_peer(&self, id: SendId) -> bool {
        self.peer_waits.contains(&id)
    }

    /// Returns the output if the driver must handle it: messages that wait for a peer are neither persisted nor
    /// reported.
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
