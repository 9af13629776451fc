//! The external nullifier: the epoch and application for which a proof counts its message.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ark_ff::PrimeField;

use crate::epoch::Epoch;
use crate::field::{Fr, hash_to_field};
use crate::poseidon::poseidon;

/// Identifier of the application that a rate limit belongs to, 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RlnIdentifier(pub [u8; 32]);

impl RlnIdentifier {
    /// Identifier of all Waku networks: `rln/waku-rln-relay/v2.0.0`, padded with zeros.
    pub const WAKU: Self = Self::padded(b"rln/waku-rln-relay/v2.0.0");

    /// Pads a text of at most 32 bytes with zeros. In a constant, a longer text does not compile.
    const fn padded(text: &[u8]) -> Self {
        let mut bytes = [0; 32];
        let mut at = 0;
        while at < text.len() {
            bytes[at] = text[at];
            at += 1;
        }
        Self(bytes)
    }
}

/// Mapping of epoch and identifier to field elements. The two generations refuse each other's proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generation {
    /// `Poseidon(epoch, identifier)`, with the 32 bytes of each read as a little-endian integer
    /// modulo r: nwaku up to 0.37.
    Direct,
    /// `Poseidon(H(epoch), H(identifier))` with `H` the Keccak hash to the field: nwaku from 0.38.
    Hashed,
}

/// Computes the external nullifier of an epoch.
///
/// The external nullifier is never sent: each receiver computes it from the epoch and from the
/// receiver's own application identifier.
pub fn external_nullifier(generation: Generation, epoch: Epoch, identifier: &RlnIdentifier) -> Fr {
    let to_field = |bytes: &[u8; 32]| match generation {
        Generation::Direct => Fr::from_le_bytes_mod_order(bytes),
        Generation::Hashed => hash_to_field(&[bytes]),
    };
    poseidon(&[to_field(&epoch.to_bytes()), to_field(&identifier.0)])
}

/// Number of epochs that [`ExternalNullifiers`] remembers: the present one, those next to it that the
/// clock gap admits, and one spare.
const REMEMBERED: usize = 4;

/// Cache of the external nullifiers of one application, each computed at its first use. Clones share the cache, as the
/// nodes of a simulation do.
///
/// Only the last few epochs are remembered, so a peer that sends messages of many epochs costs
/// computation but no memory.
#[derive(Clone, Debug)]
pub struct ExternalNullifiers(Arc<Mutex<Known>>);

#[derive(Debug)]
struct Known {
    generation: Generation,
    identifier: RlnIdentifier,
    known: [Option<(Epoch, Fr)>; REMEMBERED],
    /// Index of the entry computed first, which is replaced next.
    oldest: usize,
    /// Number of external nullifiers computed so far.
    computed_total: u64,
}

impl ExternalNullifiers {
    /// Creates an empty cache.
    pub fn new(generation: Generation, identifier: RlnIdentifier) -> Self {
        Self(Arc::new(Mutex::new(Known {
            generation,
            identifier,
            known: [None; REMEMBERED],
            oldest: 0,
            computed_total: 0,
        })))
    }

    /// Returns the external nullifier of `epoch`, equal to that of [`external_nullifier`].
    pub fn get(&self, epoch: Epoch) -> Fr {
        self.known().get(epoch)
    }

    /// Number of external nullifiers computed so far.
    pub fn computed_total(&self) -> u64 {
        self.known().computed_total
    }

    /// Locks the cache. A poisoned lock is harmless, because an entry is stored in a single step.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn get(&mut self, epoch: Epoch) -> Fr {
        let known = self.known.iter().flatten().find(|known| known.0 == epoch);
        if let Some((_, nullifier)) = known {
            return *nullifier;
        }
        let nullifier = external_nullifier(self.generation, epoch, &self.identifier);
        self.known[self.oldest] = Some((epoch, nullifier));
        self.oldest = (self.oldest + 1) % REMEMBERED;
        self.computed_total += 1;
        nullifier
    }
}

#[cfg(test)]
#[path = "tests/external.rs"]
mod tests;
