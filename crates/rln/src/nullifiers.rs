//! Which nullifiers were seen, and what using one twice reveals.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::ops::RangeInclusive;

use ark_ff::Field;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::epoch::Epoch;
use crate::field::{Fr, fr_to_le};
use crate::poseidon::poseidon;

mod shared;

pub use shared::SharedNullifierLog;

/// Bounds of a [`NullifierLog`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NullifierLimits {
    /// Nullifiers held for each epoch: the sum of all members' limits is always enough.
    pub max_entries_per_epoch: usize,
}

/// What the log knows about a proof's nullifier.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing.
    New,
    /// It was used with the same `x`, so for the same message.
    Duplicate,
    /// It was used for another message: the member exceeds the limit.
    Spam {
        /// The member's secret if both proofs hold; before the second one is verified, anyone could
        /// have made it up.
        secret: RecoveredSecret,
    },
}

/// The log holds as many nullifiers of an epoch as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the nullifier log is full: {max_entries} entries in epoch {epoch}; raise \
     max_entries_per_epoch to the sum of the members' limits"
)]
pub struct Full {
    /// The epoch.
    pub epoch: Epoch,
    /// The bound.
    pub max_entries: usize,
}

/// A secret computed from two points of its line. Wiped from memory on drop.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct RecoveredSecret(Fr);

impl RecoveredSecret {
    /// The commitment that the secret belongs to: look it up among the members.
    pub fn commitment(&self) -> Fr {
        poseidon(&[self.0])
    }

    /// The secret itself.
    pub fn secret(&self) -> &Fr {
        &self.0
    }
}

impl fmt::Debug for RecoveredSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecoveredSecret").finish_non_exhaustive()
    }
}

/// A point of a member's line.
#[derive(Clone, Copy, Debug)]
struct Share {
    x: Fr,
    y: Fr,
}

/// The nullifiers of verified proofs, by epoch.
#[derive(Clone, Debug)]
pub struct NullifierLog {
    limits: NullifierLimits,
    epochs: BTreeMap<Epoch, BTreeMap<[u8; 32], Share>>,
}

impl NullifierLog {
    /// An empty log.
    pub fn new(limits: NullifierLimits) -> Self {
        Self {
            limits,
            epochs: BTreeMap::new(),
        }
    }

    /// What is known about a nullifier; for an early answer, before the pairing.
    pub fn check(&self, epoch: Epoch, nullifier: Fr, x: Fr, y: Fr) -> Seen {
        let known = self
            .epochs
            .get(&epoch)
            .and_then(|log| log.get(&fr_to_le(&nullifier)));
        known.map_or(Seen::New, |known| known.compare(Share { x, y }))
    }

    /// Checks and, when the nullifier is new, enters it, in one step: of two proofs that were being
    /// verified at the same time only the first is `New`.
    ///
    /// Call it for verified proofs only: an entry made by a forgery would let anyone silence
    /// others.
    ///
    /// # Errors
    /// [`Full`] when the nullifier is new and the epoch has no room.
    pub fn insert(&mut self, epoch: Epoch, nullifier: Fr, x: Fr, y: Fr) -> Result<Seen, Full> {
        let max_entries = self.limits.max_entries_per_epoch;
        let log = self.epochs.entry(epoch).or_default();
        let full = log.len() >= max_entries;
        match log.entry(fr_to_le(&nullifier)) {
            Entry::Occupied(known) => Ok(known.get().compare(Share { x, y })),
            Entry::Vacant(_) if full => Err(Full { epoch, max_entries }),
            Entry::Vacant(vacant) => {
                vacant.insert(Share { x, y });
                Ok(Seen::New)
            }
        }
    }

    /// Forgets all epochs outside `keep`.
    ///
    /// Keep every epoch whose messages are still accepted (those within the clock gap), or a
    /// nullifier can be used again right after the epoch turns.
    pub fn prune(&mut self, keep: RangeInclusive<Epoch>) {
        self.epochs.retain(|epoch, _| keep.contains(epoch));
    }

    /// Number of nullifiers held, over all epochs.
    pub fn len(&self) -> usize {
        self.epochs.values().map(BTreeMap::len).sum()
    }

    /// Whether no nullifier is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Share {
    /// With equal `x` no secret follows, and the message is the same; a `y` that then differs shows
    /// that the newcomer's proof is false.
    fn compare(&self, other: Self) -> Seen {
        match recover_secret((self.x, self.y), (other.x, other.y)) {
            Some(secret) => Seen::Spam {
                secret: RecoveredSecret(secret),
            },
            None => Seen::Duplicate,
        }
    }
}

/// Where the line through two points meets `x = 0`; `None` when the points have the same `x`.
///
/// For two messages published with one message id this is the member's secret.
pub fn recover_secret((x1, y1): (Fr, Fr), (x2, y2): (Fr, Fr)) -> Option<Fr> {
    let slope = (y1 - y2) * (x1 - x2).inverse()?;
    Some(y1 - x1 * slope)
}

#[cfg(test)]
mod tests;
