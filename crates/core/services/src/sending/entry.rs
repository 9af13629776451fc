//! Message of the queue, and what is being done for it.

use bytes::Bytes;
use undertone_gossip::Time;
use undertone_message::{MessageHash, message_hash};

use super::io::{SendEventKind, SendId};
use super::record::{SendRecord, SendStage};
use crate::trust::{Standing, Witness, is_believed};
use crate::{PeerNo, RequestNo};

/// Receivers of a message that are remembered; with more of them, any store may be one.
const RECEIVERS_MAX: usize = 64;

/// Event or answer that a message waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AwaitedAnswer {
    /// Its next step, once that is due.
    Nothing,
    /// The driver's proof.
    Proof,
    /// The driver's word on whether the proof is still good.
    ProofCheck,
    /// The relay's word.
    Relay { deadline: Time },
    /// A lightpush peer's answer.
    Push {
        peer: PeerNo,
        request: RequestNo,
        deadline: Time,
    },
}

/// Message of the queue.
#[derive(Debug)]
pub(super) struct QueuedMessage {
    pub(super) record: SendRecord,
    /// Hash of the message; `None` before it has a timestamp.
    pub(super) hash: Option<MessageHash>,
    /// Length that the message is counted with.
    pub(super) size_bytes: usize,
    /// Time at which the message has failed if nobody took it. It does not follow the wall clock, which somebody may set ahead.
    pub(super) deadline: Time,
    pub(super) work: AwaitedAnswer,
    /// Time before which no way is tried.
    pub(super) retry_at: Time,
    /// Times that all ways failed.
    pub(super) rounds: u32,
    /// Ways tried since the last wait.
    pub(super) is_relay_tried: bool,
    pub(super) tried: Vec<PeerNo>,
    /// Whether a stale proof was replaced since the last wait.
    pub(super) is_proof_renewed: bool,
    /// Whether the message may be in the network without anybody having said so.
    pub(super) may_be_out: bool,
    pub(super) refusals: u32,
    /// Time of the next question to a store; [`Time::MAX`] before the message is sent.
    pub(super) check_at: Time,
    /// Stores that answered that they do not have the message, since the last wait.
    pub(super) denied_by: Vec<PeerNo>,
    /// Times that every store that answers denied to have the message.
    pub(super) denials: u32,
    /// Time until which stores are asked, once the message is propagated or too old to send.
    pub(super) confirm_until: Time,
    pub(super) resends: u32,
    pub(super) wants_resend: bool,
    /// Lightpush peers that said that they had passed the message on, although no store had it later.
    pub(super) doubted: Vec<PeerNo>,
    /// Lightpush peer that said so last.
    pub(super) accepted_by: Option<PeerNo>,
    /// Whether the own relay gave the message to a peer.
    pub(super) is_relayed: bool,
    /// Stores that denied to have the message when it was too old to be on its way.
    pub(super) lacked_by: Vec<PeerNo>,
    /// Times that the message got a new timestamp because no store had it.
    pub(super) renewals: u32,
    /// Lightpush peers that were given the message.
    pub(super) receivers: Vec<Witness>,
    /// Whether others may have it from this node, too: the relay was given it, or a run before this one gave it out.
    pub(super) has_other_receivers: bool,
    /// Store that says that it has the message, whose word is not enough.
    pub(super) held_by: Option<Witness>,
}

impl QueuedMessage {
    pub(super) fn new(record: SendRecord, size_bytes: usize, deadline: Time) -> Self {
        let mut entry = Self {
            record,
            hash: None,
            size_bytes,
            deadline,
            work: AwaitedAnswer::Nothing,
            retry_at: Time::ZERO,
            rounds: 0,
            is_relay_tried: false,
            tried: Vec::new(),
            is_proof_renewed: false,
            may_be_out: false,
            refusals: 0,
            check_at: Time::MAX,
            denied_by: Vec::new(),
            denials: 0,
            confirm_until: Time::MAX,
            resends: 0,
            wants_resend: false,
            doubted: Vec::new(),
            accepted_by: None,
            is_relayed: false,
            lacked_by: Vec::new(),
            renewals: 0,
            receivers: Vec::new(),
            has_other_receivers: false,
            held_by: None,
        };
        entry.rehash();
        entry
    }

    pub(super) fn id(&self) -> SendId {
        self.record.id
    }

