//! The module's form of proofs, and the checks before the SNARK.

use undertone_rln::{
    Epoch, Fr, Generation, MalformedEpoch, NonCanonical, ProofField, ProofStatement,
    RateLimitProof, RlnIdentifier, SnarkInvalid, external_nullifier, fr_from_le, fr_to_le,
    hash_to_field,
};

#[cfg(test)]
#[path = "tests/proof.rs"]
mod tests;

/// Formula for external nullifiers that the specification prescribes.
pub(super) const GENERATION: Generation = Generation::Hashed;

/// A rate-limit proof in the specification's form: with its external nullifier instead of the application's
/// identifier. Field elements are little-endian.
///
/// Messages of the Waku networks carry [`RateLimitProof`]: see [`Self::from_wire`] and [`Self::to_wire`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleProof {
    /// Compressed Groth16 points A (32) | B (64) | C (32).
    pub proof: [u8; 128],
    /// Root of the membership tree.
    pub root: [u8; 32],
    /// Epoch number, see [`Epoch::to_bytes`].
    pub epoch: [u8; 32],
    /// External nullifier derived from the epoch and the application.
    pub external_nullifier: [u8; 32],
    /// Hash of the signal.
    pub share_x: [u8; 32],
    /// Value of the member's line at `share_x`.
    pub share_y: [u8; 32],
    /// Nullifier of the member's message id in this epoch.
    pub nullifier: [u8; 32],
}

/// Reason why a proof is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofDefect {
    /// The epoch field is not a number.
    #[error("epoch of the proof: {0}")]
    MalformedEpoch(#[from] MalformedEpoch),
    /// The epoch is too far from the present one.
    #[error("proof is for epoch {found}, now is epoch {now}, at most {max_gap} apart are accepted")]
    EpochTooFar {
        /// Epoch of the proof.
        found: Epoch,
        /// The present epoch.
        now: Epoch,
        /// Maximum difference, in epochs.
        max_gap: u64,
    },
    /// The external nullifier does not match the proof's epoch and the scope's application.
    #[error("external nullifier of the proof is not that of its epoch and this application")]
    ForeignExternalNullifier,
    /// `share_x` is not the hash of this signal.
    #[error("share_x of the proof is not the hash of this signal")]
    SignalMismatch,
    /// A field has a value of r or more, an alias of a smaller one.
    #[error("{0} of the proof is not a canonical field element")]
    NonCanonical(ProofField),
    /// The root is not in the window of accepted roots.
    #[error("root of the proof is not among the {window_len} accepted roots")]
    UnknownRoot {
        /// Number of roots accepted at present.
        window_len: usize,
    },
    /// The zero-knowledge proof is invalid.
    #[error(transparent)]
    Snark(#[from] SnarkInvalid),
}

impl ModuleProof {
    /// Converts the proof of a message. Its external nullifier is derived from epoch and identifier.
    ///
    /// # Errors
    /// [`MalformedEpoch`] when the epoch is not a number, so that no external nullifier can be derived.
    pub fn from_wire(wire: &RateLimitProof) -> Result<Self, MalformedEpoch> {
        let identifier = RlnIdentifier(wire.rln_identifier);
        let external = external(Epoch::from_bytes(&wire.epoch)?, &identifier);
        Ok(Self {
            proof: wire.proof,
            root: wire.merkle_root,
            epoch: wire.epoch,
            external_nullifier: fr_to_le(&external),
            share_x: wire.share_x,
            share_y: wire.share_y,
            nullifier: wire.nullifier,
        })
    }

    /// Converts to the proof of a message in the application with this identifier.
    pub fn to_wire(&self, identifier: &RlnIdentifier) -> RateLimitProof {
        RateLimitProof {
            proof: self.proof,
            merkle_root: self.root,
            epoch: self.epoch,
            share_x: self.share_x,
            share_y: self.share_y,
            nullifier: self.nullifier,
            rln_identifier: identifier.0,
        }
    }

    /// Checks everything except root and SNARK, and returns the statement needed to check these two.
    pub(super) fn statement(
        &self,
        identifier: &RlnIdentifier,
        signal: &[u8],
        now: Epoch,
        max_gap: u64,
    ) -> Result<ProofStatement, ProofDefect> {
        let found = Epoch::from_bytes(&self.epoch)?;
        if found.0.abs_diff(now.0) > max_gap {
            return Err(ProofDefect::EpochTooFar {
                found,
                now,
                max_gap,
            });
        }
        let external_nullifier = external(found, identifier);
        if self.external_nullifier != fr_to_le(&external_nullifier) {
            return Err(ProofDefect::ForeignExternalNullifier);
        }
        let x = signal_point(signal);
        if self.share_x != fr_to_le(&x) {
            return Err(ProofDefect::SignalMismatch);
        }
        let canonical = |field, bytes| {
            fr_from_le(bytes).map_err(|NonCanonical| ProofDefect::NonCanonical(field))
        };
        Ok(ProofStatement {
            proof: self.proof,
            y: canonical(ProofField::ShareY, &self.share_y)?,
            root: canonical(ProofField::MerkleRoot, &self.root)?,
            nullifier: canonical(ProofField::Nullifier, &self.nullifier)?,
            x,
            external_nullifier,
        })
    }
}

/// Computes the point at which a member's line is evaluated for a signal.
pub(super) fn signal_point(signal: &[u8]) -> Fr {
    hash_to_field(&[signal])
}

fn external(epoch: Epoch, identifier: &RlnIdentifier) -> Fr {
    external_nullifier(GENERATION, epoch, identifier)
}
