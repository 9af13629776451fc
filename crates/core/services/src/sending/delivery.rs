//! Route of a message from the queue to the network: proof, relay, one lightpush peer after another, and retries.

use bytes::Bytes;
use undertone_gossip::Time;

use super::entry::{AwaitedAnswer, QueuedMessage};
use super::io::{
    FailReason, Output, ProveFailure, PushFailure, RelayFailure, SendEventKind, SendId,
};
use super::record::SendStage;
use super::{MessageSender, doubled, nanos};
use crate::light::peers::PeerService;
use crate::{PeerNo, RequestNo};

/// Route by which a message leaves this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendWay {
    Relay,
    Lightpush(PeerNo),
}

impl MessageSender {
    /// Performs the next step for one message, if any is due.
    pub(super) fn step(&mut self, now: Time, id: SendId) {
        self.expire(now, id);
        let now_ns = self.wall_ns(now);
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        if let Some(end) = self.end_of(now, entry) {
            match self.may_begin_anew(entry, end) {
                true => self.begin_anew(now, id),
                false => self.end(id, end),
            }
            return;
        }
        if entry.work != AwaitedAnswer::Nothing || entry.retry_at > now {
            return;
        }
        let needs_proof = self.config.has_proofs && !entry.has_proof();
        if entry.is_propagated() && (!entry.wants_resend || needs_proof) {
            return; // Another proof for what the network has would be spent for nothing.
        }
        if self.is_too_old(now_ns, entry) && !self.renew(now, id) {
            return;
        }
        // A proof is made only when a route is available: where old timestamps are refused, it does not keep.
        let Some(way) = self.next_way(now, id) else {
            return;
        };
        let lacks_proof = |entry: &QueuedMessage| self.config.has_proofs && !entry.has_proof();
        if self.entries.get(&id).is_some_and(lacks_proof) {
            self.prove(now_ns, id);
            return;
        }
        self.give_out(now, id, way);
    }

    pub(super) fn is_too_old(&self, now_ns: u64, entry: &QueuedMessage) -> bool {
        let max_age = self.config.max_age;
        max_age.is_some_and(|max| entry.age_ns(now_ns) > nanos(max))
    }

    /// Handles a message whose timestamp has become too old for the network, or, without proofs, for its stores. A
    /// message that certainly reached nobody gets a new timestamp if the sender chose the old one; for one that may be
    /// out, stores are asked. Returns whether the message can be sent.
    fn renew(&mut self, now: Time, id: SendId) -> bool {
        let knows_store = self.pool.offers(PeerService::Store, None);
        let may_find_store = knows_store || self.discovered.is_none_or(|at| at > now);
        let has_proofs = self.config.has_proofs;
        let waits_for_peer = self.waits_for_peer(id);
        let Some(entry) = self.entries.get_mut(&id) else {
            return false;
        };
        let is_surely_nowhere = !entry.may_be_out && entry.record.is_self_stamped;
        let is_renewable = has_proofs || entry.record.is_self_stamped;
        if entry.is_propagated() {
            entry.wants_resend = false;
        } else if is_surely_nowhere && (has_proofs || !waits_for_peer) {
            entry.unstamp();
            return true;
        } else if waits_for_peer {
            return true; // It has a deadline, and no store is asked where it is.
        } else if entry.may_be_out
            && may_find_store
            && is_renewable
            && !entry.record.message.is_ephemeral()
        {
            if entry.confirm_until == Time::MAX {
                entry.confirm_until = now.after(self.config.confirm_for);
            }
            entry.retry_at = entry.confirm_until;
        } else if !has_proofs {
            return true; // Relays take it, whatever its timestamp.
        } else {
            self.end(id, SendEventKind::Failed(FailReason::TooOld));
        }
        false
    }

    fn stamp(&mut self, now_ns: u64, id: SendId) {
        if let Some(entry) = self.entries.get_mut(&id)
            && entry.record.message.timestamp.is_none()
        {
            entry.record.message.timestamp = Some(i64::try_from(now_ns).unwrap_or(i64::MAX));
            entry.record.is_self_stamped = true;
            entry.rehash();
        }
    }

