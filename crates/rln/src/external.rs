//! The external nullifier: what a proof counts its message under (epoch and application).

use ark_ff::PrimeField;

use crate::epoch::Epoch;
use crate::field::{Fr, hash_to_field};
use crate::poseidon::poseidon;

/// The application that a rate limit belongs to, as 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RlnIdentifier(pub [u8; 32]);

impl RlnIdentifier {
    /// `rln/waku-rln-relay/v2.0.0`, padded with zeros: the constant of all Waku networks.
    pub const WAKU: Self = Self::padded(b"rln/waku-rln-relay/v2.0.0");

    /// A text of at most 32 bytes, padded with zeros. A longer one does not compile in a constant.
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

/// How epoch and identifier become field elements. The two generations refuse each other's proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Generation {
    /// `Poseidon(epoch, identifier)`, the 32 bytes read as little-endian integers modulo r: nwaku
    /// up to 0.37.
    Direct,
    /// `Poseidon(H(epoch), H(identifier))` with `H` the Keccak hash to the field: nwaku from 0.38.
    Hashed,
}

/// The external nullifier of an epoch. It is never on the wire: each receiver computes it from the
/// epoch and from its own identifier.
pub fn external_nullifier(generation: Generation, epoch: Epoch, identifier: &RlnIdentifier) -> Fr {
    let to_field = |bytes: &[u8; 32]| match generation {
        Generation::Direct => Fr::from_le_bytes_mod_order(bytes),
        Generation::Hashed => hash_to_field(&[bytes]),
    };
    poseidon(&[to_field(&epoch.to_bytes()), to_field(&identifier.0)])
}

/// Epochs that [`ExternalNullifiers`] remembers: the present one, the ones beside it that a clock gap
/// lets in, and one to spare.
const REMEMBERED: usize = 4;

/// External nullifiers of one application, each epoch's computed when it is first asked for.
///
/// It remembers the last few epochs only, so whoever sends messages of many epochs makes it compute
/// but takes no memory.
#[derive(Clone, Debug)]
pub struct ExternalNullifiers {
    generation: Generation,
    identifier: RlnIdentifier,
    known: [Option<(Epoch, Fr)>; REMEMBERED],
    /// The place whose epoch came first.
    oldest: usize,
    computed_total: u64,
}

impl ExternalNullifiers {
    /// Nothing is computed yet.
    pub fn new(generation: Generation, identifier: RlnIdentifier) -> Self {
        Self {
            generation,
            identifier,
            known: [None; REMEMBERED],
            oldest: 0,
            computed_total: 0,
        }
    }

    /// What [`external_nullifier`] gives for the epoch.
    pub fn get(&mut self, epoch: Epoch) -> Fr {
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

    /// How many were computed.
    pub fn computed_total(&self) -> u64 {
        self.computed_total
    }
}

#[cfg(test)]
mod tests;
