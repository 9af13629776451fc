//! A member's identity: two random numbers, the secret derived from them, and the public commitment.

use std::fmt;

use ark_std::UniformRand;
use rand_chacha::ChaCha20Rng;
use rand_core::{CryptoRng, RngCore, SeedableRng};
use sha3::{Digest, Keccak256};
use zeroize::Zeroize;

use crate::epoch::Epoch;
use crate::external::{Generation, RlnIdentifier, external_nullifier};
use crate::field::Fr;
use crate::poseidon::poseidon;

mod file;

pub use file::{IdentityFile, IdentityFileError};

/// Keys of a member: `secret = Poseidon(trapdoor, nullifier)`, `commitment = Poseidon(secret)`.
///
/// Anyone who knows the secret can publish as the member. The secret values are wiped from memory on
/// drop.
#[derive(Clone)]
pub struct Identity {
    trapdoor: Fr,
    nullifier: Fr,
    secret: Fr,
    commitment: Fr,
}

impl Identity {
    /// Generates a new identity from a cryptographic random number generator.
    pub fn generate<R: CryptoRng + ?Sized>(rng: &mut R) -> Self {
        let mut source = Arkworks(rng);
        let trapdoor = Fr::rand(&mut source);
        let nullifier = Fr::rand(&mut source);
        Self::from_parts(trapdoor, nullifier)
    }

    /// Derives the identity from a seed: ChaCha20 keyed with Keccak-256 of the seed, as in zerokit's
    /// `ExtendedIdentityKeys::generate_seeded`.
    ///
    /// The identity is only as hard to guess as the seed.
    pub fn from_seed(seed: &[u8]) -> Self {
        let mut key: [u8; 32] = Keccak256::digest(seed).into();
        let identity = Self::generate(&mut ChaCha20Rng::from_seed(key));
        key.zeroize();
        identity
    }

    /// Creates the identity from its two random numbers; secret and commitment follow from them.
    pub fn from_parts(trapdoor: Fr, nullifier: Fr) -> Self {
        let secret = poseidon(&[trapdoor, nullifier]);
        Self {
            trapdoor,
            nullifier,
            secret,
            commitment: poseidon(&[secret]),
        }
    }

    /// The identity's first random number. Secret.
    pub fn trapdoor(&self) -> &Fr {
        &self.trapdoor
    }

    /// The identity's second random number. Secret; not the nullifier of a proof.
    pub fn nullifier(&self) -> &Fr {
        &self.nullifier
    }

    /// The secret that proofs are made with. Exceeding the limit in an epoch reveals it.
    pub fn secret(&self) -> &Fr {
        &self.secret
    }

    /// Returns a function from message id to the nullifier of this identity's proof in `epoch`.
    pub fn nullifiers(
        &self,
        generation: Generation,
        epoch: Epoch,
        identifier: &RlnIdentifier,
    ) -> impl Fn(u32) -> Fr {
        let external = external_nullifier(generation, epoch, identifier);
        move |message_id| {
            let slope = poseidon(&[self.secret, external, Fr::from(message_id)]);
            poseidon(&[slope])
        }
    }

    /// Public commitment, which is registered.
    pub fn commitment(&self) -> Fr {
        self.commitment
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        self.trapdoor.zeroize();
        self.nullifier.zeroize();
        self.secret.zeroize();
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("commitment", &self.commitment)
            .finish_non_exhaustive()
    }
}

/// Computes the leaf of a member: `Poseidon(commitment, limit)`, the limit in messages per epoch.
pub fn rate_commitment(commitment: Fr, limit: u32) -> Fr {
    poseidon(&[commitment, Fr::from(limit)])
}

/// Adapter of our generators to the older generator interface that arkworks samples with.
struct Arkworks<'a, R: ?Sized>(&'a mut R);

impl<R: RngCore + ?Sized> ark_std::rand::RngCore for Arkworks<'_, R> {
    fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), ark_std::rand::Error> {
        self.0.fill_bytes(bytes);
        Ok(())
    }
}

#[cfg(test)]
#[path = "tests/identity.rs"]
mod tests;
