//! `RateLimitProof` on the wire (RFC 17, plus field 7 as nwaku sends it).
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

mod reader;

use reader::{Reader, Value};

/// The longest encoding that is looked at. Ours take 335 bytes; the rest is room for fields that
/// others may add.
pub const MAX_ENCODED_BYTES: usize = 1024;

/// Bytes of a compressed Groth16 proof.
pub const PROOF_BYTES: usize = 128;

/// The fields of a rate-limit proof, by protobuf number.
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
    /// Field 5, the point of the member's line at `share_x`.
    ShareY = 5,
    /// Field 6, the nullifier.
    Nullifier = 6,
    /// Field 7, the application.
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

    fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|field| *field as u64 == number)
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

/// A rate-limit proof as it travels, nothing of it checked but the lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimitProof {
    /// Compressed Groth16 points A (32) | B (64) | C (32).
    pub proof: [u8; PROOF_BYTES],
    /// Root of the membership tree, little-endian.
    pub merkle_root: [u8; 32],
    /// Epoch number, see [`crate::Epoch::to_bytes`].
    pub epoch: [u8; 32],
    /// Signal hash, little-endian.
    pub share_x: [u8; 32],
    /// Point of the member's line at `share_x`, little-endian.
    pub share_y: [u8; 32],
    /// Nullifier, little-endian.
    pub nullifier: [u8; 32],
    /// The application, see [`crate::RlnIdentifier`].
    pub rln_identifier: [u8; 32],
}

/// Why bytes are not a rate-limit proof. All of them are the sender's fault.
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
        /// Where the field's tag starts.
        at: usize,
    },
    /// A varint does not fit 64 bits.
    #[error("varint at byte {at} of a rate-limit proof does not fit 64 bits")]
    VarintOverflow {
        /// Where the field's tag starts.
        at: usize,
    },
    /// Field number 0, or above 2^29 - 1.
    #[error("field number {number} at byte {at} of a rate-limit proof is outside 1..2^29")]
    BadFieldNumber {
        /// Where the field's tag starts.
        at: usize,
        /// The number.
        number: u64,
    },
    /// A group (wire types 3 and 4) or a wire type that protobuf does not have.
    #[error("wire type {wire_type} at byte {at} of a rate-limit proof is not supported")]
    UnsupportedWireType {
        /// Where the field's tag starts.
        at: usize,
        /// 3, 4, 6 or 7.
        wire_type: u8,
    },
    /// One of the seven fields is a number instead of bytes.
    #[error("{field} of a rate-limit proof is a number, bytes are expected")]
    NotBytes {
        /// The field.
        field: ProofField,
    },
    /// One of the seven fields has another length than it must have.
    #[error("{field} of a rate-limit proof has {found_bytes} bytes, {expected_bytes} are expected")]
    WrongLength {
        /// The field.
        field: ProofField,
        /// The one length that is accepted.
        expected_bytes: usize,
        /// The length on the wire.
        found_bytes: usize,
    },
    /// One of the seven fields is not there.
    #[error("rate-limit proof without {field}")]
    Missing {
        /// The field.
        field: ProofField,
    },
}

impl RateLimitProof {
    /// The protobuf encoding: the seven fields in order, 335 bytes.
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
            bytes.push((field as u8) << 3 | reader::LENGTH_DELIMITED);
            reader::write_varint(&mut bytes, content.len() as u64);
            bytes.extend_from_slice(content);
        }
        bytes
    }

    /// Reads the protobuf encoding. Unknown fields are skipped; the last of a repeated field
    /// counts.
    ///
    /// # Errors
    /// [`ProofDecodeError`]: no byte is copied before its length is known to be right.
    pub fn decode(bytes: &[u8]) -> Result<Self, ProofDecodeError> {
        if bytes.len() > MAX_ENCODED_BYTES {
            return Err(ProofDecodeError::TooLong {
                found_bytes: bytes.len(),
            });
        }
        let mut found: [Option<&[u8]>; 7] = [None; 7];
        let mut reader = Reader::new(bytes);
        while let Some((number, value)) = reader.next_field()? {
            let Some(field) = ProofField::from_number(number) else {
                continue;
            };
            let Value::Bytes(content) = value else {
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
mod tests;
