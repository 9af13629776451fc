//! The part of the protobuf wire format that Waku uses: a field iterator that borrows its input,
//! and writers for varints and length-delimited fields.

use std::ops::Range;

use thiserror::Error;

#[cfg(test)]
mod tests;

/// Largest field number the protobuf specification allows.
const MAX_FIELD_NUMBER: u64 = (1 << 29) - 1;

/// Most bytes a 64-bit varint takes.
const MAX_VARINT_BYTES: usize = 10;

/// Bytes that are not protobuf; offsets count from the start of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// A value runs past the end of the input.
    #[error("truncated at byte {offset}: the value there runs past the end of the message")]
    Truncated {
        /// Where the value begins, bytes.
        offset: usize,
    },
    /// A varint has more than 64 bits.
    #[error("varint at byte {offset} does not fit 64 bits")]
    VarintOverflow {
        /// Where the varint begins, bytes.
        offset: usize,
    },
    /// Field numbers run from 1 to 2^29 - 1.
    #[error("field number {number} at byte {offset} is outside 1..=536870911")]
    FieldNumber {
        /// Where the tag begins, bytes.
        offset: usize,
        /// The number found.
        number: u64,
    },
    /// Groups (3, 4) are not part of the dialect spoken on Waku networks; 6 and 7 do not exist.
    #[error("wire type {wire_type} at byte {offset}; expected 0, 1, 2 or 5")]
    WireType {
        /// Where the tag begins, bytes.
        offset: usize,
        /// The wire type found.
        wire_type: u8,
    },
}

/// One value as it lies on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Wire type 0.
    Varint(u64),
    /// Wire type 2: where the bytes are in the input.
    Bytes(Range<usize>),
    /// Wire types 1 and 5, which no Waku message uses; skipped.
    Fixed,
}

/// Iterates over the fields of one message.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self { input, at: 0 }
    }

    /// The next field number and value, `None` at the end.
    pub(crate) fn next_field(&mut self) -> Result<Option<(u32, Value)>, WireError> {
        if self.at == self.input.len() {
            return Ok(None);
        }
        let offset = self.at;
        let tag = self.varint()?;
        let number = tag >> 3;
        if number == 0 || number > MAX_FIELD_NUMBER {
            return Err(WireError::FieldNumber { offset, number });
        }
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => self.skip(8)?,
            2 => {
                let start = self.at;
                let len = self.varint()?;
                let len =
                    usize::try_from(len).map_err(|_| WireError::Truncated { offset: start })?;
                Value::Bytes(self.take(len)?)
            }
            5 => self.skip(4)?,
            wire_type => {
                return Err(WireError::WireType {
                    offset,
                    wire_type: wire_type as u8,
                });
            }
        };
        Ok(Some((number as u32, value)))
    }

    /// Whether all input has been read.
    pub(crate) fn is_empty(&self) -> bool {
        self.at == self.input.len()
    }

    /// A base-128 varint of at most 64 bits; padded (non-minimal) forms are accepted, as protoc does.
    pub(crate) fn varint(&mut self) -> Result<u64, WireError> {
        let offset = self.at;
        let mut value = 0u64;
        for i in 0..MAX_VARINT_BYTES {
            let byte = *self
                .input
                .get(offset + i)
                .ok_or(WireError::Truncated { offset })?;
            // The tenth byte has room for one bit only.
            if i == MAX_VARINT_BYTES - 1 && byte > 1 {
                break;
            }
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte & 0x80 == 0 {
                self.at = offset + i + 1;
                return Ok(value);
            }
        }
        Err(WireError::VarintOverflow { offset })
    }

    fn take(&mut self, len: usize) -> Result<Range<usize>, WireError> {
        let start = self.at;
        if len > self.input.len() - start {
            return Err(WireError::Truncated { offset: start });
        }
        self.at = start + len;
        Ok(start..self.at)
    }

    fn skip(&mut self, len: usize) -> Result<Value, WireError> {
        self.take(len).map(|_| Value::Fixed)
    }
}

/// Bytes that [`put_varint`] appends.
pub(crate) fn varint_len(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Appends `value` in base 128, least significant group first.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bytes that [`put_varint_field`] appends.
pub(crate) fn varint_field_len(number: u32, value: u64) -> usize {
    varint_len(u64::from(number) << 3) + varint_len(value)
}

/// Appends a field of wire type 0.
pub(crate) fn put_varint_field(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3);
    put_varint(out, value);
}

/// Bytes that [`put_bytes_field`] appends for `len` bytes of content.
pub(crate) fn bytes_field_len(number: u32, len: usize) -> usize {
    varint_len(u64::from(number) << 3) + varint_len(len as u64) + len
}

/// Appends a field of wire type 2.
pub(crate) fn put_bytes_field(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Maps small magnitudes of either sign to small unsigned values (protobuf `sint64`).
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
