//! Messages that arrive.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use undertone_gossip::Time;

use super::super::incoming::ReceivedContent;
use super::super::log::LogEntry;
use super::super::repair::{responds_to, response_delay_ms};
use super::super::{BloomView, CausalHistoryEntry, Id, MessageKind, SdsMessage};
use super::{Channel, Output, SYNC_PUT_OFF_MAX, SdsRefusal};

impl Channel {
    pub(super) fn receive(
        &mut self,
        now: Time,
        bytes: &[u8],
        hint: Option<Vec<u8>>,
        is_live: bool,
    ) {
        if let Err(refusal) = self.try_receive(now, bytes, hint, is_live) {
            self.outputs.push_back(Output::Refused(refusal));
        }
    }

    fn try_receive(
        &mut self,
        now: Time,
        bytes: &[u8],
        hint: Option<Vec<u8>>,
        is_live: bool,
    ) -> Result<(), SdsRefusal> {
        let message = SdsMessage::decode(bytes, &self.config.limits)?;
        let kind = self.check_received(now, &message)?;
        let id = message.message_id.clone();
        if kind == MessageKind::Ephemeral {
            self.outputs.push_back(Output::Deliver {
                id,
                sender: message.sender_id,
                lamport_timestamp: None,
                payload: message.content.unwrap_or_default(),
                gaps: Vec::new(),
            });
            return Ok(());
        }
        if kind == MessageKind::Content && (self.log.contains(&id) || self.incoming.contains(&id)) {
            self.note_answered(&id, bytes);
            return Err(SdsRefusal::Duplicate { id });
        }
        if is_live {
            let most_ms = self.config.sync_ms.saturating_mul(SYNC_PUT_OFF_MAX);
            let latest = self.last_sent_at.after(Duration::from_millis(most_ms));
            self.sync_at = self.next_sync(now).min(latest).max(self.sync_at);
        }
        if message.sender_id != self.config.participant_id {
            self.take_repair_requests(now, &message.repair_request);
            self.review(&message);
        }
        if kind == MessageKind::Sync {
            self.note_gaps(now, &message.causal_history, None);
            return Ok(());
        }
        self.take_content(now, message, bytes, hint);
        Ok(())
    }

    fn check_received(&self, now: Time, message: &SdsMessage) -> Result<MessageKind, SdsRefusal> {
        let kind = message.kind().ok_or(SdsRefusal::Meaningless)?;
        if message.channel_id != self.config.channel_id {
            return Err(SdsRefusal::OtherChannel);
        }
        let id = &message.message_id;
        let content = message.content.as_deref().unwrap_or_default();
        if kind != MessageKind::Sync && !self.config.id_rule.allows(id, content) {
            return Err(SdsRefusal::WrongId { id: id.clone() });
        }
        // After a restart with old state, others may name messages that the local member sent but no longer has.
        if message.sender_id == self.config.participant_id && !self.missing.contains(id) {
            return Err(SdsRefusal::Own);
        }
        let timestamp = message.lamport_timestamp.unwrap_or(0);
        let lead_ms = timestamp.saturating_sub(self.unix_ms(now));
        if lead_ms > self.config.limits.max_lamport_lead_ms {
            return Err(SdsRefusal::FarFuture { lead_ms });
        }
        Ok(kind)
    }

    /// Cancels the local member's answer to a repair request when another member has answered with the same message.
    fn note_answered(&mut self, id: &str, bytes: &[u8]) {
        let frame = self.log.get(id).and_then(|entry| entry.frame.as_ref());
        if frame.is_some_and(|frame| **frame == *bytes) {
            self.responses.remove(id);
        }
    }

    fn take_repair_requests(&mut self, now: Time, requests: &[CausalHistoryEntry]) {
        let Some(timing) = self.config.repair else {
            return;
        };
        let participant = &self.config.participant_id;
        for request in requests {
            let id = &request.message_id;
            self.missing.put_off(now, id, &self.config);
            let Some(entry) = self.log.get(id) else {
                continue;
            };
            let since = entry.answered_at.map(|at| now.since(at));
            let is_answered = since.is_some_and(|it| it < Duration::from_millis(timing.max_ms));
            // The log knows who sent the message; the request only claims to.
            let sender = &entry.sender;
            if entry.frame.is_none()
                || is_answered
                || !responds_to(&timing, participant, sender, id)
            {
                continue;
            }
            let delay_ms = response_delay_ms(&timing, participant, sender, id);
            let at = now.after(Duration::from_millis(delay_ms));
            self.responses.add(id, at, self.config.limits.max_responses);
        }
    }

