//! Wire format of `RateLimitProof` (RFC 17, plus field 7 as nwaku sends it).
//!
//! ```text
//! 1 proof           128 bytes   compressed Groth16 points A (32) | B (64) | C (32)
//! 2 merkle_root      32 bytes   field element, little-endian, as are 4, 5 and 6
//! 3 epoch            32 bytes   u64, little-endian, zero padded
//! 4 share_x          32 bytes
//! 5 share_y          32 bytes
//! 6 nullifier        32 bytes
//! 7 rln_identifier   32 bytes
//! ```

use std::fmt;

use undertone_wire::{FieldError, FieldReader, FieldValue, VarintError, put_bytes_field};

/// Longest accepted encoding, bytes. The known fields take 335; the rest allows for additional fields.
pub const MAX_ENCODED_BYTES: usize = 1024;

/// Length of a compressed Groth16 proof, bytes.
pub const PROOF_BYTES: usize = 128;

/// Fields of a rate-limit proof, by protobuf number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProofField {
    /// Field 1, the Groth16 proof.
    Proof = 1,
    /// Field 2, the Merkle root.
    MerkleRoot = 2,
    /// Field 3, the epoch.
    Epoch = 3,
    /// Field 4, the signal hash.
    ShareX = 4,
    /// Field 5, the value of the member's line at `share_x`.
    ShareY = 5,
    /// Field 6, the nullifier.
    Nullifier = 6,
    /// Field 7, the application identifier.
    RlnIdentifier = 7,
}

impl ProofField {
    const ALL: [Self; 7] = [
        Self::Proof,
        Self::MerkleRoot,
        Self::Epoch,
        Self::ShareX,
        Self::ShareY,
        Self::Nullifier,
        Self::RlnIdentifier,
    ];

    fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|field| *field as u32 == number)
    }
}

impl fmt::Display for ProofField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Proof => "proof",
            Self::MerkleRoot => "merkle_root",
            Self::Epoch => "epoch",
            Self::ShareX => "share_x",
            Self::ShareY => "share_y",
            Self::Nullifier => "nullifier",
            Self::RlnIdentifier => "rln_identifier",
        })
    }
}

/// A rate-limit proof in its wire form; only the lengths of the fields are checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimitProof {
    /// Compressed Groth16 points A (32) | B (64) | C (32).
    pub proof: [u8; PROOF_BYTES],
    /// Root of the membership tree, little-endian.
    pub merkle_root: [u8; 32],
    /// Epoch number, see [`crate::Epoch::to_bytes`].
    pub epoch: [u8; 32],
    /// Signal hash of the message, little-endian.
    pub share_x: [u8; 32],
    /// Value of the member's line at `share_x`, little-endian.
    pub share_y: [u8; 32],
    /// Nullifier of the message, little-endian.
    pub nullifier: [u8; 32],
    /// Application identifier, see [`crate::RlnIdentifier`].
    pub rln_identifier: [u8; 32],
}

/// Error of decoding a rate-limit proof. All variants are the sender's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofDecodeError {
    /// The encoding is longer than any proof.
    #[error("rate-limit proof of {found_bytes} bytes, at most {MAX_ENCODED_BYTES} are accepted")]
    TooLong {
        /// Length of the input.
        found_bytes: usize,
    },
    /// The input ends inside a field.
    #[error("rate-limit proof ends inside the field that starts at byte {at}")]
    Truncated {
        /// Byte offset of the field's tag.
        at: usize,
    },
    /// A varint does not fit 64 bits.
    #[error("varint at byte {at} of a rate-limit proof does not fit 64 bits")]
    VarintOverflow {
        /// Byte offset of the field's tag.
        at: usize,
    },
    /// A field number is 0 or above 2^29 - 1.
    #[error("field number {number} at byte {at} of a rate-limit proof is outside 1..2^29")]
    BadFieldNumber {
        /// Byte offset of the field's tag.
        at: usize,
        /// Field number that was found.
        number: u64,
    },
    /// A group (wire types 3 and 4) or a wire type that protobuf does not have.
    #[error("wire type {wire_type} at byte {at} of a rate-limit proof is not supported")]
    UnsupportedWireType {
        /// Byte offset of the field's tag.
        at: usize,
        /// Wire type that was found: 3, 4, 6 or 7.
        wire_type: u8,
    },
    /// One of the seven fields does not have the wire type of bytes.
    #[error("{field} of a rate-limit proof is a number, bytes are expected")]
    NotBytes {
        /// Field that is at fault.
        field: ProofField,
    },
    /// One of the seven fields does not have the required length.
    #[error("{field} of a rate-limit proof has {found_bytes} bytes, {expected_bytes} are expected")]
    WrongLength {
        /// Field that is at fault.
        field: ProofField,
        /// Length that the field must have.
        expected_bytes: usize,
        /// Length of the field in the encoding.
        found_bytes: usize,
    },
    /// One of the seven fields is missing.
    #[error("rate-limit proof without {field}")]
    Missing {
        /// Field that is at fault.
        field: ProofField,
    },
}