    /// Requests a proof, once the rate limit has room. A proof that was requested but not returned is requested again
    /// under the same number, which costs nothing.
    fn prove(&mut self, now_ns: u64, id: SendId) {
        let is_proving = |entry: &&QueuedMessage| entry.work == AwaitedAnswer::Proof;
        let proving = self.entries.values().filter(is_proving).count();
        if proving >= self.config.limits.max_proving {
            return; // The answer to one of them makes room.
        }
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let is_repeated = entry.record.stage == SendStage::Proving;
        if self.budget == 0 && (!is_repeated || self.is_used_up) {
            return;
        }
        self.stamp(now_ns, id);
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if !is_repeated {
            self.budget = self.budget.saturating_sub(1);
            entry.record.attempt = entry.record.attempt.saturating_add(1);
            entry.record.stage = SendStage::Proving;
        }
        entry.work = AwaitedAnswer::Proof;
        let record = &entry.record;
        self.out.push_back(Output::Persist {
            id,
            record: record.encode(),
        });
        self.out.push_back(Output::Prove {
            id,
            attempt: record.attempt,
            pubsub_topic: record.pubsub_topic.clone(),
            message: record.message.clone(),
        });
    }

    pub(super) fn proved(
        &mut self,
        now: Time,
        id: SendId,
        attempt: u32,
        result: Result<Bytes, ProveFailure>,
    ) {
        let retry_first = self.config.retry_first;
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if entry.work != AwaitedAnswer::Proof || entry.record.attempt != attempt {
            return;
        }
        entry.work = AwaitedAnswer::Nothing;
        match result {
            Ok(proof) if proof.len() <= self.config.limits.proof_bytes => {
                entry.set_proof(Some(proof));
                entry.record.stage = SendStage::Ready;
                let record = entry.record.encode();
                self.out.push_back(Output::Persist { id, record });
            }
            // An overlong proof is the prover's fault, so a retry may succeed.
            Ok(_) | Err(ProveFailure::NotReady) => entry.retry_at = now.after(retry_first),
            Err(ProveFailure::LimitUsedUp) => {
                // The timestamp determines the epoch of a proof, so the next epoch needs a new timestamp.
                if entry.record.is_self_stamped && !entry.may_be_out {
                    entry.unstamp();
                }
                self.budget = 0;
                self.is_used_up = true;
            }
            Err(ProveFailure::NotMember) => {
                self.end(id, SendEventKind::Failed(FailReason::NotMember));
            }
        }
    }

