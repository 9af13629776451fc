//! Unsigned varints (LEB128) of at most 64 bits, and the mapping of signed numbers to them.

use thiserror::Error;

/// Longest encoding of a 64-bit number, in bytes.
pub const VARINT_LEN_MAX: usize = 10;

/// Reason why a varint could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum VarintError {
    /// The input ends before the number does.
    #[error("a varint is cut short")]
    Incomplete,
    /// The number does not fit in 64 bits.
    #[error("a varint does not fit 64 bits")]
    Overflow,
}

/// Reads one number from the front of `bytes` and returns it with its encoded length in bytes. Padded
/// (non-minimal) encodings of at most [`VARINT_LEN_MAX`] bytes are accepted, as protoc does.
///
/// # Errors
/// Returns [`VarintError`] when the input ends first or the number is too large.
#[inline]
pub fn read_varint(bytes: &[u8]) -> Result<(u64, usize), VarintError> {
    match bytes.first() {
        // Nearly every tag and most lengths have one byte.
        Some(&byte) if byte < 0x80 => Ok((u64::from(byte), 1)),
        _ => read_long_varint(bytes),
    }
}

fn read_long_varint(bytes: &[u8]) -> Result<(u64, usize), VarintError> {
    let mut value = 0u64;
    for (i, &byte) in bytes.iter().take(VARINT_LEN_MAX).enumerate() {
        // The tenth byte has room for one bit only.
        if i == VARINT_LEN_MAX - 1 && byte > 1 {
            return Err(VarintError::Overflow);
        }
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Ok((value, i + 1));
        }
    }
    // Ten bytes end above: the tenth is either the last one or too large.
    Err(VarintError::Incomplete)
}

/// Number of bytes that [`put_varint`] appends.
#[inline]
pub fn varint_len(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Appends `value` in base 128, least significant group first.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Maps small magnitudes of either sign to small unsigned values (protobuf `sint64`).
pub fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Decodes a [`zigzag`] value: its inverse function.
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
