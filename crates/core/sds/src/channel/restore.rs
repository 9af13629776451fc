//! State of a channel before and after a restart.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use undertone_gossip::Time;

use super::super::incoming::ReceivedContent;
use super::super::log::LogEntry;
use super::super::outgoing::Unacknowledged;
use super::super::state::{ChannelState, KeptEntry, KeptOutgoing, KeptPending};
use super::super::{BloomFilter, SdsConfig, SdsMessage};
use super::{Channel, StateError};

impl Channel {
    /// Returns the state to keep across restarts: the timestamp, the ids of the log, and the messages that wait for
    /// acknowledgement or for other messages. Of delivered messages it contains only the local member's own, the latest
    /// up to [`SdsLimits::max_kept_bytes`](crate::SdsLimits::max_kept_bytes), since the sender is the one to answer
    /// repair requests for them.
    pub fn state(&self) -> Vec<u8> {
        let mut left = self.config.limits.max_kept_bytes;
        let log = self.log.by_arrival().rev().map(|(id, entry, is_head)| {
            let is_own = entry.sender == self.config.participant_id;
            let frame = entry
                .frame
                .as_ref()
                .filter(|_| is_own && !self.outgoing.contains(id));
            let frame = frame.filter(|frame| {
                let rest = left.checked_sub(frame.len());
                left = rest.unwrap_or(0);
                rest.is_some()
            });
            KeptEntry {
                id: id.clone(),
                lamport: entry.lamport,
                sender: entry.sender.clone(),
                hint: entry.hint.clone(),
                is_head,
                frame: frame.cloned(),
            }
        });
        let mut log: Vec<KeptEntry> = log.collect();
        log.reverse();
        let outgoing = self.outgoing.iter().map(|(id, message)| KeptOutgoing {
            id: id.clone(),
            frame: message.frame.clone(),
            resends: message.resends,
            seen_by: message.seen_by.clone(),
        });
        let pending = self.incoming.iter().map(|message| KeptPending {
            frame: message.frame.clone(),
            hint: message.hint.clone(),
        });
        let state = ChannelState {
            channel_id: self.config.channel_id.clone(),
            participant_id: self.config.participant_id.clone(),
            lamport: self.lamport,
            log,
            outgoing: outgoing.collect(),
            pending: pending.collect(),
        };
        state.encode()
    }

    /// Creates a returning member from its kept [`state`](Self::state). Timers start anew; messages that can be
    /// delivered under these settings are delivered at the next [`poll`](Self::poll).
    ///
    /// # Errors
    /// [`StateError`] when the state is damaged, of another version, or of another channel or member.
    pub fn restore(
        now: Time,
        config: SdsConfig,
        rng: ChaCha8Rng,
        state: &[u8],
    ) -> Result<Self, StateError> {
        let state = ChannelState::decode(state)?;
        if state.channel_id != config.channel_id || state.participant_id != config.participant_id {
            return Err(StateError::OfOther {
                channel_id: state.channel_id,
                participant_id: state.participant_id,
            });
        }
        let mut channel = Self::new(now, config, rng);
        // The lead must not exceed what is accepted from other members, or they would refuse everything sent.
        let most = channel
            .unix_ms(now)
            .saturating_add(channel.config.limits.max_lamport_lead_ms);
        channel.lamport = channel.lamport.max(state.lamport.min(most));
        channel.restore_log(&state);
        channel.restore_outgoing(now, state.outgoing);
        channel.filter = BloomFilter::of(channel.log.ordered().map(|id| &**id));
        for pending in state.pending {
            channel.restore_pending(now, pending);
        }
        Ok(channel)
    }

    fn restore_log(&mut self, state: &ChannelState) {
        for kept in &state.log {
            let sent = state.outgoing.iter().find(|sent| sent.id == kept.id);
            let frame = sent.map(|sent| &sent.frame).or(kept.frame.as_ref());
            let entry = LogEntry {
                lamport: kept.lamport,
                sender: kept.sender.clone(),
                hint: kept.hint.clone(),
                frame: frame.cloned(),
                answered_at: None,
            };
            self.log.insert(&kept.id, entry, [], &self.config.limits);
            if !kept.is_head {
                self.log.mark_named(&kept.id);
            }
        }
    }

    fn restore_outgoing(&mut self, now: Time, outgoing: Vec<KeptOutgoing>) {
        for kept in outgoing {
            if !self.outgoing.has_room(kept.frame.len(), &self.config) {
                break;
            }
            let message = Unacknowledged {
                frame: kept.frame,
                resends: kept.resends,
                resend_at: now.after(Duration::from_millis(self.config.resend_ms.max(1))),
                seen_by: kept.seen_by,
            };
            self.outgoing.insert(kept.id, message);
        }
    }

    /// Restores a waiting message. If the limits no longer allow it, it is dropped, to be received again.
    fn restore_pending(&mut self, now: Time, kept: KeptPending) {
        let Ok(message) = SdsMessage::decode(&kept.frame, &self.config.limits) else {
            return;
        };
        let id = message.message_id;
        let (Some(lamport), Some(payload)) = (message.lamport_timestamp, message.content) else {
            return;
        };
        if self.log.contains(&id) || self.incoming.contains(&id) {
            return;
        }
        self.note_in_filter(&id);
        let received = ReceivedContent {
            id,
            sender: message.sender_id,
            lamport,
            history: message.causal_history,
            payload,
            hint: kept.hint,
            frame: kept.frame,
        };
        self.take_in(now, received);
    }
}
