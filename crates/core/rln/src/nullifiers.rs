//! Log of the nullifiers seen, and recovery of the secret from a nullifier that is used twice.

use std::fmt;
use std::ops::RangeInclusive;

use ark_ff::Field;
use undertone_compact::FewMap;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::epoch::Epoch;
use crate::field::{Fr, fr_to_le};
use crate::poseidon::poseidon;

mod shared;

pub use shared::SharedNullifierLog;

/// Bounds of a [`NullifierLog`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NullifierLimits {
    /// Maximum number of nullifiers held for each epoch; less than 2 is read as 2. The sum of all
    /// members' limits is always enough. When the maximum is reached, the older half is dropped.
    pub max_entries_per_epoch: usize,
}

impl NullifierLimits {
    /// Bounds with this many nullifiers for each epoch.
    pub const fn new(max_entries_per_epoch: usize) -> Self {
        Self {
            max_entries_per_epoch,
        }
    }
}

/// Result of looking up a proof's nullifier in the log.
#[derive(Debug, PartialEq, Eq)]
pub enum NullifierStatus {
    /// The nullifier is not in the log.
    New,
    /// The nullifier was used with the same `x`, so for the same message.
    Duplicate,
    /// The nullifier was used for another message: the member exceeds the limit.
    Spam {
        /// The member's secret if both proofs are valid. Until the second one is verified, this value
        /// may be forged by anyone.
        secret: RecoveredSecret,
    },
}

/// A secret computed from two points of a member's line. Wiped from memory on drop.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct RecoveredSecret(Fr);

impl RecoveredSecret {
    /// Commitment that belongs to the secret, by which the member can be found.
    pub fn commitment(&self) -> Fr {
        poseidon(&[self.0])
    }

    /// The recovered secret itself.
    pub fn secret(&self) -> &Fr {
        &self.0
    }
}

impl fmt::Debug for RecoveredSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecoveredSecret").finish_non_exhaustive()
    }
}

/// Point of a member's line, revealed by one message.
#[derive(Clone, Copy, Debug)]
struct SharePoint {
    x: Fr,
    y: Fr,
}

/// Key of the log: the first half of a nullifier's bytes. A nullifier is a hash, so it is infeasible
/// to find two with the same half. Only half is kept because a million entries must fit in memory.
type NullifierKey = [u8; 16];

fn key(nullifier: &Fr) -> NullifierKey {
    let bytes = fr_to_le(nullifier);
    *bytes
        .first_chunk()
        .expect("a field element has more than 16 bytes")
}

/// Nullifiers of one epoch, in two halves, so that the older half can be dropped as a whole.
#[derive(Clone, Debug, Default)]
struct EpochLog {
    newer: FewMap<NullifierKey, SharePoint>,
    older: FewMap<NullifierKey, SharePoint>,
}

impl EpochLog {
    fn get(&self, key: &NullifierKey) -> Option<&SharePoint> {
        self.newer.get(key).or_else(|| self.older.get(key))
    }

    /// Adds a nullifier that is not in the log; returns how many others were dropped to make room.
    fn enter(&mut self, key: NullifierKey, share: SharePoint, max_entries: usize) -> usize {
        let mut dropped = 0;
        if self.newer.len() >= (max_entries / 2).max(1) {
            let newer = std::mem::take(&mut self.newer);
            dropped = std::mem::replace(&mut self.older, newer).len();
        }
        self.newer.insert(key, share);
        dropped
    }

    fn len(&self) -> usize {
        self.newer.len() + self.older.len()
    }
}

/// Log of the nullifiers of verified proofs, by epoch.
#[derive(Clone, Debug)]
pub struct NullifierLog {
    limits: NullifierLimits,
    epochs: FewMap<Epoch, EpochLog>,
    dropped_total: u64,
}

impl NullifierLog {
    /// Creates an empty log.
    pub fn new(limits: NullifierLimits) -> Self {
        Self {
            limits,
            epochs: FewMap::new(),
            dropped_total: 0,
        }
    }

    /// Looks up a nullifier without adding it, to refuse early, before the pairing.
    pub fn check(&self, epoch: Epoch, nullifier: Fr, x: Fr, y: Fr) -> NullifierStatus {
        let log = self.epochs.get(&epoch);
        let known = log.and_then(|log| log.get(&key(&nullifier)));
        known.map_or(NullifierStatus::New, |known| {
            known.compare(SharePoint { x, y })
        })
    }

    /// Whether a message with this nullifier is in the log.
    pub fn contains(&self, epoch: Epoch, nullifier: Fr) -> bool {
        let log = self.epochs.get(&epoch);
        log.is_some_and(|log| log.get(&key(&nullifier)).is_some())
    }

    /// Looks up a nullifier and adds it if it is new, in one step: of two proofs verified at the same
    /// time only the first is `New`.
    ///
    /// Call this for verified proofs only: an entry made by a forged proof would let anyone silence
    /// others. For the same reason a full log refuses no nullifier: the older half of the epoch's
    /// entries is dropped, and members may then use those message ids once more.
    pub fn insert(&mut self, epoch: Epoch, nullifier: Fr, x: Fr, y: Fr) -> NullifierStatus {
        let (key, share) = (key(&nullifier), SharePoint { x, y });
        let log = self.epochs.get_or_insert_with(epoch, EpochLog::default);
        if let Some(known) = log.get(&key) {
            return known.compare(share);
        }
        let dropped = log.enter(key, share, self.limits.max_entries_per_epoch);
        self.dropped_total = self.dropped_total.saturating_add(dropped as u64);
        NullifierStatus::New
    }

    /// Removes all epochs outside `keep`.
    ///
    /// Keep every epoch whose messages are still accepted (those within the clock gap), or a
    /// nullifier can be used again right after the epoch turns.
    pub fn prune(&mut self, keep: RangeInclusive<Epoch>) {
        self.epochs.retain(|epoch, _| keep.contains(epoch));
    }

    /// Number of nullifiers held, over all epochs.
    pub fn len(&self) -> usize {
        self.epochs.values().map(EpochLog::len).sum()
    }

    /// Whether no nullifier is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of nullifiers dropped because their epoch had more than the maximum.
    pub fn dropped_total(&self) -> u64 {
        self.dropped_total
    }
}

impl SharePoint {
    /// Compares two points with the same nullifier.
    ///
    /// With equal `x` no secret follows, and the message is the same; if `y` differs nevertheless,
    /// the second proof is invalid.
    fn compare(&self, other: Self) -> NullifierStatus {
        match recover_secret((self.x, self.y), (other.x, other.y)) {
            Some(secret) => NullifierStatus::Spam {
                secret: RecoveredSecret(secret),
            },
            None => NullifierStatus::Duplicate,
        }
    }
}

/// Value at `x = 0` of the line through two points; `None` when the points have the same `x`.
///
/// For two messages published with one message id this is the member's secret.
pub fn recover_secret((x1, y1): (Fr, Fr), (x2, y2): (Fr, Fr)) -> Option<Fr> {
    let slope = (y1 - y2) * (x1 - x2).inverse()?;
    Some(y1 - x1 * slope)
}

#[cfg(test)]
#[path = "tests/nullifiers.rs"]
mod tests;
