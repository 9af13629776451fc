//! Fragments as parts of a message: the place of one, and its end.

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
    /// Place of the fragment `id`; `None` if there is no such fragment, or only one.
    pub(super) fn of(id: SendId, whole: SendId, count: u64) -> Option<Self> {
        let has_it = id.0.checked_sub(whole.0).is_some_and(|at| at < count);
        let may_be = (2..=FRAGMENTS_MAX as u64).contains(&count);
        (has_it && may_be).then_some(Self { whole, count })
    }
}

/// End of a fragment without failure, by the number that it is kept with; the message has the last of all.
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
