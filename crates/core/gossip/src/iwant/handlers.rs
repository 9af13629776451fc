//! Handling of IHAVE, IWANT timers and arrivals: which peer is asked for a message, when, and for how long.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use super::record::{AskWindow, Asked, AskedPeer, Holder, InFlightLimits};
use super::reliability::Reliability;
use crate::config::Config;
use crate::error::PeerMisbehaved;
use crate::peers::{PeerState, Peers};
use crate::router::Router;
use crate::score::Scores;
use crate::time::Time;
use crate::types::{MessageId, PeerIx};
use crate::wire::{self, Encoder, IHave};

/// Part of the open requests that is for peers of which no more than [`FEW_IDS`] are asked: one in so many.
const RESERVED_PART: usize = 4;

/// Ids that may be requested from one peer between two heartbeats while only the reserved part is left. 78 peers whose
/// requests stay open for four heartbeats cannot fill it.
const FEW_IDS: usize = 16;

/// Order in which the holders of a message are asked.
#[derive(Clone, Copy)]
struct Ranking<'a> {
    peers: &'a Peers,
    scores: &'a Scores,
}

impl Ranking<'_> {
    /// Compares two peers: fewer overdue requests first, then the better score.
    fn order(self, a: PeerIx, b: PeerIx) -> Ordering {
        let overdue = |peer| {
            self.peers
                .get(peer)
                .map_or(u32::MAX, |p| p.answers.overdue_in_a_row())
        };
        let score = |peer| self.scores.score(peer);
        overdue(a)
            .cmp(&overdue(b))
            .then_with(|| score(b).total_cmp(&score(a)))
    }

    /// Removes the first of `holders` in this order; among equals the one that announced the message first.
    fn take_first(self, holders: &mut Vec<Holder>) -> Option<Holder> {
        let numbered = holders.iter().enumerate();
        let first = numbered.min_by(|(_, a), (_, b)| self.order(a.peer, b.peer));
        let at = first.map(|(at, _)| at)?;
        Some(holders.remove(at))
    }
}

/// Time after its announcement for which a holder certainly has a message.
fn binding_for(config: &Config) -> Duration {
    // Implementations that follow the specification keep a message for two heartbeats after the last
    // heartbeat at which they announce it; nwaku and this one keep it for three.
    config.heartbeat * 2
}

/// Time after its announcement for which a holder may still have the message.
fn kept_for(config: &Config) -> Duration {
    let heartbeats = u32::try_from(config.history_length).unwrap_or(u32::MAX);
    config.heartbeat.saturating_mul(heartbeats)
}

impl Router {
    pub(crate) fn on_ihave(&mut self, peer: PeerIx, ihave: &IHave) {
        self.stats.received.ihave += ihave.ids.len() as u64;
        let joined = self
            .topics
            .find(&ihave.topic)
            .filter(|ix| self.topics.get(*ix).joined);
        let Some(ix) = joined else {
            return;
        };
        if self.scores.score(peer) < self.config.thresholds.gossip {
            return;
        }
        if !self.has_bandwidth(ix) {
            self.topics.get_mut(ix).meter.totals.not_requested += ihave.ids.len() as u64;
            return;
        }
        let limits = &self.config.limits;
        let ids_max = self.ids_per_heartbeat();
        let Some(state) = self.peers.get(peer) else {
            return;
        };
        let (features, reliability) = (state.features, state.answers.reliability());
        let Some(busy) = self.peers.get_busy(peer) else {
            return;
        };
        busy.used.ihave_messages += 1;
        let max = match features.large_messages {
            true => limits.announcements_per_heartbeat_max,
            false => limits.ihave_messages_per_heartbeat_max,
        };
        if busy.used.ihave_messages > max {
            return;
        }
        let ids_max = match reliability {
            Reliability::Dubious => ids_max.min(limits.iwant_ids_of_dubious_per_heartbeat_max),
            Reliability::Trusted | Reliability::Untried => ids_max,
        };
        let used = busy.used.iwant_ids + busy.used.waiting_ids;
        let room = self.fetcher.room().min(self.fetcher.room_to_wait());
        let budget = self.ids_allowed(ids_max, used, room);
        let in_flight = self.in_flight();
        let mut wanted = Vec::new();
        for id in &ihave.ids {
            // A message in the stem is asked for as if it were unknown: silence would tell the peer that it is here.
            if self.seen.contains(id) && !self.stem.hides(id) {
                continue;
            }
            if self.fetcher.is_asked(id, peer) {
                continue;
            }
            if self.fetcher.places(id, reliability, in_flight) > 0 {
                wanted.push(*id);
            } else {
                // Other peers are asked already; this one is a candidate if they do not deliver.
                let window = self.ask_in(self.config.large.iwant_retry);
                let sooner = self.fetcher.dubious_until(id, self.now);
                self.ask_later(*id, peer, window.or_sooner(sooner));
            }
        }
        if wanted.is_empty() {
            return;
        }
        wanted.sort_unstable();
        wanted.dedup();
        self.rng.choose(&mut wanted, budget);
        wanted.truncate(budget);
        let delay = self.config.large.iwant_delay;
        if delay.is_zero() && self.transfer_until().is_none() {
            let is_binding = true;
            let asked: Vec<_> = wanted
                .iter()
                .map(|id| Asked {
                    id: *id,
                    is_binding,
                })
                .collect();
            return self.ask(peer, &asked);
        }
        if let Some(busy) = self.peers.get_busy(peer) {
            busy.used.waiting_ids += wanted.len();
        }
        let window = self.ask_in(delay);
        for id in wanted {
            self.ask_later(id, peer, window);
        }
    }

