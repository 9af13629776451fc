//! Unsigned varints (LEB128) of at most 64 bits.

use thiserror::Error;

/// Longest encoding of a 64-bit number, in bytes.
pub const MAX_LEN: usize = 10;

/// Reason why a varint could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VarintError {
    /// The input ends before the number does.
    #[error("a varint is cut short")]
    Incomplete,
    /// The number does not fit in 64 bits.
    #[error("a varint does not fit 64 bits")]
    Overflow,
}

/// Reads one number from the front of `bytes` and returns it with its encoded length in bytes.
///
/// # Errors
/// Returns [`VarintError`] when the input ends first or the number is too large.
pub fn read_varint(bytes: &[u8]) -> Result<(u64, usize), VarintError> {
    let mut value = 0u64;
    for (i, &byte) in bytes.iter().take(MAX_LEN).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if i == MAX_LEN - 1 && byte > 1 {
            return Err(VarintError::Overflow);
        }
        value |= bits << (7 * i);
        if byte & 0x80 == 0 {
            return Ok((value, i + 1));
        }
    }
    Err(if bytes.len() >= MAX_LEN {
        VarintError::Overflow
    } else {
        VarintError::Incomplete
    })
}

/// Encoded length of `value` in bytes, as written by [`write()`].
pub(crate) fn len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

pub(crate) fn write(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
