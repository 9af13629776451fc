//! Proofs that are being checked, and why.

use std::collections::BTreeMap;

use undertone_gossip::{MessageId, PeerIx};
use undertone_message::WakuMessage;
use undertone_rln::{CheckedProof, Epoch};

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

    /// From half of the bound on, nothing more should be read from peers.
    pub(crate) fn is_saturated(&self) -> bool {
        self.max > 0 && self.waiting.len() * 2 >= self.max
    }

    /// Takes a check in; the caller has made sure that there is room.
    pub(crate) fn begin(&mut self, check: Check) -> ProofTicket {
        debug_assert!(!self.is_full());
        let ticket = ProofTicket(self.next);
        self.next += 1;
        self.waiting.insert(ticket, check);
        ticket
    }

    pub(crate) fn finish(&mut self, ticket: ProofTicket) -> Option<Check> {
        self.waiting.remove(&ticket)
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