    /// Records a peer that has just announced a message.
    fn ask_later(&mut self, id: MessageId, peer: PeerIx, window: AskWindow) {
        let heard_at = self.now;
        self.note_holder(id, Holder { peer, heard_at }, window);
    }

    fn note_holder(&mut self, id: MessageId, holder: Holder, window: AskWindow) {
        let (peers, scores) = (&self.peers, &self.scores);
        let ranking = Ranking { peers, scores };
        let is_worse = |a, b| ranking.order(a, b) == Ordering::Greater;
        self.fetcher.ask_later(id, holder, window, is_worse);
    }

    /// Sends IWANT for ids that are within every budget, and records the requests.
    fn ask(&mut self, peer: PeerIx, wanted: &[Asked]) {
        let Some(state) = self.peers.get(peer).filter(|_| !wanted.is_empty()) else {
            return;
        };
        let reliability = state.answers.reliability();
        if let Some(busy) = self.peers.get_busy(peer) {
            busy.used.iwant_ids += wanted.len();
        }
        let patience = self.patience(reliability);
        let asked = AskedPeer {
            peer,
            reliability,
            patience,
        };
        self.fetcher.on_asked(wanted, asked, self.now);
        self.stats.sent.iwant += wanted.len() as u64;
        let ids: Vec<_> = wanted.iter().map(|asked| asked.id).collect();
        let per_frame = self.ids_per_iwant();
        if ids.len() <= per_frame {
            for part in ids.chunks(self.ids_per_frame()) {
                let bytes = wire::ids_bytes(part);
                self.control_with_room(peer, bytes).iwant(part);
            }
            return;
        }
        for part in ids.chunks(per_frame) {
            let mut encoder = Encoder::default();
            encoder.iwant(part);
            let frame = encoder.finish();
            self.send_control(peer, frame);
        }
    }

    /// Returns the number of ids in one IWANT. The answer must stay small, because some implementations
    /// answer each IWANT with one frame and drop what does not fit. Message lengths are unknown in advance,
    /// so the longest recent message serves as an estimate.
    fn ids_per_iwant(&self) -> usize {
        let limits = &self.config.limits;
        (limits.iwant_answer_bytes_max / self.expected_message_bytes()).max(1)
    }

    /// Returns the number of ids that may be requested from one peer between two heartbeats. Answers that do
    /// not fit the peer's send queue would be dropped there, which is nobody's fault.
    fn ids_per_heartbeat(&self) -> usize {
        let limits = &self.config.limits;
        let by_bytes = limits.iwant_bytes_per_heartbeat_max / self.expected_message_bytes();
        limits.iwant_ids_per_heartbeat_max.min(by_bytes.max(1))
    }

