//! Machine of one member of a channel.

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

/// Own sync messages are put off by the messages of others up to this many times [`Config::sync_ms`].
const SYNC_PUT_OFF_MAX: u64 = 4;

/// Member of a channel: sends reliably, and delivers what others send in causal order.
///
/// The driver gives each event to [`handle`](Self::handle), then takes outputs from [`poll`](Self::poll) until there are
/// none, and gives a [`Tick`](Input::Tick) at [`next_timeout`](Self::next_timeout). The transport is what the driver
/// makes of [`Output::Publish`]; what it broadcasts should reach every member sooner or later, more than once or not
/// at all.
///
/// Sender ids are claims: the specification has no signatures. A member that lies can confirm a message that nobody
/// has by naming it, and can pose as several members to a Bloom filter's evidence. The payload is for the application
/// to authenticate.
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
    /// Time of the next look at what waiting messages miss.
    sweep_at: Time,
    outputs: VecDeque<Output>,
    /// Whether the state to keep has changed since the last [`Output::Persist`].
    has_changed: bool,
}

impl Channel {
    /// Makes a member that has seen no message. A member that returns is made with [`restore`](Self::restore).
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

    /// Takes an input at the time `now`, which never goes back.
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

    /// Time at which the next [`Tick`](Input::Tick) is due.
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

    /// Lamport timestamp of the local member, near the Unix time in milliseconds.
    pub fn lamport_timestamp(&self) -> u64 {
        self.lamport
    }

    /// Ids of the local log in the order that all members agree on: by Lamport timestamp, then by id.
    pub fn log(&self) -> impl Iterator<Item = &Id> {
        self.log.ordered()
    }

    /// Whether a message sent still waits for acknowledgement.
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

    /// Delivers messages that waited too long, and gives up what is missing too long.
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

    /// Notes again what waiting messages miss and what had to give way in the list of missing messages.
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

    /// Puts an id into the filter, which is made anew of the latest ids when it is full.
    fn note_in_filter(&mut self, id: &Id) {
        if self.filter.inserted() >= BLOOM_CAPACITY {
            let kept = self.log.by_arrival().rev().take(BLOOM_CAPACITY * 4 / 5);
            let waiting = self.incoming.iter().map(|message| &*message.id);
            // As many as may wait are beside the point of a filter's size: they count for the next rollover alone.
            let waiting = waiting.take(BLOOM_CAPACITY / 10);
            self.filter = BloomFilter::of(kept.map(|(id, _, _)| &**id).chain(waiting));
        }
        self.filter.insert(id);
    }

    /// Time of the sync message that carries repair requests, which the messages of others do not put off.
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
