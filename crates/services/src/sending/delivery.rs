//! Way of a message from the queue to the network: proof, relay, lightpush peers in turn, and again.

use bytes::Bytes;
use undertone_gossip::Time;

use super::entry::{AwaitedAnswer, QueuedMessage};
use super::io::{
    FailReason, Output, ProveFailure, PushFailure, RelayFailure, SendEventKind, SendId, Unconfirmed,
};
use super::record::SendStage;
use super::{MessageSender, doubled, nanos};
use crate::light::peers::PeerService;
use crate::{PeerNo, RequestNo};

impl MessageSender {
    /// Does what is due for one message.
    pub(super) fn step(&mut self, now: Time, id: SendId) {
        self.expire(now, id);
        let now_ns = self.wall_ns(now);
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        if let Some(end) = self.end_of(now, now_ns, entry) {
            self.end(id, end);
            return;
        }
        if entry.work != AwaitedAnswer::Nothing || entry.retry_at > now {
            return;
        }
        let needs_proof = self.config.has_proofs && !entry.has_proof();
        if entry.is_propagated() && (!entry.wants_resend || needs_proof) {
            return; // Another proof for what the network has would be spent for nothing.
        }
        if self.is_too_old(now_ns, entry) {
            self.too_old(now, id);
            return;
        }
        if needs_proof {
            self.prove(now_ns, id);
            return;
        }
        self.give_out(now, id);
    }