    fn expected_message_bytes(&self) -> usize {
        let unknown = self.config.limits.iwant_unknown_message_bytes;
        self.cache.longest_bytes().unwrap_or(unknown).max(1)
    }

    fn patience(&self, reliability: Reliability) -> Duration {
        match reliability {
            Reliability::Trusted | Reliability::Untried => self.config.iwant_give_up,
            Reliability::Dubious => self
                .config
                .iwant_give_up
                .min(self.config.iwant_give_up_dubious),
        }
    }

    /// Returns the window of an IWANT that is due after `delay` and may then wait for transfers.
    fn ask_in(&self, delay: Duration) -> AskWindow {
        let due = self.now.after(delay);
        let deadline = due.after(self.config.large.transfer_wait);
        AskWindow { due, deadline }
    }

    /// Requests the due ids: from as many holders as may be asked now, and from the others later.
    pub(crate) fn ask_due(&mut self) {
        let transfer_until = self.transfer_until();
        if let Some(until) = transfer_until {
            self.fetcher.hold(self.now, until);
        }
        let retry = self.ask_in(self.config.large.iwant_retry);
        let mut asking: BTreeMap<PeerIx, Vec<Asked>> = BTreeMap::new();
        while let Some((id, holders)) = self.fetcher.take_due(self.now) {
            let rest = self.choose_holders(id, holders, &mut asking);
            let dubious = asking.iter().any(|(peer, ids)| {
                ids.last().is_some_and(|asked| asked.id == id)
                    && self.reliability(*peer) == Reliability::Dubious
            });
            let new = dubious.then(|| self.now.after(self.patience(Reliability::Dubious)));
            let sooner = self.fetcher.dubious_until(&id, self.now).or(new);
            for holder in rest {
                self.note_holder(id, holder, retry.or_sooner(sooner));
            }
        }
        for (peer, asked) in asking {
            if transfer_until.is_some() {
                self.stats.iwant_after_deadline += asked.len() as u64;
            }
            self.ask(peer, &asked);
        }
    }

    /// Moves the best of `holders` to `asking`, one plus one more for each failed request, and returns those
    /// to keep for later. Candidates are kept until the requests in progress have ended.
    fn choose_holders(
        &self,
        id: MessageId,
        mut holders: Vec<Holder>,
        asking: &mut BTreeMap<PeerIx, Vec<Asked>>,
    ) -> Vec<Holder> {
        let (peers, scores) = (&self.peers, &self.scores);
        let ranking = Ranking { peers, scores };
        let in_flight = self.in_flight();
        let (kept_for, binding_for) = (kept_for(&self.config), binding_for(&self.config));
        let chosen_max = 1 + self.fetcher.failed(&id, self.now);
        let mut chosen = 0;
        let mut later = Vec::new();
        while let Some(holder) = ranking.take_first(&mut holders) {
            let Holder { peer, heard_at } = holder;
            let age = self.now.since(heard_at);
            if age > kept_for || !self.is_heard(peer) || self.fetcher.is_asked(&id, peer) {
                continue;
            }
            let reliability = self.reliability(peer);
            let places = self.fetcher.places(&id, reliability, in_flight);
            let has_place = chosen < places.min(chosen_max);
            let chosen_for_all = asking.values().map(Vec::len).sum();
            let room = self.fetcher.room().saturating_sub(chosen_for_all);
            let asked = asking.get(&peer).map_or(0, Vec::len);
            if !has_place || !self.has_budget(peer, asked, room) {
                later.push(holder);
                continue;
            }
            let is_binding = age <= binding_for;
            asking
                .entry(peer)
                .or_default()
                .push(Asked { id, is_binding });
            chosen += 1;
        }
        later
    }

    fn in_flight(&self) -> InFlightLimits {
        InFlightLimits {
            now: self.now,
            max: self.config.iwant_in_flight_max,
            retry_max: self.config.iwant_in_flight_retry_max,
        }
    }

    fn reliability(&self, peer: PeerIx) -> Reliability {
        let state = self.peers.get(peer);
        state.map_or(Reliability::Untried, |state| state.answers.reliability())
    }

