//! Error of bytes that are not protobuf, with the position of the fault.

use thiserror::Error;
use undertone_wire::{FieldError, VarintError};

#[cfg(test)]
#[path = "tests/wire.rs"]
mod tests;

/// Error of bytes that are not valid protobuf; offsets count from the start of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// A value extends past the end of the input.
    #[error("truncated at byte {offset}: the value there runs past the end of the message")]
    Truncated {
        /// Offset of the value, in bytes.
        offset: usize,
    },
    /// A varint has more than 64 bits.
    #[error("varint at byte {offset} does not fit 64 bits")]
    VarintOverflow {
        /// Offset of the varint, in bytes.
        offset: usize,
    },
    /// A field number is not from 1 to 2^29 - 1.
    #[error("field number {number} at byte {offset} is outside 1..=536870911")]
    FieldNumber {
        /// Offset of the field's tag, in bytes.
        offset: usize,
        /// The field number that was read.
        number: u64,
    },
    /// A wire type is unsupported: groups (3, 4) are not used on Waku networks; 6 and 7 do not exist.
    #[error("wire type {wire_type} at byte {offset}; expected 0, 1, 2 or 5")]
    WireType {
        /// Offset of the field's tag, in bytes.
        offset: usize,
        /// The wire type that was read.
        wire_type: u8,
    },
}

impl From<FieldError> for WireError {
    fn from(error: FieldError) -> Self {
        match error {
            FieldError::Varint {
                offset,
                error: VarintError::Incomplete,
            }
            | FieldError::Truncated { offset } => Self::Truncated { offset },
            FieldError::Varint {
                offset,
                error: VarintError::Overflow,
            } => Self::VarintOverflow { offset },
            FieldError::FieldNumber { offset, number } => Self::FieldNumber { offset, number },
            FieldError::WireType { offset, wire_type } => Self::WireType { offset, wire_type },
        }
    }
}
