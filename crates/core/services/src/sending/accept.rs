//! Messages entering the queue, from the application or from disk after a start, and their withdrawal.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use undertone_gossip::Time;
use undertone_gossip::fragments::FRAGMENTS_MAX;
use undertone_message::{WakuMessage, message_hash};

use super::MessageSender;
use super::entry::{AwaitedAnswer, QueuedMessage};
use super::io::{Output, SendError, SendEventKind, SendId};
use super::part::PartPlace;
use super::parts::PartedMessage;
use super::peer_wait::PeerWait;
use super::record::{SendRecord, SendRecordError, SendStage};

/// Bytes reserved for a timestamp that is not set yet.
const TIMESTAMP_BYTES: usize = 10;

impl MessageSender {
    /// Queues a message. If it has no timestamp, it gets one when it is first proved or sent, so that waiting for the
    /// rate limit does not age it.
    ///
    /// # Errors
    /// [`SendError`] when the queue is full or the message cannot be sent on this network.
    pub fn send(
        &mut self,
        now: Time,
        pubsub_topic: Arc<str>,
        message: WakuMessage,
    ) -> Result<SendId, SendError> {
        self.send_fragments(now, pubsub_topic, vec![message])
    }

    /// Queues a message as these fragments, each with its own proof and timestamp. Each fragment counts as a message in
    /// the limits of the queue. A single fragment is the message itself.
    ///
    /// # Errors
    /// As [`Self::send`]; all fragments are taken, or none.
    pub fn send_fragments(
        &mut self,
        now: Time,
        pubsub_topic: Arc<str>,
        mut fragments: Vec<WakuMessage>,
    ) -> Result<SendId, SendError> {
        let count = fragments.len();
        let sizes = self.sizes(&pubsub_topic, &mut fragments)?;
        let limits = &self.config.limits;
        let kept = self.entries.values();
        let kept = kept.filter(|entry| !self.waits_for_peer(entry.id()));
        let kept_bytes: usize = kept.map(|entry| entry.size_bytes).sum();
        if self.taken() + count > limits.max_messages {
            let max = limits.max_messages;
            return Err(SendError::QueueFull { max });
        }
        if kept_bytes + sizes.iter().sum::<usize>() > limits.max_bytes {
            let max = limits.max_bytes;
            return Err(SendError::QueueBytes { max });
        }
        let fragments = sizes.into_iter().zip(fragments).collect();
        self.enqueue(now, pubsub_topic, fragments, None)
    }

