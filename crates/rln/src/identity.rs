//! A member's identity: two random numbers, the secret made of them, and its public commitment.

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

/// A member's keys: `secret = Poseidon(trapdoor, nullifier)`, `commitment = Poseidon(secret)`.
///
/// Whoever knows the secret can publish as the member. It is wiped from memory on drop.
#[derive(Clone)]
pub struct Identity {
    trapdoor: Fr,
    nullifier: Fr,
    secret: Fr,
    commitment: Fr,
}

impl Identity {
    /// A fresh identity from a cryptographic generator.
    pub fn generate<R: CryptoRng + ?Sized>(rng: &mut R) -> Self {
        let mut source = Arkworks(rng);
        let trapdoor = Fr::rand(&mut source);
        let nullifier = Fr::rand(&mut source);
        Self::from_parts(trapdoor, nullifier)
    }

    /// The identity that belongs to a seed: ChaCha20 keyed with Keccak-256 of the seed, as in
    /// zerokit's `ExtendedIdentityKeys::generate_seeded`.
    ///
    /// It is as hard to guess as the seed is.
    pub fn from_seed(seed: &[u8]) -> Self {
        let mut key: [u8; 32] = Keccak256::digest(seed).into();
        let identity = Self::generate(&mut ChaCha20Rng::from_seed(key));
        key.zeroize();
        identity
    }

    /// The identity with these two numbers, of which the rest follows.
    pub fn from_parts(trapdoor: Fr, nullifier: Fr) -> Self {
        let secret = poseidon(&[trapdoor, nullifier]);
        Self {
            trapdoor,
            nullifier,
            secret,
            commitment: poseidon(&[secret]),
        }
    }

    /// The first random number. Secret.
    pub fn trapdoor(&self) -> &Fr {
        &self.trapdoor
    }

    /// The second random number. Secret; not the nullifier of a proof.
    pub fn nullifier(&self) -> &Fr {
        &self.nullifier
    }

    /// What a proof is made with. Secret; publishing too often reveals it.
    pub fn secret(&self) -> &Fr {
        &self.secret
    }

    /// The nullifiers of this identity's proofs in an epoch, by message id.
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

    /// What is registered. Public.
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

/// The leaf of a member: `Poseidon(commitment, limit)`, the limit in messages per epoch.
pub fn rate_commitment(commitment: Fr, limit: u32) -> Fr {
    poseidon(&[commitment, Fr::from(limit)])
}

/// Lets arkworks, which samples with an older generator interface, draw from ours.
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
mod tests;
