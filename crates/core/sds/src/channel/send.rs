//! Messages that the local member sends.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rand_core::RngCore;
use undertone_gossip::Time;

use super::super::log::LogEntry;
use super::super::outgoing::Unacknowledged;
use super::super::{Id, IdRule, SdsMessage};
use super::{Channel, Output, PublishReason, SdsSendError};

impl Channel {
    pub(super) fn send(&mut self, now: Time, id: Id, payload: Vec<u8>) {
        if let Err(error) = self.try_send(now, &id, payload) {
            self.outputs.push_back(Output::SendRefused { id, error });
        }
    }

    pub(super) fn send_ephemeral(&mut self, id: Id, payload: Vec<u8>) {
        match self.ephemeral_frame(&id, payload) {
            Ok(frame) => self.publish(frame, PublishReason::Ephemeral(id)),
            Err(error) => self.outputs.push_back(Output::SendRefused { id, error }),
        }
    }

    pub(super) fn published(&mut self, id: &str, hint: Vec<u8>) {
        if hint.len() > self.config.limits.max_hint_bytes {
            return;
        }
        if let Some(entry) = self.log.get_mut(id) {
            entry.hint = Some(hint);
            self.has_changed = true;
        }
    }

    pub(super) fn send_sync(&mut self, now: Time) {
        let id = Id::from(format!("sync-{:016x}", self.rng.next_u64()));
        let message = self.message(now, id, None);
        self.lamport = message.lamport_timestamp.unwrap_or(self.lamport);
        self.note_sent(now);
        if !message.causal_history.is_empty() || !message.repair_request.is_empty() {
            self.publish(message.encode().into(), PublishReason::Sync);
        }
    }

    pub(super) fn publish(&mut self, bytes: Arc<[u8]>, reason: PublishReason) {
        let is_ephemeral = matches!(reason, PublishReason::Sync | PublishReason::Ephemeral(_));
        self.outputs.push_back(Output::Publish {
            bytes,
            reason,
            is_ephemeral,
        });
    }

    fn try_send(&mut self, now: Time, id: &Id, payload: Vec<u8>) -> Result<(), SdsSendError> {
        self.check(id, &payload)?;
        if self.log.contains(id) || self.incoming.contains(id) {
            return Err(SdsSendError::DuplicateId);
        }
        if !self.outgoing.has_room(payload.len(), &self.config) {
            return Err(SdsSendError::Full);
        }
        let message = self.message(now, id.clone(), Some(payload));
        let frame: Arc<[u8]> = message.encode().into();
        self.check_length(frame.len())?;
        if !self.outgoing.has_room(frame.len(), &self.config) {
            return Err(SdsSendError::Full);
        }
        self.lamport = message.lamport_timestamp.unwrap_or(self.lamport);
        let waiting = Unacknowledged {
            frame: frame.clone(),
            resends: 0,
            resend_at: now.after(Duration::from_millis(self.config.resend_ms.max(1))),
            seen_by: BTreeSet::new(),
        };
        self.outgoing.insert(id.clone(), waiting);
        let entry = LogEntry {
            lamport: self.lamport,
            sender: self.config.participant_id.clone(),
            hint: None,
            frame: Some(frame.clone()),
            answered_at: None,
        };
        let named = message
            .causal_history
            .iter()
            .map(|entry| &*entry.message_id);
        self.log.insert(id, entry, named, &self.config.limits);
        self.note_in_filter(id);
        self.missing.found(id);
        self.note_sent(now);
        self.has_changed = true;
        self.publish(frame, PublishReason::Message(id.clone()));
        Ok(())
    }

    fn ephemeral_frame(&self, id: &Id, payload: Vec<u8>) -> Result<Arc<[u8]>, SdsSendError> {
        self.check(id, &payload)?;
        let message = SdsMessage {
            sender_id: self.config.participant_id.clone(),
            message_id: id.clone(),
            channel_id: self.config.channel_id.clone(),
            lamport_timestamp: None,
            causal_history: Vec::new(),
            bloom_filter: None,
            repair_request: Vec::new(),
            content: Some(payload),
        };
        let frame: Arc<[u8]> = message.encode().into();
        self.check_length(frame.len())?;
        Ok(frame)
    }

    fn check(&self, id: &str, payload: &[u8]) -> Result<(), SdsSendError> {
        if payload.is_empty() {
            return Err(SdsSendError::Empty);
        }
        self.check_length(payload.len())?;
        if id.len() > self.config.limits.max_id_bytes || !self.config.id_rule.allows(id, payload) {
            return Err(SdsSendError::WrongId);
        }
        Ok(())
    }

    fn check_length(&self, size_bytes: usize) -> Result<(), SdsSendError> {
        if size_bytes > self.config.limits.max_frame_bytes {
            return Err(SdsSendError::TooLarge { size_bytes });
        }
        Ok(())
    }

    /// Creates a message with the next timestamp and what the member has and misses; the member's own
    /// timestamp is unchanged.
    fn message(&mut self, now: Time, id: Id, content: Option<Vec<u8>>) -> SdsMessage {
        let timestamp = self.lamport.saturating_add(1).max(self.unix_ms(now));
        let with_senders = self.config.repair.is_some();
        SdsMessage {
            sender_id: self.config.participant_id.clone(),
            message_id: id,
            channel_id: self.config.channel_id.clone(),
            lamport_timestamp: Some(timestamp),
            causal_history: self
                .log
                .causal_history(self.config.causal_history, with_senders),
            bloom_filter: Some(self.filter.as_bytes().to_vec()),
            repair_request: self.missing.requests(now, &self.config),
            content,
        }
    }

    fn note_sent(&mut self, now: Time) {
        self.last_sent_at = now;
        self.sync_at = self.next_sync(now);
    }
}

impl IdRule {
    pub(super) fn allows(self, id: &str, content: &[u8]) -> bool {
        use sha2::{Digest, Sha256};
        use std::fmt::Write;

        match self {
            Self::Any => !id.is_empty(),
            Self::Sha256OfContent => {
                let mut expected = String::with_capacity(64);
                for byte in Sha256::digest(content) {
                    // Writing to a string does not fail.
                    let _ = write!(expected, "{byte:02x}");
                }
                id == expected
            }
        }
    }
}