    /// Updates which of the local member's messages the sender of a message has.
    fn review(&mut self, message: &SdsMessage) {
        if self.outgoing.is_empty() {
            return;
        }
        for entry in &message.causal_history {
            if self.outgoing.acknowledge(&entry.message_id) {
                self.acknowledged(entry.message_id.clone());
            }
        }
        let filter = message.bloom_filter.as_deref().map(BloomView::new);
        let Some(Ok(filter)) = filter else {
            return;
        };
        if filter.fill_permille() > self.config.limits.max_filter_fill_permille {
            return;
        }
        let seen = self
            .outgoing
            .review(filter, &message.sender_id, &self.config);
        for id in seen.possibly {
            self.has_changed = true;
            self.outputs.push_back(Output::PossiblyAcknowledged { id });
        }
        seen.acknowledged
            .into_iter()
            .for_each(|id| self.acknowledged(id));
    }

    fn acknowledged(&mut self, id: Id) {
        self.has_changed = true;
        self.outputs.push_back(Output::Acknowledged { id });
    }

    fn take_content(
        &mut self,
        now: Time,
        message: SdsMessage,
        bytes: &[u8],
        hint: Option<Vec<u8>>,
    ) {
        let received = ReceivedContent {
            id: message.message_id,
            sender: message.sender_id,
            lamport: message.lamport_timestamp.unwrap_or(0),
            history: message.causal_history,
            payload: message.content.unwrap_or_default(),
            hint: hint.filter(|hint| hint.len() <= self.config.limits.max_hint_bytes),
            frame: Arc::from(bytes),
        };
        self.has_changed = true;
        self.note_in_filter(&received.id);
        self.take_in(now, received);
    }

    /// Delivers a message, or holds it until the messages it names have arrived.
    pub(super) fn take_in(&mut self, now: Time, received: ReceivedContent) {
        self.missing.found(&received.id);
        let unmet = self.note_gaps(now, &received.history, Some(&received.id));
        if unmet.is_empty() {
            self.deliver_all(received, BTreeSet::new());
            return;
        }
        let deadline = now.after(Duration::from_millis(self.config.lost_after_ms));
        self.incoming.insert(received, unmet, deadline);
        while self.incoming.is_over(&self.config.limits) {
            let Some((oldest, unmet)) = self.incoming.take_oldest() else {
                break;
            };
            self.deliver_all(oldest, unmet);
        }
    }

    /// Returns the messages of a causal history that are not delivered, except lost ones and `own` itself. Those that
    /// have not arrived are recorded as missing.
    fn note_gaps(
        &mut self,
        now: Time,
        history: &[CausalHistoryEntry],
        own: Option<&Id>,
    ) -> BTreeSet<Id> {
        let mut unmet = BTreeSet::new();
        for entry in history {
            let id = &entry.message_id;
            let is_met = self.log.contains(id) || self.missing.is_lost(id);
            if id.is_empty() || Some(id) == own || is_met {
                continue;
            }
            unmet.insert(id.clone());
            if !self.incoming.contains(id) {
                self.missing.add(now, entry, &self.config, &mut self.rng);
            }
        }
        unmet
    }

    /// Delivers a message, then those that waited only for it, and so on. Among several, the one with the lowest
    /// timestamp and id comes first.
    pub(super) fn deliver_all(&mut self, first: ReceivedContent, gaps: BTreeSet<Id>) {
        let mut ready = BTreeMap::from([((first.lamport, first.id.clone()), first)]);
        let mut gaps = Some(gaps);
        while let Some(((_, id), received)) = ready.pop_first() {
            self.deliver(received, gaps.take().unwrap_or_default());
            for next in self.incoming.met(&id) {
                ready.insert((next.lamport, next.id.clone()), next);
            }
        }
    }

    fn deliver(&mut self, received: ReceivedContent, unmet: BTreeSet<Id>) {
        self.has_changed = true;
        self.lamport = self.lamport.max(received.lamport);
        let id = received.id;
        let named = received.history.iter().map(|entry| &entry.message_id);
        let lost = named.filter(|name| self.missing.is_lost(name)).cloned();
        let gaps = unmet.into_iter().chain(lost).collect::<BTreeSet<_>>();
        let entry = LogEntry {
            lamport: received.lamport,
            sender: received.sender.clone(),
            hint: received.hint,
            frame: Some(received.frame),
            answered_at: None,
        };
        let named = received.history.iter().map(|entry| &*entry.message_id);
        self.log.insert(&id, entry, named, &self.config.limits);
        self.outputs.push_back(Output::Deliver {
            id,
            sender: received.sender,
            lamport_timestamp: Some(received.lamport),
            payload: received.payload,
            gaps: gaps.into_iter().collect(),
        });
    }
}
