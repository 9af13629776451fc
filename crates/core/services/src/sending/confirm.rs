//! Store queries about sent messages, and the final states that follow from the answers.

use std::time::Duration;

use undertone_gossip::Time;
use undertone_message::MessageHash;

use super::entry::{AwaitedAnswer, QueuedMessage};
use super::io::{FailReason, Output, SendEventKind, SendId, Unconfirmed};
use super::{MessageSender, doubled};
use crate::history::{HistoryCriteria, HistoryPage, HistoryQuery, PAGE_MAX, PageDirection};
use crate::light::ServicePeerFailure;
use crate::light::peers::PeerService;
use crate::{PeerNo, RequestNo};

/// Number of stores that must lack a message before a lightpush peer's claim counts as false, or another proof is
/// spent. A single store may be wrong.
const WITNESSES: usize = 2;

/// Pending store query.
#[derive(Debug)]
pub(super) struct StoreQuestion {
    request: RequestNo,
    store: PeerNo,
    pub(super) deadline: Time,
    asked: Vec<(SendId, MessageHash)>,
}

impl MessageSender {
    /// Returns the final state of a message whose time is over; `None` if it has not ended.
    pub(super) fn end_of(&self, now: Time, entry: &QueuedMessage) -> Option<SendEventKind> {
        let knows_store = self.pool.offers(PeerService::Store, None);
        let is_discovered = self.discovered.is_some_and(|at| at <= now);
        if entry.is_propagated() {
            if entry.record.message.is_ephemeral() || self.waits_for_peer(entry.id()) {
                return Some(SendEventKind::PropagatedOnly(Unconfirmed::Ephemeral));
            }
            if is_discovered && !knows_store {
                return Some(SendEventKind::PropagatedOnly(Unconfirmed::NoStore));
            }
            let is_over = entry.confirm_until <= now;
            if entry.held_by.is_some() {
                let has_other = self.has_other_witness(entry);
                return (is_over || is_discovered && !has_other)
                    .then_some(SendEventKind::PropagatedOnly(Unconfirmed::OneStore));
            }
            return is_over.then_some(match entry.denials {
                0 => SendEventKind::PropagatedOnly(Unconfirmed::StoresSilent),
                _ => SendEventKind::Failed(FailReason::NotStored),
            });
        }
        if matches!(
            entry.work,
            AwaitedAnswer::Relay { .. } | AwaitedAnswer::Push { .. }
        ) {
            return None; // The answer decides; it has a deadline of its own.
        }
        let is_looked_for = entry.confirm_until != Time::MAX;
        let failure = match entry.deadline <= now {
            _ if entry.confirm_until <= now => FailReason::TooOld,
            _ if is_looked_for && is_discovered && !knows_store => FailReason::TooOld,
            true => FailReason::Deadline,
            false => return None,
        };
        Some(match entry.held_by {
            Some(_) => SendEventKind::PropagatedOnly(Unconfirmed::OneStore),
            None => SendEventKind::Failed(failure),
        })
    }

    /// Sends the next store query about messages that are due, unless one is in flight.
    pub(super) fn ask(&mut self, now: Time) {
        if let Some(question) = self.question.take_if(|question| question.deadline <= now) {
            self.store_failed(now, question.store, None);
        }
        if self.question.is_some() {
            return;
        }
        let Some(store) = self.next_store(now) else {
            return;
        };
        if !self.pool.is_up(store) {
            self.pool.connect(now, store);
            return;
        }
        let is_due = |entry: &&QueuedMessage| is_due(now, entry) && !self.has_asked(entry, store);
        let due = self.entries.values().filter(is_due);
        let due = due.filter_map(|entry| entry.hash.map(|hash| (entry.id(), hash)));
        let max = self.config.limits.hashes_per_query.min(PAGE_MAX as usize);
        let asked: Vec<(SendId, MessageHash)> = due.take(max).collect();
        let request = self.next_request();
        let hashes: Vec<MessageHash> = asked.iter().map(|(_, hash)| *hash).collect();
        let query = HistoryQuery {
            include_data: false,
            limit: u32::try_from(hashes.len()).unwrap_or(PAGE_MAX),
            criteria: HistoryCriteria::Hashes(hashes),
            cursor: None,
            direction: PageDirection::Forward,
        };
        self.out.push_back(Output::History {
            peer: store,
            request,
            query,
        });
        self.question = Some(StoreQuestion {
            request,
            store,
            deadline: now.after(self.config.store_timeout),
            asked,
        });
    }