    /// Returns the end of a message whose time is over.
    fn end_of(&self, now: Time, now_ns: u64, entry: &QueuedMessage) -> Option<SendEventKind> {
        let knows_store = self.pool.offers(PeerService::Store, None);
        if entry.is_propagated() {
            if entry.record.message.is_ephemeral() {
                return Some(SendEventKind::PropagatedOnly(Unconfirmed::Ephemeral));
            }
            let is_discovered = self.discovered.is_some_and(|at| at <= now);
            if is_discovered && !knows_store {
                return Some(SendEventKind::PropagatedOnly(Unconfirmed::NoStore));
            }
            return (entry.confirm_until <= now).then_some(match entry.denials {
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
        if entry.confirm_until <= now {
            return Some(SendEventKind::Failed(FailReason::TooOld));
        }
        let waited_ns = now_ns.saturating_sub(entry.record.created_ns);
        (waited_ns >= nanos(self.config.deadline))
            .then_some(SendEventKind::Failed(FailReason::Deadline))
    }

    fn is_too_old(&self, now_ns: u64, entry: &QueuedMessage) -> bool {
        let max_age = self.config.max_age;
        max_age.is_some_and(|max| entry.age_ns(now_ns) > nanos(max))
    }

    /// The network refuses the message's timestamp by now. A message that is surely nowhere gets a new
    /// one if the sender chose the old one; of a message that may be out, stores know.
    fn too_old(&mut self, now: Time, id: SendId) {
        let knows_store = self.pool.offers(PeerService::Store, None);
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if entry.is_propagated() {
            entry.wants_resend = false;
        } else if !entry.may_be_out && entry.record.is_self_stamped {
            entry.record.message.timestamp = None;
            entry.set_proof(None);
            entry.rehash();
            entry.record.stage = SendStage::Queued;
            entry.record.is_given = false;
            entry.check_at = Time::MAX;
            let now_ns = self.wall_ns(now);
            match self.config.has_proofs {
                true => self.prove(now_ns, id),
                false => self.give_out(now, id),
            }
        } else if entry.may_be_out && knows_store && !entry.record.message.is_ephemeral() {
            if entry.confirm_until == Time::MAX {
                entry.confirm_until = now.after(self.config.confirm_for);
            }
            entry.retry_at = entry.confirm_until;
        } else {
            self.end(id, SendEventKind::Failed(FailReason::TooOld));
        }
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

    /// Asks for a proof, once the rate limit has room. A proof that was asked for and not given is asked
    /// for by the same number, which costs nothing.
    fn prove(&mut self, now_ns: u64, id: SendId) {
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
            // A proof longer than any is the prover's fault, and may be made better.
            Ok(_) | Err(ProveFailure::NotReady) => entry.retry_at = now.after(retry_first),
            Err(ProveFailure::LimitUsedUp) => {
                self.budget = 0;
                self.is_used_up = true;
            }
            Err(ProveFailure::NotMember) => {
                self.end(id, SendEventKind::Failed(FailReason::NotMember));
            }
        }
    }

    /// Drops a proof that nobody accepts any more. What a peer is asked to publish stays with that peer.
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

    /// Gives a message to the relay or the next lightpush peer; waits if all were tried.
    fn give_out(&mut self, now: Time, id: SendId) {
        let in_flight = |entry: &&QueuedMessage| {
            matches!(
                entry.work,
                AwaitedAnswer::Relay { .. } | AwaitedAnswer::Push { .. }
            )
        };
        if self.entries.values().filter(in_flight).count() >= self.config.limits.max_in_flight {
            return;
        }
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        let (topic, tried) = (&entry.record.pubsub_topic, &entry.tried);
        let by_relay = self.is_relay_available && !entry.is_relay_tried;
        let peer = match by_relay {
            true => None,
            false => self
                .pool
                .pick(now, PeerService::Lightpush, Some(topic), |peer| {
                    tried.contains(&peer)
                }),
        };
        if !by_relay && peer.is_none() {
            let was_any_tried = entry.is_relay_tried || !tried.is_empty();
            if was_any_tried && let Some(entry) = self.entries.get_mut(&id) {
                let wait = doubled(self.config.retry_first, entry.rounds, self.config.retry_max);
                entry.new_round();
                entry.retry_at = now.after(wait);
            }
            return; // Without any way the message waits for one.
        }
        if let Some(peer) = peer
            && !self.pool.is_up(peer)
        {
            self.pool.connect(now, peer);
            return;
        }
        let now_ns = self.wall_ns(now);
        self.stamp(now_ns, id);
        let request = self.next_request();
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let is_first = !entry.record.is_given;
        if is_first {
            entry.record.stage = SendStage::Ready;
            entry.record.is_given = true;
            let record = entry.record.encode();
            self.out.push_back(Output::Persist { id, record });
        }
        entry.wants_resend = false;
        if entry.check_at == Time::MAX {
            entry.check_at = now.after(self.config.confirm_first);
        }
        let (pubsub_topic, message) = (
            entry.record.pubsub_topic.clone(),
            entry.record.message.clone(),
        );
        match peer {
            None => {
                entry.is_relay_tried = true;
                let deadline = now.after(self.config.relay_timeout);
                entry.work = AwaitedAnswer::Relay { deadline };
                self.out.push_back(Output::Relay {
                    id,
                    pubsub_topic,
                    message,
                });
            }
            Some(peer) => {
                entry.tried.push(peer);
                let deadline = now.after(self.config.push_timeout);
                entry.work = AwaitedAnswer::Push {
                    peer,
                    request,
                    deadline,
                };
                self.out.push_back(Output::Push {
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
            Ok(0) | Err(RelayFailure::NoPeers) => {}
            Ok(_) => self.propagated(now, id),
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
                self.pool.answered(now, peer, PeerService::Lightpush);
                self.propagated(now, id);
                return;
            }
            Err(failure) => failure,
        };
        let mut retry_after = None;
        match failure {
            PushFailure::NoAnswer | PushFailure::Internal => entry.may_be_out = true,
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
            self.out.push_back(Output::CheckProof(id));
        }
    }

    /// Counts work as unanswered whose time is over.
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

    /// Gives up requests to a peer that is gone.
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

    /// Another node has the message; stores are asked from now on.
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
        // The way that was taken stays marked as tried: if no store gets the message, another is taken.
        entry.rounds = 0;
        let record = entry.record.encode();
        self.out.push_back(Output::Persist { id, record });
        self.event(id, SendEventKind::Propagated);
    }
}