    /// Queues the fragments of a message, with the sizes they are accounted at.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        pubsub_topic: Arc<str>,
        fragments: Vec<(usize, WakuMessage)>,
        wait: Option<PeerWait>,
    ) -> Result<SendId, SendError> {
        if let Some(twin) = self.twin(&pubsub_topic, &fragments) {
            return Err(SendError::Duplicate(twin));
        }
        let created_ns = self.wall_ns(now);
        let deadline = now.after(wait.map_or(self.config.deadline, |wait| wait.at_most));
        let id = SendId(created_ns.max(self.last_id.0.saturating_add(1)));
        let part = PartPlace::of(id, id, fragments.len() as u64);
        for (place, (size_bytes, message)) in (0..).zip(fragments) {
            let record = SendRecord {
                id: SendId(id.0.saturating_add(place)),
                pubsub_topic: pubsub_topic.clone(),
                message,
                created_ns,
                stage: SendStage::Queued,
                attempt: 0,
                is_self_stamped: wait.is_some_and(|wait| wait.is_self_stamped),
                is_given: wait.is_some_and(|wait| wait.is_delivered),
                part,
                end: None,
            };
            if wait.is_some() {
                self.peer_waits.insert(record.id);
            }
            self.out.push_back(Output::Persist {
                id: record.id,
                record: record.encode(),
            });
            self.insert(QueuedMessage::new(record, size_bytes, deadline));
        }
        if let Some(part) = part {
            self.wholes.insert(id, PartedMessage::new(part.count));
        }
        self.tell(id, SendEventKind::Queued);
        self.drive(now);
        Ok(id)
    }

    /// Returns the sizes that fragments are accounted at, and strips proofs of others from them.
    fn sizes(&self, topic: &str, fragments: &mut [WakuMessage]) -> Result<Vec<usize>, SendError> {
        let (limits, count) = (&self.config.limits, fragments.len());
        if topic.len() > limits.max_topic_bytes {
            let max = limits.max_topic_bytes;
            return Err(SendError::TopicTooLong { max });
        }
        if !(1..=FRAGMENTS_MAX).contains(&count) {
            let max = FRAGMENTS_MAX;
            return Err(SendError::Fragments { count, max });
        }
        let mut sizes = Vec::with_capacity(count);
        for message in fragments {
            if self.config.has_proofs {
                message.rate_limit_proof = None;
            }
            let size_bytes = message.encoded_len() + limits.proof_bytes + TIMESTAMP_BYTES;
            if size_bytes > limits.max_message_bytes {
                let max = limits.max_message_bytes;
                return Err(SendError::TooLarge { size_bytes, max });
            }
            sizes.push(size_bytes);
        }
        Ok(sizes)
    }

    /// Returns the queued message that has one of these fragments.
    fn twin(&self, topic: &str, fragments: &[(usize, WakuMessage)]) -> Option<SendId> {
        let fragments = fragments.iter().map(|(_, fragment)| fragment);
        let stamped = fragments.filter(|fragment| fragment.timestamp.is_some());
        let hashes: BTreeSet<_> = stamped
            .map(|fragment| message_hash(topic, fragment))
            .collect();
        let has_one = |entry: &&QueuedMessage| entry.hash.is_some_and(|it| hashes.contains(&it));
        let twin = self.entries.values().find(has_one)?;
        let whole = twin.record.part.map(|place| place.whole);
        Some(whole.unwrap_or(twin.id()))
    }

    /// Restores a message, or a fragment, that [`Output::Persist`] persisted before a crash.
    ///
    /// # Errors
    /// [`SendRecordError`] for an invalid record; the message is then not in the queue. A message with a missing
    /// fragment is dropped.
    pub fn restore(&mut self, now: Time, record: &Bytes) -> Result<SendId, SendRecordError> {
        let record = SendRecord::decode(record, &self.config.limits)?;
        let id = record.id;
        if self.taken() >= self.config.limits.max_messages || self.entries.contains_key(&id) {
            return Err(SendRecordError::NoPlace);
        }
        if let Some(place) = record.part {
            self.restore_part(place, &record)?;
        }
        if record.end.is_some() {
            self.last_id = self.last_id.max(id);
            return Ok(id);
        }
        let size_bytes = record.message.encoded_len();
        let stage = record.stage;
        let waited_ns = self.wall_ns(now).saturating_sub(record.created_ns);
        let waited = Duration::from_nanos(waited_ns);
        let deadline = now.after(self.config.deadline.saturating_sub(waited));
        let mut entry = QueuedMessage::new(record, size_bytes, deadline);
        if entry.record.is_given {
            entry.has_other_receivers = true;
            // The last answer may have been lost.
            entry.may_be_out = true;
            entry.check_at = now.after(self.config.confirm_first);
        }
        if stage == SendStage::Propagated {
            entry.confirm_until = now.after(self.config.confirm_for);
        }
        self.insert(entry);
        Ok(id)
    }

    /// Withdraws a message whose record could not be persisted, and drops its pending actions. No event reports this:
    /// for its sender the message was never accepted. Only for a message whose processing has not begun. Returns the
    /// numbers of the message and its fragments.
    pub fn withdraw(&mut self, id: SendId) -> BTreeSet<SendId> {
        let ids: BTreeSet<SendId> = match self.wholes.remove(&id) {
            Some(whole) => whole.ids(id).collect(),
            None => BTreeSet::from([id]),
        };
        for id in &ids {
            self.peer_waits.remove(id);
            let entry = self.remove(*id);
            if entry.is_some_and(|entry| entry.work == AwaitedAnswer::Proof) {
                self.budget = self.budget.saturating_add(1);
            }
        }
        let is_other = |id: SendId| !ids.contains(&id);
        self.out
            .retain(|output| output.message_id().is_none_or(is_other));
        ids
    }

    /// Makes later messages use numbers above `used`, the highest one known to the driver. Otherwise a clock that was
    /// set back could reuse the number of an ended message.
    pub fn skip_ids(&mut self, used: SendId) {
        self.last_id = self.last_id.max(used);
    }

    /// Returns the number of occupied queue slots. Messages occupy one, fragments one each until the whole message
    /// ends; messages that wait for a peer occupy none.
    fn taken(&self) -> usize {
        let is_kept = |id: &SendId| !self.waits_for_peer(*id);
        let wholes = self.wholes.iter().filter(|(id, _)| is_kept(id));
        let ended = wholes.map(|(_, whole)| whole.ended());
        let entries = self.entries.keys().copied();
        entries.filter(is_kept).count() + ended.sum::<usize>()
    }

    fn insert(&mut self, entry: QueuedMessage) {
        self.last_id = self.last_id.max(entry.id());
        self.entries.insert(entry.id(), entry);
    }

    pub(super) fn remove(&mut self, id: SendId) -> Option<QueuedMessage> {
        self.entries.remove(&id)
    }
}
