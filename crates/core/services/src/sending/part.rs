//! Fragments of a message: a fragment's place, and its final state.

use undertone_gossip::fragments::FRAGMENTS_MAX;

use super::io::{SendEventKind, SendId, Unconfirmed};

/// Place of a fragment in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartPlace {
    /// Number of the message.
    pub(super) whole: SendId,
    pub(super) count: u64,
}

impl PartPlace {
    /// Returns the place of fragment `id`; `None` if there is no such fragment, or only one.
    pub(super) fn of(id: SendId, whole: SendId, count: u64) -> Option<Self> {
        let has_it = id.0.checked_sub(whole.0).is_some_and(|at| at < count);
        let may_be = (2..=FRAGMENTS_MAX as u64).contains(&count);
        (has_it && may_be).then_some(Self { whole, count })
    }
}

/// How a fragment ended without failing. Stored as a number; a message takes the largest of its
/// fragments'.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PartEnd {
    Stored = 1,
    Ephemeral,
    NoStore,
    StoresSilent,
    OneStore,
}

impl PartEnd {
    pub(super) fn of(kind: SendEventKind) -> Option<Self> {
        match kind {
            SendEventKind::Stored => Some(Self::Stored),
            SendEventKind::PropagatedOnly(Unconfirmed::Ephemeral) => Some(Self::Ephemeral),
            SendEventKind::PropagatedOnly(Unconfirmed::NoStore) => Some(Self::NoStore),
            SendEventKind::PropagatedOnly(Unconfirmed::StoresSilent) => Some(Self::StoresSilent),
            SendEventKind::PropagatedOnly(Unconfirmed::OneStore) => Some(Self::OneStore),
            SendEventKind::Queued
            | SendEventKind::Sent
            | SendEventKind::Propagated
            | SendEventKind::Failed(_) => None,
        }
    }

    pub(super) fn kind(self) -> SendEventKind {
        match self {
            Self::Stored => SendEventKind::Stored,
            Self::Ephemeral => SendEventKind::PropagatedOnly(Unconfirmed::Ephemeral),
            Self::NoStore => SendEventKind::PropagatedOnly(Unconfirmed::NoStore),
            Self::StoresSilent => SendEventKind::PropagatedOnly(Unconfirmed::StoresSilent),
            Self::OneStore => SendEventKind::PropagatedOnly(Unconfirmed::OneStore),
        }
    }

    pub(super) fn from_number(number: u64) -> Option<Self> {
        [
            Self::Stored,
            Self::Ephemeral,
            Self::NoStore,
            Self::StoresSilent,
            Self::OneStore,
        ]
        .into_iter()
        .find(|end| *end as u64 == number)
    }
}