    /// Returns the store to ask about the first message that is due. Every store is asked about a message before the
    /// message waits, because any may be the only one that has it.
    fn next_store(&mut self, now: Time) -> Option<PeerNo> {
        loop {
            let entry = self.entries.values().find(|entry| is_due(now, entry))?;
            let id = entry.id();
            let is_excluded = |peer| self.has_asked(entry, peer);
            if let Some(store) = self.pool.pick(now, PeerService::Store, None, is_excluded) {
                return Some(store);
            }
            match (entry.denied_by.is_empty(), entry.held_by) {
                (false, _) => self.denied_by_all(now, id),
                (true, None) => return None,
                (true, Some(_)) => self.wait_for_second(now, id),
            }
        }
    }

    /// Whether a store need not be asked about a message: it has answered that it lacks it, or its answer would add
    /// nothing.
    fn has_asked(&self, entry: &QueuedMessage, store: PeerNo) -> bool {
        let adds_nothing = |store| entry.adds_nothing(&store);
        entry.denied_by.contains(&store) || self.pool.witness(store).is_some_and(adds_nothing)
    }

    /// Whether there is a store, even an unreachable one, whose answer would add to that of the store that has a
    /// message.
    pub(super) fn has_other_witness(&self, entry: &QueuedMessage) -> bool {
        let adds_nothing = |store| entry.adds_nothing(&store);
        let is_excluded = |store| self.pool.witness(store).is_some_and(adds_nothing);
        let topic = Some(&*entry.record.pubsub_topic);
        self.pool
            .offers_besides(PeerService::Store, topic, is_excluded)
    }

