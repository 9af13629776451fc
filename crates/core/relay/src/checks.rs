//! Proofs being verified, and the purpose of each.

use undertone_compact::FewMap;
use undertone_gossip::{MessageId, PeerIx, RequestId};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_rln::{CheckedProof, Epoch, Fr};

use crate::io::ProofTicket;

/// Message of this node between [`crate::Input::Publish`] and the last answer to it.
#[derive(Debug)]
pub(crate) struct Proving {
    pub(crate) topic: PubsubTopic,
    pub(crate) message: WakuMessage,
    /// Whether the router already knows the message and must send it again.
    pub(crate) is_repeated: bool,
}

impl Proving {
    /// Returns a message that is published for the first time.
    pub(crate) fn first(topic: PubsubTopic, message: WakuMessage) -> Self {
        Self {
            topic,
            message,
            is_repeated: false,
        }
    }
}

/// Purpose for which a proof is verified.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// Judges the message of a peer.
    Judge {
        id: MessageId,
        from: PeerIx,
        message: Box<WakuMessage>,
    },
    /// Confirms a spammer: the message itself is rejected already.
    Evidence { from: PeerIx },
    /// Publishes a message that came with its proof.
    Own {
        request: RequestId,
        proving: Box<Proving>,
    },
}

impl Purpose {
    /// Id of the message whose verdict depends on the proof, if any.
    fn message(&self) -> Option<&MessageId> {
        match self {
            Self::Judge { id, .. } => Some(id),
            Self::Evidence { .. } | Self::Own { .. } => None,
        }
    }

    /// Peer that the proof is attributed to; `None` for a message of this node.
    pub(crate) fn from(&self) -> Option<PeerIx> {
        match self {
            Self::Judge { from, .. } | Self::Evidence { from } => Some(*from),
            Self::Own { .. } => None,
        }
    }
}

/// Proof being verified, and its purpose.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) proof: CheckedProof,
    pub(crate) purpose: Purpose,
}

/// Proofs being verified, bounded in number.
#[derive(Debug, Default)]
pub(crate) struct ProofChecks {
    waiting: FewMap<ProofTicket, Check>,
    by_message: FewMap<MessageId, ProofTicket>,
    /// Number of proofs of each peer that has any.
    by_peer: FewMap<PeerIx, usize>,
    next: u64,
    max: usize,
}

impl ProofChecks {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            ..Self::default()
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= self.max
    }

    /// Whether half of the limit is in use; each peer then has to wait for its own proof.
    pub(crate) fn is_crowded(&self) -> bool {
        self.max > 0 && self.waiting.len() * 2 >= self.max
    }

    /// Whether three quarters of the limit are in use; no more frames should then be read from any peer.
    pub(crate) fn is_saturated(&self) -> bool {
        self.max > 0 && self.waiting.len() * 4 >= self.max * 3
    }

    /// Adds a check and returns its ticket. The caller must have checked that there is room.
    pub(crate) fn begin(&mut self, check: Check) -> ProofTicket {
        debug_assert!(!self.is_full());
        let ticket = ProofTicket(self.next);
        self.next += 1;
        if let Some(id) = check.purpose.message() {
            self.by_message.insert(*id, ticket);
        }
        self.count(check.purpose.from(), true);
        self.waiting.insert(ticket, check);
        ticket
    }

    pub(crate) fn finish(&mut self, ticket: ProofTicket) -> Option<Check> {
        let check = self.waiting.remove(&ticket)?;
        if let Some(id) = check.purpose.message() {
            self.by_message.remove(id);
        }
        self.count(check.purpose.from(), false);
        Some(check)
    }

    /// Attributes the check of a message to another peer that has sent the message too.
    pub(crate) fn set_from(&mut self, ticket: ProofTicket, peer: PeerIx) {
        let check = self.waiting.get_mut(&ticket);
        if let Some(Purpose::Judge { from, .. }) = check.map(|check| &mut check.purpose) {
            let before = std::mem::replace(from, peer);
            self.count(Some(before), false);
            self.count(Some(peer), true);
        }
    }

    fn count(&mut self, peer: Option<PeerIx>, begins: bool) {
        let Some(peer) = peer else { return };
        let count = self.by_peer.get_or_insert_with(peer, || 0);
        if begins {
            *count += 1;
        } else {
            *count = count.saturating_sub(1);
        }
        if *count == 0 {
            self.by_peer.remove(&peer);
        }
    }

    /// Ticket of the check of a message, and the peer that it is attributed to.
    pub(crate) fn of_message(&self, id: &MessageId) -> Option<(ProofTicket, PeerIx)> {
        let ticket = *self.by_message.get(id)?;
        let from = self.waiting.get(&ticket)?.purpose.from()?;
        Some((ticket, from))
    }

    /// Id of the message whose verdict depends on the proof, if any.
    pub(crate) fn message(&self, ticket: ProofTicket) -> Option<&MessageId> {
        self.waiting.get(&ticket)?.purpose.message()
    }

    /// Number of proofs being verified that are attributed to a peer.
    pub(crate) fn of_peer(&self, peer: PeerIx) -> usize {
        self.by_peer.get(&peer).copied().unwrap_or(0)
    }

    /// Tickets of the proofs attributed to a peer, the oldest first.
    pub(crate) fn tickets_of(&self, peer: PeerIx) -> Vec<ProofTicket> {
        let of_peer = |check: &Check| check.purpose.from() == Some(peer);
        let found = self.waiting.iter().filter(|(_, check)| of_peer(check));
        found.map(|(ticket, _)| *ticket).collect()
    }

    /// Iterates over the peers with proofs being verified, with the number of proofs.
    pub(crate) fn by_peer(&self) -> impl Iterator<Item = (PeerIx, usize)> {
        self.by_peer.iter().map(|(peer, count)| (*peer, *count))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a proof being verified has this nullifier.
    pub(crate) fn holds(&self, epoch: Epoch, nullifier: Fr) -> bool {
        let mut proofs = self.waiting.values().map(|check| &check.proof);
        proofs.any(|proof| (proof.epoch, proof.nullifier) == (epoch, nullifier))
    }

    /// Oldest epoch of the proofs being verified.
    pub(crate) fn oldest_epoch(&self) -> Option<Epoch> {
        self.waiting.values().map(|check| check.proof.epoch).min()
    }

    /// Number of proofs of messages published by this node.
    pub(crate) fn own(&self) -> usize {
        let purposes = self.waiting.values().map(|check| &check.purpose);
        purposes
            .filter(|p| matches!(p, Purpose::Own { .. }))
            .count()
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }
}
