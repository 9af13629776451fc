//! State machine of one member of a channel.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::RngCore;
use undertone_gossip::Time;

use super::bloom::{BLOOM_CAPACITY, BloomFilter};
use super::incoming::IncomingBuffer;
use super::log::Log;
use super::missing::MissingMessages;
use super::outgoing::{Due, Outgoing};
use super::repair::Responses;
use super::{CausalHistoryEntry, Id, SdsConfig};

mod receive;
mod restore;
mod send;
#[cfg(test)]
mod tests;
mod types;

pub use super::state::StateError;
pub use types::{Input, Output, PublishReason, SdsRefusal, SdsSendError};

/// Messages of others can delay own sync messages by up to this many times [`SdsConfig::sync_ms`].
const SYNC_PUT_OFF_MAX: u64 = 4;

/// Member of a channel: sends reliably, and delivers what others send in causal order.
///
/// The driver passes each event to [`handle`](Self::handle), then takes outputs from [`poll`](Self::poll) until there
/// are none, and passes a [`Tick`](Input::Tick) at [`next_timeout`](Self::next_timeout). The driver implements the
/// transport behind [`Output::Publish`]. It should deliver each broadcast to every member sooner or later, but may
/// repeat or lose it.
///
/// Sender ids are unauthenticated: the specification has no signatures. A lying member can confirm a message that
/// nobody has by naming it, and can pose as several members whose Bloom filters contain a message. The application must
/// authenticate the payload.
#[derive(Debug)]
pub struct Channel {
    config: SdsConfig,
    rng: ChaCha8Rng,
    lamport: u64,
    filter: BloomFilter,
    log: Log,
    incoming: IncomingBuffer,
    missing: MissingMessages,
    outgoing: Outgoing,
    responses: Responses,
    last_sent_at: Time,
    sync_at: Time,
    /// Time of the next check for messages that waiting ones are missing.
    sweep_at: Time,
    outputs: VecDeque<Output>,
    /// Whether the persistent state has changed since the last [`Output::Persist`].
    has_changed: bool,
}

impl Channel {
    /// Creates a member that has seen no message. Use [`restore`](Self::restore) for a returning member.
    pub fn new(now: Time, config: SdsConfig, rng: ChaCha8Rng) -> Self {
        let mut channel = Self {
            lamport: 0,
            filter: BloomFilter::default(),
            log: Log::default(),
            incoming: IncomingBuffer::default(),
            missing: MissingMessages::default(),
            outgoing: Outgoing::default(),
            responses: Responses::default(),
            last_sent_at: now,
            sync_at: now,
            sweep_at: now,
            outputs: VecDeque::new(),
            has_changed: false,
            config,
            rng,
        };
        channel.lamport = channel.unix_ms(now);
        channel.sync_at = channel.next_sync(now);
        channel
    }