    /// Delays the next query about a message until another store may confirm the one that has it.
    fn wait_for_second(&mut self, now: Time, id: SendId) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.check_at = now.after(self.config.confirm_max);
        }
    }

    pub(super) fn history_answer(
        &mut self,
        now: Time,
        request: RequestNo,
        answer: Result<HistoryPage, ServicePeerFailure>,
    ) {
        let Some(question) = self
            .question
            .take_if(|question| question.request == request)
        else {
            return;
        };
        let page = match answer {
            Ok(page) => page,
            Err(failure) => {
                let retry_after = match failure {
                    ServicePeerFailure::Busy { retry_after } => retry_after,
                    ServicePeerFailure::NoAnswer
                    | ServicePeerFailure::NoSubscription
                    | ServicePeerFailure::Refused => None,
                };
                self.store_failed(now, question.store, retry_after);
                return;
            }
        };
        self.pool.answered(now, question.store, PeerService::Store);
        // A truncated page says nothing about messages that are not on it.
        let is_whole = page.next.is_none();
        for (id, hash) in question.asked {
            if page.entries.iter().any(|entry| entry.hash == hash) {
                self.held(id, question.store);
            } else {
                self.denied(now, id, question.store, is_whole);
            }
        }
    }

    /// Handles a store's answer that it has a message.
    fn held(&mut self, id: SendId, store: PeerNo) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        // The answer of a store that was forgotten meanwhile does not count.
        let Some(witness) = self.pool.witness(store) else {
            return;
        };
        if entry.held(witness) {
            self.end(id, SendEventKind::Stored);
        }
    }

    fn denied(&mut self, now: Time, id: SendId, store: PeerNo, is_whole: bool) {
        let is_settled = self.entries.get(&id);
        let is_settled = is_settled.is_some_and(|entry| self.is_settled(now, entry));
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if !is_whole {
            entry.check_at = now.after(self.config.confirm_first);
            return;
        }
        entry.denied_by.push(store);
        // A store of other topics lacks the message in any case.
        let topic = &entry.record.pubsub_topic;
        let is_witness = self.pool.serves(store, PeerService::Store, topic);
        if is_settled && is_witness && !entry.lacked_by.contains(&store) {
            entry.lacked_by.push(store);
        }
    }

    /// Whether a message is too old to be in transit: stores that lack it will not get it.
    fn is_settled(&self, now: Time, entry: &QueuedMessage) -> bool {
        entry.in_transit_until <= now && self.is_too_old(self.wall_ns(now), entry)
    }

    /// Whether a message must get a new timestamp, because no store would accept the old one any more.
    ///
    /// On a network without proofs it is enough that no peer accepted it and the stores that answer lack it. Otherwise
    /// the message is proved again, and a lightpush peer's claim taken for false, only when every known store of the
    /// topic lacks the message: with one honest store among them, no message is sent twice.
    fn is_to_be_renewed(&self, entry: &QueuedMessage) -> bool {
        if !self.config.has_proofs && entry.is_nowhere() {
            return true;
        }
        let topic = Some(&*entry.record.pubsub_topic);
        let is_lacking = |store| entry.lacked_by.contains(&store);
        let store = PeerService::Store;
        self.is_lacking(entry) && !self.pool.offers_besides(store, topic, is_lacking)
    }

    /// Whether enough stores lack a message that may have reached nobody, and it may still get a new timestamp.
    fn is_lacking(&self, entry: &QueuedMessage) -> bool {
        let may_be_nowhere = entry.is_nowhere() || entry.is_by_word_only();
        let may_be_renewed = entry.renewals < self.config.max_resends;
        may_be_nowhere && may_be_renewed && entry.lacked_by.len() >= WITNESSES
    }

    /// Whether a message that would end this way gets a new timestamp instead: no store ever had it, and enough stores
    /// lacked it when it was too old to be in transit.
    pub(super) fn may_begin_anew(&self, entry: &QueuedMessage, end: SendEventKind) -> bool {
        let reasons = [FailReason::NotStored, FailReason::TooOld];
        let is_by_stores = reasons.map(SendEventKind::Failed);
        is_by_stores.contains(&end) && self.is_lacking(entry)
    }

    /// Gives a message a new timestamp, and another lightpush peer if one claimed to have relayed it.
    pub(super) fn begin_anew(&mut self, now: Time, id: SendId) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.renew(now);
            self.doubt(now, id);
        }
    }

    /// Handles a message that every answering store lacks: waits, and from time to time sends it again.
    fn denied_by_all(&mut self, now: Time, id: SendId) {
        let is_renewed = self
            .entries
            .get(&id)
            .is_some_and(|entry| self.is_settled(now, entry) && self.is_to_be_renewed(entry));
        if is_renewed {
            return self.begin_anew(now, id);
        }
        let config = &self.config;
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let wait = doubled(config.confirm_first, entry.denials, config.confirm_max);
        entry.check_at = now.after(wait);
        entry.denied_by.clear();
        entry.denials = entry.denials.saturating_add(1);
        let is_time = entry.denials.is_multiple_of(config.resend_after.max(1));
        let may_resend = !entry.wants_resend && entry.resends < config.max_resends;
        if entry.is_propagated() && is_time && may_resend {
            entry.resends += 1;
            entry.wants_resend = true;
            entry.retry_at = now;
            self.doubt(now, id);
        }
    }

    /// Lowers trust in the lightpush peer that claimed to have relayed the message.
    fn doubt(&mut self, now: Time, id: SendId) {
        if let Some(entry) = self.entries.get_mut(&id)
            && let Some(peer) = entry.accepted_by.take()
        {
            entry.doubted.push(peer);
            self.pool.failed(now, peer, PeerService::Lightpush, None);
        }
    }

    pub(super) fn store_gone(&mut self, now: Time, peer: PeerNo) {
        if let Some(question) = self.question.take_if(|question| question.store == peer) {
            self.store_failed(now, question.store, None);
        }
    }

    fn store_failed(&mut self, now: Time, store: PeerNo, retry_after: Option<Duration>) {
        self.pool
            .failed(now, store, PeerService::Store, retry_after);
    }
}

/// Whether a store query about a message is due.
fn is_due(now: Time, entry: &QueuedMessage) -> bool {
    entry.check_at <= now && entry.hash.is_some() && !entry.record.message.is_ephemeral()
}