    fn is_heard(&self, peer: PeerIx) -> bool {
        self.peers.get(peer).is_some() && self.scores.score(peer) >= self.config.thresholds.gossip
    }

    /// Whether the peer's budget allows one more id; `asking` ids are chosen but not yet counted. `room` requests over
    /// all peers are possible.
    fn has_budget(&self, peer: PeerIx, asking: usize, room: usize) -> bool {
        let max = self.ids_per_heartbeat();
        let used = |state: &PeerState| state.used().iwant_ids + asking;
        let allowed = |state| self.ids_allowed(max, used(state), room) > 0;
        self.peers.get(peer).is_some_and(allowed)
    }

    /// Number of ids that may still be requested from a peer before the next heartbeat: at most `ids_max`, of which
    /// `used` are requested already, while `room` requests over all peers are possible. The last part of the room is
    /// for peers of which little is asked, so that those which announce much do not use it up.
    fn ids_allowed(&self, ids_max: usize, used: usize, room: usize) -> usize {
        let reserved = self.config.limits.promises_max / RESERVED_PART;
        let few = FEW_IDS.min(ids_max).saturating_sub(used).min(room);
        let many = ids_max.saturating_sub(used);
        many.min(room.saturating_sub(reserved)).max(few)
    }

    /// Records that a message arrived, from a peer or from this node: no more peers are asked for it.
    pub(crate) fn on_message_received(&mut self, id: &MessageId, sender: Option<PeerIx>) {
        // The request counts as answered even if there is no room for the message: the peer kept its promise.
        let was_asked = self.fetcher.on_received(id, sender);
        if let Some(state) = sender
            .filter(|_| was_asked)
            .and_then(|peer| self.peers.get_mut(peer))
        {
            state.answers.on_answer();
        }
    }

    /// Counts the overdue requests, and penalises peers that repeatedly leave requests unanswered. While a
    /// long frame from a peer is in transit, its overdue requests are not counted.
    pub(crate) fn judge_unanswered(&mut self) {
        let unanswered = self.fetcher.unanswered(self.now);
        for (peer, count) in unanswered.overdue {
            if let Some(state) = self
                .peers
                .get_mut(peer)
                .filter(|_| !self.transfers.is_from(peer))
            {
                state.answers.on_overdue(count);
            }
        }
        for (peer, count) in unanswered.broken {
            let state = self.peers.get(peer);
            let in_a_row = state.map_or(0, |state| state.answers.overdue_in_a_row());
            if in_a_row >= self.config.broken_promises_habit {
                self.misbehaved(peer, None, PeerMisbehaved::BrokenPromises { count });
            }
        }
    }

    /// Latest time at which [`Self::ask_due`] has to run; [`Time::MAX`] when no id waits.
    pub(crate) fn next_iwant(&self) -> Time {
        self.fetcher.next_due()
    }

    pub(crate) fn transfer_started(&mut self, peer: PeerIx) {
        // The peer may be gone by the time its connection reports, so an unknown peer is not an error.
        if self.peers.get(peer).is_some() {
            self.transfers.on_started(peer, self.now);
        }
    }

    /// Records that no long frame from the peer is in transit any more, and releases the ids that
    /// waited for it.
    pub(crate) fn transfer_ended(&mut self, peer: PeerIx) {
        self.transfers.on_ended(peer);
        // Called for every long message; usually no id waits for it.
        if self.fetcher.is_any_on_hold() && self.transfer_until().is_none() {
            self.fetcher.release(self.now);
        }
    }

    /// Returns the latest time until which a wanted message may be in transit; `None` if no transfer counts.
    /// Transfers from peers below the gossip threshold do not count, nor do those longer than
    /// `transfer_wait`: a peer that trickles a frame must not keep us from asking others.
    fn transfer_until(&self) -> Option<Time> {
        let gossip = self.config.thresholds.gossip;
        let counted = |peer| self.scores.score(peer) >= gossip;
        let wait = self.config.large.transfer_wait;
        self.transfers.until(self.now, wait, counted)
    }
}