impl RateLimitProof {
    /// Encodes the proof as protobuf: the seven fields in order, 335 bytes.
    pub fn encode(&self) -> Vec<u8> {
        let fields: [(ProofField, &[u8]); 7] = [
            (ProofField::Proof, &self.proof),
            (ProofField::MerkleRoot, &self.merkle_root),
            (ProofField::Epoch, &self.epoch),
            (ProofField::ShareX, &self.share_x),
            (ProofField::ShareY, &self.share_y),
            (ProofField::Nullifier, &self.nullifier),
            (ProofField::RlnIdentifier, &self.rln_identifier),
        ];
        let mut bytes = Vec::with_capacity(335);
        for (field, content) in fields {
            put_bytes_field(&mut bytes, field as u32, content);
        }
        bytes
    }

    /// Decodes the protobuf encoding. Unknown fields are skipped; of a repeated field the last one
    /// counts.
    ///
    /// # Errors
    /// [`ProofDecodeError`] for the first defect found. No field is copied before its length is checked.
    pub fn decode(bytes: &[u8]) -> Result<Self, ProofDecodeError> {
        if bytes.len() > MAX_ENCODED_BYTES {
            return Err(ProofDecodeError::TooLong {
                found_bytes: bytes.len(),
            });
        }
        let mut found: [Option<&[u8]>; 7] = [None; 7];
        let mut reader = FieldReader::new(bytes);
        loop {
            let at = reader.offset();
            let field = reader.field().map_err(|error| in_field(at, error))?;
            let Some((number, value)) = field else {
                break;
            };
            let Some(field) = ProofField::from_number(number) else {
                continue;
            };
            let FieldValue::Bytes(content) = value else {
                return Err(ProofDecodeError::NotBytes { field });
            };
            found[field as usize - 1] = Some(content);
        }
        Ok(Self {
            proof: exactly(ProofField::Proof, &found)?,
            merkle_root: exactly(ProofField::MerkleRoot, &found)?,
            epoch: exactly(ProofField::Epoch, &found)?,
            share_x: exactly(ProofField::ShareX, &found)?,
            share_y: exactly(ProofField::ShareY, &found)?,
            nullifier: exactly(ProofField::Nullifier, &found)?,
            rln_identifier: exactly(ProofField::RlnIdentifier, &found)?,
        })
    }
}

/// Error of a field whose tag starts at byte `at`.
fn in_field(at: usize, error: FieldError) -> ProofDecodeError {
    match error {
        FieldError::Varint {
            error: VarintError::Incomplete,
            ..
        }
        | FieldError::Truncated { .. } => ProofDecodeError::Truncated { at },
        FieldError::Varint {
            error: VarintError::Overflow,
            ..
        } => ProofDecodeError::VarintOverflow { at },
        FieldError::FieldNumber { number, .. } => ProofDecodeError::BadFieldNumber { at, number },
        FieldError::WireType { wire_type, .. } => {
            ProofDecodeError::UnsupportedWireType { at, wire_type }
        }
    }
}

fn exactly<const N: usize>(
    field: ProofField,
    found: &[Option<&[u8]>; 7],
) -> Result<[u8; N], ProofDecodeError> {
    let content = found[field as usize - 1].ok_or(ProofDecodeError::Missing { field })?;
    content
        .try_into()
        .map_err(|_| ProofDecodeError::WrongLength {
            field,
            expected_bytes: N,
            found_bytes: content.len(),
        })
}

#[cfg(test)]
#[path = "tests/wire.rs"]
mod tests;