    /// Handles an input at the time `now`, which must not decrease.
    pub fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Send { id, payload } => self.send(now, id, payload),
            Input::SendEphemeral { id, payload } => self.send_ephemeral(id, payload),
            Input::Published { id, retrieval_hint } => self.published(&id, retrieval_hint),
            Input::Received {
                bytes,
                retrieval_hint,
            } => {
                self.receive(now, &bytes, retrieval_hint, true);
            }
            Input::Retrieved {
                bytes,
                retrieval_hint,
            } => {
                self.receive(now, &bytes, retrieval_hint, false);
            }
            Input::Tick => {}
        }
        self.on_time(now);
        if std::mem::take(&mut self.has_changed) {
            self.outputs.push_front(Output::Persist);
        }
    }

    /// Takes the next output.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns the time at which the next [`Tick`](Input::Tick) is due.
    pub fn next_timeout(&self) -> Option<Time> {
        let times = [
            Some(self.sync_at),
            self.repair_sync_at(),
            self.incoming.next_timeout(),
            self.incoming.next_timeout().map(|_| self.sweep_at),
            self.missing.next_timeout(),
            self.outgoing.next_timeout(&self.config),
            self.responses.next_timeout(),
        ];
        times.into_iter().flatten().min()
    }

    /// Returns the local member's Lamport timestamp, near the Unix time in milliseconds.
    pub fn lamport_timestamp(&self) -> u64 {
        self.lamport
    }

    /// Returns the ids of the local log in the order on which all members agree: by Lamport timestamp, then by id.
    pub fn log(&self) -> impl Iterator<Item = &Id> {
        self.log.ordered()
    }

    /// Whether any sent message still waits for acknowledgement.
    pub fn has_unacknowledged(&self) -> bool {
        !self.outgoing.is_empty()
    }

    fn on_time(&mut self, now: Time) {
        self.give_up_waiting(now);
        if self.sweep_at <= now {
            self.sweep_incoming(now);
        }
        while let Some(due) = self.outgoing.take_due(now, &self.config) {
            self.has_changed = true;
            match due {
                Due::Resend(id, frame) => {
                    self.publish(frame, PublishReason::Resend(id));
                }
                Due::GiveUp(id) => self.outputs.push_back(Output::Unconfirmed { id }),
            }
        }
        self.answer_repair_requests(now);
        let entries = self.missing.report(now, &self.config);
        if !entries.is_empty() {
            self.outputs.push_back(Output::Missing { entries });
        }
        if self.sync_at <= now || self.repair_sync_at().is_some_and(|at| at <= now) {
            self.send_sync(now);
        }
    }

    /// Delivers messages that waited too long, and gives up on those missing for too long.
    fn give_up_waiting(&mut self, now: Time) {
        while self.incoming.next_timeout().is_some_and(|at| at <= now) {
            let Some((message, missing)) = self.incoming.take_oldest() else {
                break;
            };
            let received = |id: &&Id| self.incoming.contains(id);
            let lost: Vec<Id> = missing.iter().filter(|id| !received(id)).cloned().collect();
            self.deliver_all(message, missing);
            self.lose(lost);
        }
        let overdue = self.missing.overdue(now);
        self.lose(overdue);
    }

    fn lose(&mut self, ids: Vec<Id>) {
        let ids = self.missing.lose(ids, self.config.limits.max_missing);
        if ids.is_empty() {
            return;
        }
        self.outputs.push_back(Output::Lost { ids: ids.clone() });
        for id in ids {
            for message in self.incoming.met(&id) {
                self.deliver_all(message, BTreeSet::new());
            }
        }
    }

    /// Records missing messages again that waiting ones need but that were evicted from the list of missing messages.
    fn sweep_incoming(&mut self, now: Time) {
        self.sweep_at = now.after(Duration::from_millis(self.config.missing_again_ms.max(1)));
        let room = self
            .config
            .limits
            .max_missing
            .saturating_sub(self.missing.len());
        let unmet = self.incoming.unmet().filter(|entry| {
            let id = &entry.message_id;
            !self.missing.contains(id) && !self.incoming.contains(id)
        });
        let forgotten: Vec<CausalHistoryEntry> = unmet.take(room).cloned().collect();
        for entry in forgotten {
            self.missing.add(now, &entry, &self.config, &mut self.rng);
        }
    }

    fn answer_repair_requests(&mut self, now: Time) {
        let gap_ms = self.config.limits.response_gap_ms;
        while let Some(id) = self.responses.take_due(now, gap_ms) {
            let Some(entry) = self.log.get_mut(&id) else {
                continue;
            };
            if let Some(frame) = entry.frame.clone() {
                entry.answered_at = Some(now);
                self.publish(frame, PublishReason::Repair(id));
            }
        }
    }

    /// Inserts an id into the filter. When the filter is full, it is rebuilt from the latest ids.
    fn note_in_filter(&mut self, id: &Id) {
        if self.filter.inserted() >= BLOOM_CAPACITY {
            let kept = self.log.by_arrival().rev().take(BLOOM_CAPACITY * 4 / 5);
            let waiting = self.incoming.iter().map(|message| &*message.id);
            // The number of waiting messages is not limited by the filter's size, so only some of them are kept in the
            // new filter.
            let waiting = waiting.take(BLOOM_CAPACITY / 10);
            self.filter = BloomFilter::of(kept.map(|(id, _, _)| &**id).chain(waiting));
        }
        self.filter.insert(id);
    }

    /// Returns the time of the sync message that carries repair requests, which the messages of others do not delay.
    fn repair_sync_at(&self) -> Option<Time> {
        let sync_at = self
            .last_sent_at
            .after(Duration::from_millis(self.config.sync_ms.max(1)));
        Some(self.missing.next_request()?.max(sync_at))
    }

    fn next_sync(&mut self, now: Time) -> Time {
        let jitter_ms = match self.config.sync_jitter_ms {
            0 => 0,
            most_ms => self.rng.next_u64() % most_ms,
        };
        let delay_ms = self.config.sync_ms.max(1).saturating_add(jitter_ms);
        now.after(Duration::from_millis(delay_ms))
    }

    fn unix_ms(&self, now: Time) -> u64 {
        self.config
            .clock_origin_ms
            .saturating_add(now.as_nanos() / 1_000_000)
    }
}
