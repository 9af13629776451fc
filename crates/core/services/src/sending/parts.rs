//! Fragmented messages: their states, which follow from those of the fragments.
//!
//! The fragments have consecutive numbers, and the message has that of the first.

use std::collections::BTreeMap;

use super::MessageSender;
use super::entry::QueuedMessage;
use super::io::{Output, SendEvent, SendEventKind, SendId};
use super::part::{PartEnd, PartPlace};
use super::record::{SendRecord, SendRecordError};

/// State that all fragments of a message have reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SharedStep {
    Queued,
    Sent,
    Propagated,
}

impl SharedStep {
    pub(super) fn kind(self) -> SendEventKind {
        match self {
            Self::Queued => SendEventKind::Queued,
            Self::Sent => SendEventKind::Sent,
            Self::Propagated => SendEventKind::Propagated,
        }
    }
}

/// Fragmented message.
#[derive(Debug)]
pub(super) struct PartedMessage {
    count: u64,
    /// Final states of the fragments that have ended.
    ends: BTreeMap<SendId, PartEnd>,
    told: SharedStep,
}

impl PartedMessage {
    pub(super) fn new(count: u64) -> Self {
        Self {
            count,
            ends: BTreeMap::new(),
            told: SharedStep::Queued,
        }
    }

    /// Returns the numbers of the fragments of message `id`.
    pub(super) fn ids(&self, id: SendId) -> impl Iterator<Item = SendId> + use<> {
        let numbers = id.0..id.0.saturating_add(self.count);
        numbers.map(SendId)
    }

    /// Returns the number of fragments that have ended.
    pub(super) fn ended(&self) -> usize {
        self.ends.len()
    }

    /// Returns the final state that follows from those of all fragments; `None` while any has not ended.
    fn end(&self) -> Option<PartEnd> {
        let are_all = self.ends.len() as u64 == self.count;
        self.ends.values().max().copied().filter(|_| are_all)
    }
}

impl MessageSender {
    /// Reports a message's new state; for fragments, once the last one has reached it.
    pub(super) fn event(&mut self, id: SendId, kind: SendEventKind) {
        let part = self.entries.get(&id).and_then(|entry| entry.record.part);
        match part {
            None => self.tell(id, kind),
            Some(place) => self.report_shared(place.whole),
        }
    }

    /// Reports a message's new state.
    pub(super) fn tell(&mut self, id: SendId, kind: SendEventKind) {
        let entry = self.entries.get(&id);
        let whole = entry.filter(|entry| entry.record.part.is_none());
        let hash = whole.and_then(|entry| entry.hash);
        self.out
            .push_back(Output::Event(SendEvent { id, kind, hash }));
    }

    /// Reports the states that all fragments of a message have newly reached.
    fn report_shared(&mut self, id: SendId) {
        let reached = self.shared_step(id);
        let Some(whole) = self.wholes.get_mut(&id) else {
            return;
        };
        let before = whole.told;
        whole.told = before.max(reached);
        for step in [SharedStep::Sent, SharedStep::Propagated] {
            if before < step && step <= reached {
                self.tell(id, step.kind());
            }
        }
    }

    pub(super) fn shared_step(&self, id: SendId) -> SharedStep {
        let step = |part: SendId| match self.entries.get(&part) {
            Some(entry) if entry.is_propagated() => SharedStep::Propagated,
            Some(entry) if entry.record.is_given => SharedStep::Sent,
            Some(_) => SharedStep::Queued,
            // It has ended.
            None => SharedStep::Propagated,
        };
        let parts = self.wholes.get(&id).map(|whole| whole.ids(id));
        let steps = parts.into_iter().flatten().map(step);
        steps.min().unwrap_or(SharedStep::Queued)
    }

    /// Ends a message, or a fragment. The event precedes the erasure of the records: a crash in between repeats the
    /// event.
    pub(super) fn end(&mut self, id: SendId, kind: SendEventKind) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let Some(place) = entry.record.part else {
            self.tell(id, kind);
            self.remove(id);
            self.out.push_back(Output::Erase(id));
            return;
        };
        match PartEnd::of(kind) {
            Some(end) => self.end_part(id, place.whole, end),
            // If one fragment fails, the others are useless.
            None => self.end_whole(place.whole, kind),
        }
    }

    fn end_part(&mut self, id: SendId, of: SendId, end: PartEnd) {
        let (Some(QueuedMessage { mut record, .. }), Some(whole)) =
            (self.remove(id), self.wholes.get_mut(&of))
        else {
            return;
        };
        whole.ends.insert(id, end);
        let shared = whole.end();
        self.report_shared(of);
        if let Some(end) = shared {
            self.end_whole(of, end.kind());
            return;
        }
        record.end_part(end);
        let record = record.encode();
        self.out.push_back(Output::Persist { id, record });
    }

    fn end_whole(&mut self, id: SendId, kind: SendEventKind) {
        self.tell(id, kind);
        self.forget_whole(id);
    }

    /// Forgets a message and its remaining fragments.
    fn forget_whole(&mut self, id: SendId) {
        let Some(whole) = self.wholes.remove(&id) else {
            return;
        };
        for part in whole.ids(id) {
            if self.remove(part).is_some() || whole.ends.contains_key(&part) {
                self.out.push_back(Output::Erase(part));
            }
        }
    }

    /// Restores a fragment from its record.
    pub(super) fn restore_part(
        &mut self,
        place: PartPlace,
        record: &SendRecord,
    ) -> Result<(), SendRecordError> {
        let new = || PartedMessage::new(place.count);
        let whole = self.wholes.entry(place.whole).or_insert_with(new);
        if whole.count != place.count || whole.ends.contains_key(&record.id) {
            return Err(SendRecordError::NoPlace);
        }
        whole.ends.extend(record.end.map(|end| (record.id, end)));
        self.has_restored_parts = true;
        Ok(())
    }

    /// Checks the messages whose fragments were restored. If a fragment is missing, the message was never accepted, or
    /// its final state was reported before the crash; its remains are erased.
    pub(super) fn settle_restored(&mut self) {
        let ids: Vec<SendId> = self.wholes.keys().copied().collect();
        for id in ids {
            let step = self.shared_step(id);
            let Some(whole) = self.wholes.get_mut(&id) else {
                continue;
            };
            whole.told = step;
            let has = |part| self.entries.contains_key(&part) || whole.ends.contains_key(&part);
            if !whole.ids(id).all(has) {
                self.forget_whole(id);
            } else if let Some(end) = whole.end() {
                self.end_whole(id, end.kind());
            }
        }
    }
}
