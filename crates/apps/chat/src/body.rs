//! Body of a chat message: the protobuf `Chat2Message` of RFC 22, used by Waku's example chats.

use thiserror::Error;
use undertone_wire::{FieldError, FieldReader, FieldValue, put_bytes_field, put_varint_field};

#[cfg(test)]
#[path = "tests/body.rs"]
mod tests;

const TIMESTAMP: u32 = 1;
const NICK: u32 = 2;
const PAYLOAD: u32 = 3;

/// Body of a chat message; borrows from the bytes it was decoded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Body<'a> {
    /// Time when the message was written, Unix seconds; some clients write milliseconds.
    pub(crate) timestamp: u64,
    /// Name chosen by the sender; any bytes.
    pub(crate) nick: &'a [u8],
    /// Text, normally UTF-8; any bytes.
    pub(crate) payload: &'a [u8],
}

/// Reason why bytes are not the body of a chat message. The author of the message is at fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum BodyError {
    /// There is neither a name nor a text.
    #[error("neither nick nor text")]
    Empty,
    /// The bytes are not protobuf.
    #[error(transparent)]
    Field(#[from] FieldError),
}

impl<'a> Body<'a> {
    /// Encodes the body.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint_field(&mut out, TIMESTAMP, self.timestamp);
        put_bytes_field(&mut out, NICK, self.nick);
        put_bytes_field(&mut out, PAYLOAD, self.payload);
        out
    }

    /// Decodes a body. Skips unknown fields; of a repeated field, the last one counts.
    pub(crate) fn decode(input: &'a [u8]) -> Result<Self, BodyError> {
        let mut body = Self::default();
        let mut fields = FieldReader::new(input);
        while let Some((number, value)) = fields.field()? {
            match (number, value) {
                (TIMESTAMP, FieldValue::Varint(value)) => body.timestamp = value,
                (NICK, FieldValue::Bytes(bytes)) => body.nick = bytes,
                (PAYLOAD, FieldValue::Bytes(bytes)) => body.payload = bytes,
                _ => {}
            }
        }
        if body.nick.is_empty() && body.payload.is_empty() {
            return Err(BodyError::Empty);
        }
        Ok(body)
    }
}
