//! Queued message and its current work.

use bytes::Bytes;
use undertone_gossip::Time;
use undertone_message::{MessageHash, message_hash};

use super::io::{SendEventKind, SendId};
use super::record::{SendRecord, SendStage};
use crate::trust::{Standing, Witness, is_believed};
use crate::{PeerNo, RequestNo};

/// Maximum number of receivers remembered per message; with more, any store may be one.
const RECEIVERS_MAX: usize = 64;

/// What a message waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AwaitedAnswer {
    /// The time of its next step.
    Nothing,
    /// The proof from the driver.
    Proof,
    /// The driver's answer whether the proof is still good.
    ProofCheck,
    /// The relay's result.
    Relay { deadline: Time },
    /// A lightpush peer's answer.
    Push {
        peer: PeerNo,
        request: RequestNo,
        deadline: Time,
    },
}

/// Queued message.
#[derive(Debug)]
pub(super) struct QueuedMessage {
    pub(super) record: SendRecord,
    /// Hash of the message; `None` before it has a timestamp.
    pub(super) hash: Option<MessageHash>,
    /// Size that the message is accounted at.
    pub(super) size_bytes: usize,
    /// Time at which the message fails if nobody accepted it. It does not follow the wall clock, which may be set
    /// forward.
    pub(super) deadline: Time,
    pub(super) work: AwaitedAnswer,
    /// Time before which no route is tried.
    pub(super) retry_at: Time,
    /// Number of times that all routes failed.
    pub(super) rounds: u32,
    /// Routes tried since the last wait.
    pub(super) is_relay_tried: bool,
    pub(super) tried: Vec<PeerNo>,
    /// Whether a stale proof was replaced since the last wait.
    pub(super) is_proof_renewed: bool,
    /// Whether the message may be in the network although nobody reported it.
    pub(super) may_be_out: bool,
    pub(super) refusals: u32,
    /// Time of the next store query; [`Time::MAX`] before the message is sent.
    pub(super) check_at: Time,
    /// Stores that answered since the last wait that they lack the message.
    pub(super) denied_by: Vec<PeerNo>,
    /// Number of times that all answering stores lacked the message.
    pub(super) denials: u32,
    /// Time until which stores are asked, once the message is propagated or too old to send.
    pub(super) confirm_until: Time,
    pub(super) resends: u32,
    pub(super) wants_resend: bool,
    /// Lightpush peers that claimed to have relayed the message, although no store had it later.
    pub(super) doubted: Vec<PeerNo>,
    /// Lightpush peer that last made that claim.
    pub(super) accepted_by: Option<PeerNo>,
    /// Whether the node's own relay sent the message to a peer.
    pub(super) is_relayed: bool,
    /// Time until which a request without an answer may still reach its peer. A device that slept learns of the missing
    /// answer late, and its connection may deliver the request after that.
    pub(super) in_transit_until: Time,
    /// Stores that lacked the message when it was too old to be in transit.
    pub(super) lacked_by: Vec<PeerNo>,
    /// Number of times that the message got a new timestamp because no store had it.
    pub(super) renewals: u32,
    /// Lightpush peers to which the message was sent.
    pub(super) receivers: Vec<Witness>,
    /// Whether others may have got it from this node too: it went to the relay, or an earlier run sent it.
    pub(super) has_other_receivers: bool,
    /// Store that claims to have the message, when its claim alone is not enough.
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
            in_transit_until: Time::ZERO,
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

    /// Returns the last state that the message reached.
    pub(super) fn step(&self) -> SendEventKind {
        match self.record.is_given {
            _ if self.is_propagated() => SendEventKind::Propagated,
            true => SendEventKind::Sent,
            false => SendEventKind::Queued,
        }
    }

    /// Recomputes the hash after the timestamp changed.
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

    /// Whether no peer has accepted the message, none is asked now, and the sender chose the timestamp. If stores lack
    /// it too, nobody has it.
    pub(super) fn is_nowhere(&self) -> bool {
        let is_idle = self.work == AwaitedAnswer::Nothing;
        is_idle && !self.is_propagated() && self.record.is_self_stamped
    }

    /// Whether only lightpush peers' claims say that the message is in the network, and the sender chose the timestamp.
    pub(super) fn is_by_word_only(&self) -> bool {
        let has_word = self.accepted_by.is_some() || !self.doubted.is_empty();
        has_word && !self.is_relayed && self.is_propagated() && self.record.is_self_stamped
    }

    /// Removes the timestamp that the sender chose, and all that depends on it, from a message that certainly reached
    /// nobody.
    pub(super) fn unstamp(&mut self) {
        self.record.message.timestamp = None;
        self.set_proof(None);
        self.rehash();
        self.record.stage = SendStage::Queued;
        self.record.is_given = false;
        self.check_at = Time::MAX;
        self.held_by = None;
    }

    /// Starts over with a message that no store has and that is too old for any to accept.
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

    /// Records that a peer was sent the message.
    pub(super) fn given_to(&mut self, peer: Witness) {
        if self.receivers.iter().any(|known| known.peer == peer.peer) {
            return;
        }
        match self.receivers.len() < RECEIVERS_MAX {
            true => self.receivers.push(peer),
            false => self.has_other_receivers = true,
        }
    }

    /// Records a store's claim to have the message; returns whether the message now counts as stored. The claim proves
    /// nothing if the store, or a related peer, got the message from here, or if it is the only one to claim that
    /// anybody has it.
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

    /// Whether a store's claim would add nothing to that of the store that has the message.
    pub(super) fn adds_nothing(&self, store: &Witness) -> bool {
        let is_named = store.standing == Standing::Named;
        let related = |held: &Witness| !is_named && !held.is_unrelated(store);
        self.held_by.as_ref().is_some_and(related)
    }

    /// Begins a new round after all routes failed.
    pub(super) fn new_round(&mut self) {
        self.rounds = self.rounds.saturating_add(1);
        self.is_relay_tried = false;
        self.is_proof_renewed = false;
        self.tried.clear();
    }
}
