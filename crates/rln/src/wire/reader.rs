//! Reader and writer for the part of protobuf that a flat message of bytes fields needs.

use super::ProofDecodeError;

/// Protobuf wire type of bytes and strings.
pub(super) const LENGTH_DELIMITED: u8 = 2;

const MAX_FIELD_NUMBER: u64 = (1 << 29) - 1;

/// Value of a field: bytes are borrowed from the input, numbers are only skipped.
pub(super) enum Value<'a> {
    Bytes(&'a [u8]),
    Number,
}

/// Reader of the fields of one message.
pub(super) struct Reader<'a> {
    input: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(input: &'a [u8]) -> Self {
        Self { input, at: 0 }
    }

    /// Returns the next field's number and value; `None` at the end.
    pub(super) fn next_field(&mut self) -> Result<Option<(u64, Value<'a>)>, ProofDecodeError> {
        let at = self.at;
        if at == self.input.len() {
            return Ok(None);
        }
        let tag = self.varint(at)?;
        let number = tag >> 3;
        if number == 0 || number > MAX_FIELD_NUMBER {
            return Err(ProofDecodeError::BadFieldNumber { at, number });
        }
        let value = match (tag & 7) as u8 {
            0 => {
                self.varint(at)?;
                Value::Number
            }
            1 => {
                self.take(8, at)?;
                Value::Number
            }
            LENGTH_DELIMITED => {
                let length = self.varint(at)?;
                Value::Bytes(self.take(length, at)?)
            }
            5 => {
                self.take(4, at)?;
                Value::Number
            }
            wire_type => return Err(ProofDecodeError::UnsupportedWireType { at, wire_type }),
        };
        Ok(Some((number, value)))
    }

    fn take(&mut self, length: u64, at: usize) -> Result<&'a [u8], ProofDecodeError> {
        let rest = &self.input[self.at..];
        let taken = usize::try_from(length)
            .ok()
            .and_then(|length| rest.get(..length));
        let taken = taken.ok_or(ProofDecodeError::Truncated { at })?;
        self.at += taken.len();
        Ok(taken)
    }

    fn varint(&mut self, at: usize) -> Result<u64, ProofDecodeError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1, at)?[0];
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ProofDecodeError::VarintOverflow { at })
    }
}

/// Appends a number as a varint.
pub(super) fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