    /// Drops a proof that nobody accepts any more. Requests already in flight are unaffected.
    pub(super) fn proof_stale(&mut self, id: SendId) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if !entry.has_proof() || !self.config.has_proofs {
            return;
        }
        entry.set_proof(None);
        entry.may_be_out |= matches!(
            entry.work,
            AwaitedAnswer::Relay { .. } | AwaitedAnswer::Push { .. }
        );
        if entry.work == AwaitedAnswer::ProofCheck {
            entry.work = AwaitedAnswer::Nothing;
            if !entry.is_proof_renewed {
                // The relay refused the old proof; with a new one it is tried again, once per round.
                entry.is_relay_tried = false;
                entry.is_proof_renewed = true;
            }
        }
        if !entry.is_propagated() {
            entry.record.stage = SendStage::Queued;
        }
    }

    pub(super) fn proof_fresh(&mut self, id: SendId) {
        if let Some(entry) = self.entries.get_mut(&id)
            && entry.work == AwaitedAnswer::ProofCheck
        {
            entry.work = AwaitedAnswer::Nothing;
        }
    }

    /// Returns the next available route for a message; schedules a new round if all were tried.
    fn next_way(&mut self, now: Time, id: SendId) -> Option<SendWay> {
        let in_flight = |entry: &&QueuedMessage| {
            matches!(
                entry.work,
                AwaitedAnswer::Relay { .. } | AwaitedAnswer::Push { .. }
            )
        };
        if self.entries.values().filter(in_flight).count() >= self.config.limits.max_in_flight {
            return None;
        }
        let entry = self.entries.get(&id)?;
        let (topic, tried) = (&entry.record.pubsub_topic, &entry.tried);
        if self.relay_topics.contains(topic) && !entry.is_relay_tried {
            return Some(SendWay::Relay);
        }
        let service = PeerService::Lightpush;
        // A peer that made a false claim gets the message again only if no other peer exists, even an unreachable one.
        // Otherwise it would repeat its claim until no resend is left.
        let is_doubted = |peer| entry.doubted.contains(&peer);
        let has_other = self.pool.offers_besides(service, Some(topic), is_doubted);
        let is_tried = |peer| tried.contains(&peer) || has_other && is_doubted(peer);
        let picked = match self.peer_waits.contains(&id) {
            true => None,
            false => self.pool.pick(now, service, Some(topic), is_tried),
        };
        let Some(peer) = picked else {
            let was_any_tried = entry.is_relay_tried || !tried.is_empty();
            if was_any_tried && let Some(entry) = self.entries.get_mut(&id) {
                let wait = doubled(self.config.retry_first, entry.rounds, self.config.retry_max);
                entry.new_round();
                entry.retry_at = now.after(wait);
            }
            return None; // Without any way the message waits for one.
        };
        if !self.pool.is_up(peer) {
            self.pool.connect(now, peer);
            return None;
        }
        Some(SendWay::Lightpush(peer))
    }

    /// Sends a message to the relay or a lightpush peer.
    fn give_out(&mut self, now: Time, id: SendId, way: SendWay) {
        let now_ns = self.wall_ns(now);
        self.stamp(now_ns, id);
        let request = self.next_request();
        let receiver = match way {
            SendWay::Relay => None,
            SendWay::Lightpush(peer) => self.pool.witness(peer),
        };
        let waits_for_peer = self.waits_for_peer(id);
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if let Some(receiver) = receiver {
            entry.given_to(receiver);
        }
        let is_first = !entry.record.is_given;
        if is_first {
            entry.record.stage = SendStage::Ready;
            entry.record.is_given = true;
            let record = entry.record.encode();
            self.out.push_back(Output::Persist { id, record });
        }
        entry.wants_resend = false;
        if entry.check_at == Time::MAX && !waits_for_peer {
            entry.check_at = now.after(self.config.confirm_first);
        }
        let (pubsub_topic, message) = (
            entry.record.pubsub_topic.clone(),
            entry.record.message.clone(),
        );
        match way {
            SendWay::Relay => {
                entry.is_relay_tried = true;
                // The relay does not report to whom it sends a message.
                entry.has_other_receivers = true;
                let deadline = now.after(self.config.relay_timeout);
                entry.work = AwaitedAnswer::Relay { deadline };
                self.out.push_back(Output::Relay {
                    id,
                    pubsub_topic,
                    message,
                    is_delivered: waits_for_peer && !is_first,
                });
            }
            SendWay::Lightpush(peer) => {
                entry.tried.push(peer);
                let deadline = now.after(self.config.push_timeout);
                entry.work = AwaitedAnswer::Push {
                    peer,
                    request,
                    deadline,
                };
                self.out.push_back(Output::Push {
                    id,
                    peer,
                    request,
                    pubsub_topic,
                    message,
                });
            }
        }
        if is_first {
            self.event(id, SendEventKind::Sent);
        }
    }

    pub(super) fn relayed(&mut self, now: Time, id: SendId, result: Result<usize, RelayFailure>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if !matches!(entry.work, AwaitedAnswer::Relay { .. }) {
            return;
        }
        entry.work = AwaitedAnswer::Nothing;
        match result {
            Ok(0) | Err(RelayFailure::NoPeers) => entry.wants_resend |= entry.is_propagated(),
            Ok(_) => {
                entry.is_relayed = true;
                self.propagated(now, id);
            }
            Err(RelayFailure::ProofRefused) => self.check_proof(id),
            Err(RelayFailure::Invalid) => {
                if !entry.is_propagated() {
                    self.end(id, SendEventKind::Failed(FailReason::Refused));
                }
            }
        }
    }

    pub(super) fn push_answer(
        &mut self,
        now: Time,
        request: RequestNo,
        answer: Result<Option<u32>, PushFailure>,
    ) {
        let asked = |entry: &&QueuedMessage| matches!(entry.work, AwaitedAnswer::Push { request: asked, .. } if asked == request);
        let Some(id) = self.entries.values().find(asked).map(QueuedMessage::id) else {
            return; // A late answer, already counted as missing; a store will tell.
        };
        self.pushed(now, id, answer);
    }

    fn pushed(&mut self, now: Time, id: SendId, answer: Result<Option<u32>, PushFailure>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let AwaitedAnswer::Push { peer, .. } = entry.work else {
            return;
        };
        entry.work = AwaitedAnswer::Nothing;
        let failure = match answer {
            Ok(Some(0)) => PushFailure::NoPeers,
            Ok(_) => {
                entry.accepted_by = Some(peer);
                self.pool.answered(now, peer, PeerService::Lightpush);
                self.propagated(now, id);
                return;
            }
            Err(failure) => failure,
        };
        let mut retry_after = None;
        // A resend that nobody accepted does not count: the next peer gets the message.
        let is_answer = matches!(failure, PushFailure::TooLarge | PushFailure::Invalid);
        entry.wants_resend |= entry.is_propagated() && !is_answer;
        match failure {
            PushFailure::NoAnswer => {
                entry.may_be_out = true;
                entry.in_transit_until = now.after(self.config.push_timeout);
            }
            PushFailure::Internal => entry.may_be_out = true,
            PushFailure::Busy { retry_after: asked } => retry_after = asked,
            PushFailure::NoPeers | PushFailure::UnsupportedTopic => {}
            PushFailure::ProofRefused => {
                self.pool.answered(now, peer, PeerService::Lightpush);
                self.check_proof(id);
                return;
            }
            PushFailure::TooLarge | PushFailure::Invalid => {
                entry.refusals = entry.refusals.saturating_add(1);
                if entry.refusals >= self.config.max_refusals && !entry.is_propagated() {
                    self.end(id, SendEventKind::Failed(FailReason::Refused));
                }
            }
        }
        self.pool
            .failed(now, peer, PeerService::Lightpush, retry_after);
    }

    fn check_proof(&mut self, id: SendId) {
        if let Some(entry) = self.entries.get_mut(&id)
            && entry.has_proof()
        {
            entry.work = AwaitedAnswer::ProofCheck;
            let message = entry.record.message.clone();
            self.out.push_back(Output::CheckProof { id, message });
        }
    }

    /// Treats an answer past its deadline as missing.
    fn expire(&mut self, now: Time, id: SendId) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        match entry.work {
            AwaitedAnswer::Relay { deadline } if deadline <= now => {
                entry.work = AwaitedAnswer::Nothing;
                entry.may_be_out = true;
            }
            AwaitedAnswer::Push { deadline, .. } if deadline <= now => {
                self.pushed(now, id, Err(PushFailure::NoAnswer));
            }
            AwaitedAnswer::Nothing
            | AwaitedAnswer::Proof
            | AwaitedAnswer::ProofCheck
            | AwaitedAnswer::Relay { .. }
            | AwaitedAnswer::Push { .. } => {}
        }
    }

    /// Treats requests to a disconnected peer as unanswered.
    pub(super) fn peer_gone(&mut self, now: Time, gone: PeerNo) {
        let asked = |entry: &&QueuedMessage| matches!(entry.work, AwaitedAnswer::Push { peer, .. } if peer == gone);
        let ids: Vec<SendId> = self
            .entries
            .values()
            .filter(asked)
            .map(QueuedMessage::id)
            .collect();
        for id in ids {
            self.pushed(now, id, Err(PushFailure::NoAnswer));
        }
    }

    /// Records that another node has the message; stores are asked from now on.
    pub(super) fn propagated(&mut self, now: Time, id: SendId) {
        let confirm_until = now.after(self.config.confirm_for);
        let check_at = now.after(self.config.confirm_first);
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if entry.is_propagated() {
            return;
        }
        entry.record.stage = SendStage::Propagated;
        entry.may_be_out = true;
        entry.confirm_until = confirm_until;
        entry.check_at = check_at;
        entry.denials = 0;
        entry.denied_by.clear();
        entry.held_by = None;
        // The route taken stays marked as tried: if no store gets the message, another one is taken.
        entry.rounds = 0;
        let record = entry.record.encode();
        self.out.push_back(Output::Persist { id, record });
        self.event(id, SendEventKind::Propagated);
    }
}
