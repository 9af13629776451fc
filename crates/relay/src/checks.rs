//! Proofs that are being checked, and why.

use std::collections::BTreeMap;

use undertone_gossip::{MessageId, PeerIx};
use undertone_message::WakuMessage;
use undertone_rln::{CheckedProof, Epoch, Fr};

use crate::io::ProofTicket;
use crate::publish::Proving;

/// Why a proof is checked.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// To judge a peer's message.
    Judge {
        id: MessageId,
        from: PeerIx,
        message: Box<WakuMessage>,
    },
    /// To be sure of a spammer: the message itself is rejected already.
    Evidence { from: PeerIx },
    /// To publish a message that came with its proof.
    Own { token: u64, proving: Box<Proving> },
}

impl Purpose {
    /// The message that is judged.
    fn message(&self) -> Option<&MessageId> {
        match self {
            Self::Judge { id, .. } => Some(id),
            Self::Evidence { .. } | Self::Own { .. } => None,
        }
    }

    /// The peer that delivered the proof.
    pub(crate) fn from(&self) -> Option<PeerIx> {
        match self {
            Self::Judge { from, .. } | Self::Evidence { from } => Some(*from),
            Self::Own { .. } => None,
        }
    }
}

/// One proof under way.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) proof: CheckedProof,
    pub(crate) purpose: Purpose,
}

/// Proofs under way, bounded.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    waiting: BTreeMap<ProofTicket, Check>,
    by_message: BTreeMap<MessageId, ProofTicket>,
    /// How many there are of each peer that has any.
    by_peer: BTreeMap<PeerIx, usize>,
    next: u64,
    max: usize,
}

impl Checks {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            ..Self::default()
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= self.max
    }

    /// From half of the bound on each peer has to wait for its own.
    pub(crate) fn is_crowded(&self) -> bool {
        self.max > 0 && self.waiting.len() * 2 >= self.max
    }

    /// From three quarters of the bound on, nothing more should be read from anybody.
    pub(crate) fn is_saturated(&self) -> bool {
        self.max > 0 && self.waiting.len() * 4 >= self.max * 3
    }

    /// Takes a check in; the caller has made sure that there is room.
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

    /// From now on a message is judged in the name of another peer that has sent it too.
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
        let count = self.by_peer.entry(peer).or_default();
        if begins {
            *count += 1;
        } else {
            *count = count.saturating_sub(1);
        }
        if *count == 0 {
            self.by_peer.remove(&peer);
        }
    }

    /// The proof of a message, and the peer in whose name it is checked.
    pub(crate) fn of_message(&self, id: &MessageId) -> Option<(ProofTicket, PeerIx)> {
        let ticket = *self.by_message.get(id)?;
        let from = self.waiting.get(&ticket)?.purpose.from()?;
        Some((ticket, from))
    }

    /// The message that a proof decides about, if it does.
    pub(crate) fn message(&self, ticket: ProofTicket) -> Option<&MessageId> {
        self.waiting.get(&ticket)?.purpose.message()
    }

    /// How many proofs of a peer there are.
    pub(crate) fn of_peer(&self, peer: PeerIx) -> usize {
        self.by_peer.get(&peer).copied().unwrap_or(0)
    }

    /// The proofs of a peer, the oldest first.
    pub(crate) fn tickets_of(&self, peer: PeerIx) -> Vec<ProofTicket> {
        let of_peer = |check: &Check| check.purpose.from() == Some(peer);
        let found = self.waiting.iter().filter(|(_, check)| of_peer(check));
        found.map(|(ticket, _)| *ticket).collect()
    }

    /// Peers with proofs under way, and how many.
    pub(crate) fn by_peer(&self) -> impl Iterator<Item = (PeerIx, usize)> {
        self.by_peer.iter().map(|(peer, count)| (*peer, *count))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a proof under way has this nullifier.
    pub(crate) fn holds(&self, epoch: Epoch, nullifier: Fr) -> bool {
        let mut proofs = self.waiting.values().map(|check| &check.proof);
        proofs.any(|proof| (proof.epoch, proof.nullifier) == (epoch, nullifier))
    }

    /// The oldest epoch of a proof under way.
    pub(crate) fn oldest_epoch(&self) -> Option<Epoch> {
        self.waiting.values().map(|check| check.proof.epoch).min()
    }

    /// How many of them are of messages of our own.
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
