//! Protobuf wire format, as far as Waku uses it: a field iterator that borrows its input, and
//! writers for varints and length-delimited fields.

use std::ops::Range;

use thiserror::Error;

#[cfg(test)]
mod tests;

/// Largest field number that the protobuf specification allows.
const MAX_FIELD_NUMBER: u64 = (1 << 29) - 1;

/// Maximum length of a 64-bit varint, in bytes.
const MAX_VARINT_BYTES: usize = 10;

/// Error of bytes that are not valid protobuf; offsets count from the start of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// A value runs past the end of the input.
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

/// Value of one field, as encoded on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Varint, wire type 0.
    Varint(u64),
    /// Length-delimited bytes, wire type 2: their range in the input.
    Bytes(Range<usize>),
    /// Fixed-size value, wire type 1 or 5, which no Waku message uses; skipped.
    Fixed,
}

/// Iterator over the fields of one message.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self { input, at: 0 }
    }

    /// Returns the next field number and value; `None` at the end.
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

    /// Reads a base-128 varint of at most 64 bits; padded (non-minimal) forms are accepted,
    /// as protoc does.
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

/// Returns the number of bytes that [`put_varint`] appends.
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

/// Returns the number of bytes that [`put_varint_field`] appends.
pub(crate) fn varint_field_len(number: u32, value: u64) -> usize {
    varint_len(u64::from(number) << 3) + varint_len(value)
}

/// Appends a varint field, wire type 0.
pub(crate) fn put_varint_field(out: &mut Vec<u8>, number: u32, value: u64) {
    put_varint(out, u64::from(number) << 3);
    put_varint(out, value);
}

/// Returns the number of bytes that [`put_bytes_field`] appends for `len` bytes of content.
pub(crate) fn bytes_field_len(number: u32, len: usize) -> usize {
    varint_len(u64::from(number) << 3) + varint_len(len as u64) + len
}

/// Appends a length-delimited field, wire type 2.
pub(crate) fn put_bytes_field(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_varint(out, u64::from(number) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Maps small magnitudes of either sign to small unsigned values (protobuf `sint64`).
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Decodes a [`zigzag`] value: its inverse function.
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
