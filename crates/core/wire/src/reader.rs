//! Reader of the fields of one message.

use thiserror::Error;

use crate::varint::{VarintError, read_varint};

/// Largest field number that the protobuf specification allows.
pub const FIELD_NUMBER_MAX: u32 = (1 << 29) - 1;

/// Error of bytes that are not valid protobuf; offsets count from the start of the reader's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FieldError {
    /// A varint is incomplete or too large.
    #[error("byte {offset}: {error}")]
    Varint {
        /// Offset of the varint's first byte.
        offset: usize,
        /// Reason why it could not be read.
        error: VarintError,
    },
    /// The content of a field extends past the end of the input.
    #[error("the field content at byte {offset} extends past the end of the message")]
    Truncated {
        /// Offset of the content, after the field's tag and length.
        offset: usize,
    },
    /// A field number is outside the range of the specification, see [`Tag::number`].
    #[error("field number {number} at byte {offset} is outside 1..={FIELD_NUMBER_MAX}")]
    FieldNumber {
        /// Offset of the field's tag.
        offset: usize,
        /// Field number that was read.
        number: u64,
    },
    /// A wire type is unsupported: groups (3, 4) are deprecated; 6 and 7 do not exist.
    #[error("wire type {wire_type} at byte {offset}; expected 0, 1, 2 or 5")]
    WireType {
        /// Offset of the field's tag.
        offset: usize,
        /// Wire type that was read.
        wire_type: u8,
    },
}

/// Number and wire type of a field, both unchecked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Field number; valid ones are 1 to [`FIELD_NUMBER_MAX`].
    pub number: u64,
    /// Wire type: three bits.
    pub wire_type: u8,
    /// Offset of the tag in the reader's input, bytes.
    pub offset: usize,
}

/// Value of one field, borrowed from the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// Varint, wire type 0.
    Varint(u64),
    /// Length-delimited bytes, wire type 2: a string, bytes, an embedded message, or packed numbers.
    Bytes(&'a [u8]),
    /// Number of 32 or 64 bits, wire type 5 or 1. Its value is skipped, because no message in use has
    /// such a field.
    Fixed,
}

/// Reader of the fields of one message, from first to last. After an error there is nothing more to read.
#[derive(Clone, Debug)]
pub struct FieldReader<'a> {
    input: &'a [u8],
    /// Number of bytes read so far, at most the length of the input.
    at: usize,
}

impl<'a> FieldReader<'a> {
    /// Creates a reader of a message without its length prefix.
    #[inline]
    pub fn new(input: &'a [u8]) -> Self {
        Self { input, at: 0 }
    }

    /// Bytes of the input read so far.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Whether all of the input has been read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.at == self.input.len()
    }

    /// Reads the next field and returns its number and value; `None` at the end. The number is checked
    /// before the value is read.
    ///
    /// # Errors
    /// [`FieldError`] when the bytes are not a field of a valid message.
    #[inline]
    pub fn field(&mut self) -> Result<Option<(u32, FieldValue<'a>)>, FieldError> {
        let Some(tag) = self.tag()? else {
            return Ok(None);
        };
        let Tag { number, offset, .. } = tag;
        if number == 0 || number > u64::from(FIELD_NUMBER_MAX) {
            return Err(FieldError::FieldNumber { offset, number });
        }
        let value = self.value(tag)?;
        Ok(Some((number as u32, value)))
    }

    /// Reads the tag of the next field; `None` at the end. For messages whose field numbers follow other
    /// rules than those of [`field`](Self::field).
    ///
    /// # Errors
    /// [`FieldError::Varint`] when the tag is incomplete or too large.
    #[inline]
    pub fn tag(&mut self) -> Result<Option<Tag>, FieldError> {
        if self.is_empty() {
            return Ok(None);
        }
        let offset = self.at;
        let tag = self.varint()?;
        Ok(Some(Tag {
            number: tag >> 3,
            wire_type: (tag & 7) as u8,
            offset,
        }))
    }

    /// Reads the value of the field whose tag has just been read.
    ///
    /// # Errors
    /// [`FieldError`] when the wire type is unsupported or the input ends before the value does.
    #[inline]
    pub fn value(&mut self, tag: Tag) -> Result<FieldValue<'a>, FieldError> {
        match tag.wire_type {
            0 => self.varint().map(FieldValue::Varint),
            1 => self.take(8).map(|_| FieldValue::Fixed),
            2 => {
                let len = self.varint()?;
                self.take(len).map(FieldValue::Bytes)
            }
            5 => self.take(4).map(|_| FieldValue::Fixed),
            wire_type => Err(FieldError::WireType {
                offset: tag.offset,
                wire_type,
            }),
        }
    }

    /// Reads a bare varint, as in a field of packed numbers.
    ///
    /// # Errors
    /// [`FieldError::Varint`] when it is incomplete or too large.
    #[inline]
    pub fn varint(&mut self) -> Result<u64, FieldError> {
        let offset = self.at;
        match read_varint(&self.input[offset..]) {
            Ok((value, len)) => {
                self.at += len;
                Ok(value)
            }
            Err(error) => Err(FieldError::Varint { offset, error }),
        }
    }

    #[inline]
    fn take(&mut self, len: u64) -> Result<&'a [u8], FieldError> {
        let rest = &self.input[self.at..];
        let taken = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let taken = taken.ok_or(FieldError::Truncated { offset: self.at })?;
        self.at += taken.len();
        Ok(taken)
    }
}