    pub(super) fn is_propagated(&self) -> bool {
        self.record.stage == SendStage::Propagated
    }

    /// Last step that the message made.
    pub(super) fn step(&self) -> SendEventKind {
        match self.record.is_given {
            _ if self.is_propagated() => SendEventKind::Propagated,
            true => SendEventKind::Sent,
            false => SendEventKind::Queued,
        }
    }

    /// Computes the hash again after the timestamp changed.
    pub(super) fn rehash(&mut self) {
        let record = &self.record;
        let timestamp = record.message.timestamp;
        self.hash = timestamp.map(|_| message_hash(&record.pubsub_topic, &record.message));
    }

    pub(super) fn has_proof(&self) -> bool {
        self.record.message.rate_limit_proof.is_some()
    }

    pub(super) fn set_proof(&mut self, proof: Option<Bytes>) {
        self.record.message.rate_limit_proof = proof;
    }

    /// Returns the age of the message's timestamp in nanoseconds, zero without one.
    pub(super) fn age_ns(&self, now_ns: u64) -> u64 {
        let timestamp = self.record.message.timestamp;
        timestamp.map_or(0, |at| {
            now_ns.saturating_sub(u64::try_from(at).unwrap_or(0))
        })
    }

    /// Whether no peer has said that it took the message, none is asked now, and the sender chose the timestamp: if stores do not have
    /// it either, nobody has.
    pub(super) fn is_nowhere(&self) -> bool {
        let is_idle = self.work == AwaitedAnswer::Nothing;
        is_idle && !self.is_propagated() && self.record.is_self_stamped
    }

    /// Whether the message is in the network by the word of lightpush peers only, and the sender chose the timestamp.
    pub(super) fn is_by_word_only(&self) -> bool {
        let has_word = self.accepted_by.is_some() || !self.doubted.is_empty();
        has_word && !self.is_relayed && self.is_propagated() && self.record.is_self_stamped
    }

    /// Takes back the timestamp that the sender chose, and what depends on it, of a message that is surely nowhere.
    pub(super) fn unstamp(&mut self) {
        self.record.message.timestamp = None;
        self.set_proof(None);
        self.rehash();
        self.record.stage = SendStage::Queued;
        self.record.is_given = false;
        self.check_at = Time::MAX;
        self.held_by = None;
    }

    /// Begins anew with a message that no store has and that is too old for any to take.
    pub(super) fn renew(&mut self, now: Time) {
        self.unstamp();
        self.may_be_out = false;
        self.confirm_until = Time::MAX;
        self.denied_by.clear();
        self.lacked_by.clear();
        self.denials = 0;
        self.resends = 0;
        self.wants_resend = false;
        self.renewals = self.renewals.saturating_add(1);
        self.retry_at = now;
    }

    /// Notes that a peer was given the message.
    pub(super) fn given_to(&mut self, peer: Witness) {
        if self.receivers.iter().any(|known| known.peer == peer.peer) {
            return;
        }
        match self.receivers.len() < RECEIVERS_MAX {
            true => self.receivers.push(peer),
            false => self.has_other_receivers = true,
        }
    }

    /// Takes the word of a store that it has the message; returns whether the message is stored by what is known now. A peer
    /// that was given the message proves nothing by having it, nor does one in the same hands, nor one that is alone in
    /// saying that anybody has it.
    pub(super) fn held(&mut self, store: Witness) -> bool {
        let is_apart = |given: &Witness| given.is_unrelated(&store);
        let has_it_from_others = self.is_propagated()
            && !self.has_other_receivers
            && self.receivers.iter().all(is_apart);
        let mut agreeing = vec![store];
        agreeing.extend(self.held_by);
        let is_stored = has_it_from_others || is_believed(&agreeing);
        self.held_by.get_or_insert(store);
        is_stored
    }

    /// Whether the word of a store would add nothing to that of the one that has the message.
    pub(super) fn adds_nothing(&self, store: &Witness) -> bool {
        let is_named = store.standing == Standing::Named;
        let related = |held: &Witness| !is_named && !held.is_unrelated(store);
        self.held_by.as_ref().is_some_and(related)
    }

    /// Begins a new round of ways after all failed.
    pub(super) fn new_round(&mut self) {
        self.rounds = self.rounds.saturating_add(1);
        self.is_relay_tried = false;
        self.is_proof_renewed = false;
        self.tried.clear();
    }
}
