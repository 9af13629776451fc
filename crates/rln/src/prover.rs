//! Making proofs, with zerokit's prover over the vendored key.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use ark_bn254::Bn254;
use ark_groth16::Proof;
use ark_serialize::CanonicalSerialize;
use rln::circuit::{ArkGroth16Backend, SecretFr};
use rln::hashers::PoseidonHash;
use rln::protocol::{RLNMerkleProof, RLNWitnessInput, RLNZkProof};

use crate::epoch::Epoch;
use crate::external::{Generation, RlnIdentifier, external_nullifier};
use crate::field::{Fr, fr_to_le};
use crate::identity::Identity;
use crate::key::Key;
use crate::tree::{DEPTH, MerklePath};
use crate::wire::{PROOF_BYTES, RateLimitProof};

/// The largest limit that the circuit can hold: message ids have 16 bits.
pub const MAX_LIMIT: u32 = u16::MAX as u32;

/// Everything that one proof is made of.
#[derive(Clone, Copy, Debug)]
pub struct ProofRequest<'a> {
    /// Who publishes.
    pub identity: &'a Identity,
    /// The member's limit, as registered, in messages per epoch.
    pub limit: u32,
    /// Where the member is in the tree.
    pub path: &'a MerklePath,
    /// How the network forms external nullifiers.
    pub generation: Generation,
    /// The epoch of the message's timestamp.
    pub epoch: Epoch,
    /// The network's constant.
    pub identifier: &'a RlnIdentifier,
    /// Less than the limit, and never used before in this epoch (see
    /// [`crate::MessageIdCounter`]): using one twice reveals the identity's secret.
    pub message_id: u32,
    /// The message's signal hash, see [`crate::signal_hash`].
    pub x: Fr,
}

/// Why no proof was made.
#[derive(Debug, thiserror::Error)]
pub enum ProveError {
    /// The member has used up the epoch.
    #[error(
        "message id {message_id} is not below the limit of {limit} messages per epoch; wait for \
         the next epoch"
    )]
    MessageIdOutOfRange {
        /// The id asked for.
        message_id: u32,
        /// The member's limit.
        limit: u32,
    },
    /// The circuit has no room for the limit.
    #[error("limit {limit} is outside 1..={MAX_LIMIT}; use the limit that was registered")]
    LimitOutOfRange {
        /// The limit asked for.
        limit: u32,
    },
    /// zerokit refused its input or failed.
    #[error("the prover failed: {0}")]
    Backend(#[source] Box<dyn Error + Send + Sync>),
}

/// Makes proofs; each takes about 0.3 s of processor time.
#[derive(Clone)]
pub struct Prover {
    backend: Arc<ArkGroth16Backend<PoseidonHash>>,
}

impl Prover {
    /// A prover over the vendored key.
    pub fn new(key: Arc<Key>) -> Self {
        Self {
            backend: Arc::new(ArkGroth16Backend::new(key.proving_key(), key.graph())),
        }
    }

    /// Makes the proof for one message.
    ///
    /// # Errors
    /// [`ProveError::MessageIdOutOfRange`] and [`ProveError::LimitOutOfRange`] before any work is
    /// done.
    pub fn prove(&self, request: &ProofRequest<'_>) -> Result<RateLimitProof, ProveError> {
        let ProofRequest {
            limit,
            message_id,
            epoch,
            identifier,
            ..
        } = *request;
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(ProveError::LimitOutOfRange { limit });
        }
        if message_id >= limit {
            return Err(ProveError::MessageIdOutOfRange { message_id, limit });
        }
        let mut secret = *request.identity.secret();
        let witness = RLNWitnessInput::new_single()
            .identity_secret(SecretFr::from(&mut secret))
            .user_message_limit(Fr::from(limit))
            .merkle_proof(zerokit_path(request.path))
            .x(request.x)
            .external_nullifier(external_nullifier(request.generation, epoch, identifier))
            .message_id(Fr::from(message_id))
            .build()
            .map_err(|error| ProveError::Backend(error.into()))?;
        let (proof, values) = self
            .backend
            .generate_proof(&witness)
            .map_err(|error| ProveError::Backend(error.into()))?;
        let single = "a single-message witness has single values";
        Ok(RateLimitProof {
            proof: compress(&proof),
            merkle_root: fr_to_le(&values.root()),
            epoch: epoch.to_bytes(),
            share_x: fr_to_le(&request.x),
            share_y: fr_to_le(&values.y().expect(single)),
            nullifier: fr_to_le(&values.nullifier().expect(single)),
            rln_identifier: identifier.0,
        })
    }
}

impl fmt::Debug for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prover").finish_non_exhaustive()
    }
}

fn zerokit_path(path: &MerklePath) -> RLNMerkleProof {
    let bits = (0..DEPTH)
        .map(|level| u8::from(path.is_right_child(level)))
        .collect();
    RLNMerkleProof::new(path.siblings.to_vec(), bits)
}

fn compress(proof: &Proof<Bn254>) -> [u8; PROOF_BYTES] {
    let mut bytes = [0; PROOF_BYTES];
    proof
        .serialize_compressed(bytes.as_mut_slice())
        .expect("three BN254 points take 128 bytes");
    bytes
}

#[cfg(test)]
mod tests;
