//! Parts that the frames of filter, lightpush, peer exchange and rendezvous share: bounded texts and errors.

use std::sync::Arc;

use bytes::Bytes;
use thiserror::Error;
use undertone_message::{DecodeError, MessageLimits, WakuMessage, WireError};
use undertone_wire::{FieldReader, FieldValue, put_bytes_field};

mod status;
#[cfg(test)]
#[path = "tests/rpc.rs"]
pub(crate) mod tests;

pub(crate) use status::status;

/// Request id of answers to requests whose own id could not be read (nwaku).
pub const UNKNOWN_REQUEST_ID: &str = "N/A";

/// Field number of the request id in every protocol of this crate.
pub(crate) const REQUEST_ID: u32 = 1;

/// Limits on the texts of a frame, checked before allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextLimits {
    /// Maximum length of a request id, in bytes. Implementations in use send 20 to 36.
    pub max_request_id_bytes: usize,
    /// Length in bytes beyond which the description of a status is cut off; it is only for people.
    pub max_status_desc_bytes: usize,
    /// Maximum length of a pubsub topic, in bytes.
    pub max_pubsub_topic_bytes: usize,
    /// Maximum length of a content topic, in bytes, as in store. No specification sets a limit.
    pub max_content_topic_bytes: usize,
}

impl Default for TextLimits {
    fn default() -> Self {
        Self {
            max_request_id_bytes: 256,
            max_status_desc_bytes: 1024,
            max_pubsub_topic_bytes: undertone_message::pubsub_topic::MAX_NAMED_TOPIC_BYTES,
            max_content_topic_bytes: 1024,
        }
    }
}

/// Error of bytes that are not a valid frame; the sender is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RpcFrameError {
    /// The frame is longer than its protocol allows.
    #[error("frame of {size_bytes} bytes; at most {max_bytes} are accepted")]
    TooLarge {
        /// Length of the frame, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// The frame is not valid protobuf.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A required field is absent.
    #[error("required field {field} is missing")]
    Missing {
        /// Name of the field.
        field: &'static str,
    },
    /// A text is longer than [`TextLimits`] allows.
    #[error("{field} of {size_bytes} bytes; at most {max_bytes} are accepted")]
    TextTooLong {
        /// Name of the field.
        field: &'static str,
        /// Length of the text, in bytes.
        size_bytes: usize,
        /// Maximum length, in bytes.
        max_bytes: usize,
    },
    /// A text is not UTF-8.
    #[error("{field} is not UTF-8")]
    NotUtf8 {
        /// Name of the field.
        field: &'static str,
    },
    /// A field declared as 32 bits wide holds more.
    #[error("{field} holds {value}, which does not fit 32 bits")]
    Exceeds32Bits {
        /// Name of the field.
        field: &'static str,
        /// Value that was read.
        value: u64,
    },
    /// A request names more content topics than are accepted.
    #[error("more than {max} content topics")]
    TooManyContentTopics {
        /// Maximum number of content topics.
        max: usize,
    },
    /// The request has a kind that the specification does not define.
    #[error("unknown kind {value} of filter request")]
    UnknownKind {
        /// Value that was read.
        value: u64,
    },
    /// The frame's type is undefined in the protocol or not allowed here.
    #[error("a frame of type {value} has no place here")]
    UnexpectedType {
        /// Value that was read.
        value: u64,
    },
    /// The message in the frame is not valid.
    #[error("invalid message: {0}")]
    Message(#[from] DecodeError),
}

/// Returns the request id in `frame`, so that an otherwise invalid request can be answered; `None` if it
/// cannot be found.
pub fn request_id_in<'a>(frame: &'a [u8], limits: &TextLimits) -> Option<&'a str> {
    let mut fields = FieldReader::new(frame);
    while let Ok(Some((number, value))) = fields.field() {
        if let (REQUEST_ID, FieldValue::Bytes(bytes)) = (number, value) {
            let text = std::str::from_utf8(bytes).ok()?;
            return (text.len() <= limits.max_request_id_bytes).then_some(text);
        }
    }
    None
}

/// Returns all fields of `frame` in turn, up to the first invalid one.
pub(crate) fn fields(
    frame: &[u8],
) -> impl Iterator<Item = Result<(u32, FieldValue<'_>), RpcFrameError>> {
    let mut fields = FieldReader::new(frame);
    std::iter::from_fn(move || fields.field().transpose())
        .map(|field| Ok(field.map_err(WireError::from)?))
}

pub(crate) fn check_size(frame: &[u8], max_bytes: usize) -> Result<(), RpcFrameError> {
    let size_bytes = frame.len();
    if size_bytes > max_bytes {
        return Err(RpcFrameError::TooLarge {
            size_bytes,
            max_bytes,
        });
    }
    Ok(())
}

pub(crate) fn text<'a>(
    field: &'static str,
    bytes: &'a [u8],
    max_bytes: usize,
) -> Result<&'a str, RpcFrameError> {
    let size_bytes = bytes.len();
    if size_bytes > max_bytes {
        return Err(RpcFrameError::TextTooLong {
            field,
            size_bytes,
            max_bytes,
        });
    }
    std::str::from_utf8(bytes).map_err(|_| RpcFrameError::NotUtf8 { field })
}

pub(crate) fn request_id(bytes: &[u8], limits: &TextLimits) -> Result<String, RpcFrameError> {
    text("request_id", bytes, limits.max_request_id_bytes).map(str::to_owned)
}

/// Reads a pubsub topic. An empty one counts as absent: js-waku writes it in requests that need none.
pub(crate) fn pubsub_topic(
    bytes: &[u8],
    limits: &TextLimits,
) -> Result<Option<Arc<str>>, RpcFrameError> {
    let topic = text("pubsub_topic", bytes, limits.max_pubsub_topic_bytes)?;
    Ok((!topic.is_empty()).then(|| topic.into()))
}

/// Reads the description of a status. If it is too long or not UTF-8, it is repaired, so that the status is
/// not lost.
pub(crate) fn description(bytes: &[u8], limits: &TextLimits) -> String {
    let kept = &bytes[..bytes.len().min(limits.max_status_desc_bytes)];
    String::from_utf8_lossy(kept).into_owned()
}

pub(crate) fn narrow(field: &'static str, value: u64) -> Result<u32, RpcFrameError> {
    u32::try_from(value).map_err(|_| RpcFrameError::Exceeds32Bits { field, value })
}

/// Decodes a message into its own memory, so that a small one does not keep a large padded frame alive.
pub(crate) fn message(bytes: &[u8], limits: &MessageLimits) -> Result<WakuMessage, RpcFrameError> {
    let (size_bytes, max_bytes) = (bytes.len(), limits.max_message_bytes);
    if size_bytes > max_bytes {
        let too_large = DecodeError::TooLarge {
            size_bytes,
            max_bytes,
        };
        return Err(too_large.into());
    }
    let bytes = Bytes::copy_from_slice(bytes);
    Ok(WakuMessage::decode_with(&bytes, limits)?)
}

pub(crate) fn put_text(out: &mut Vec<u8>, field: u32, text: &str) {
    put_bytes_field(out, field, text.as_bytes());
}

pub(crate) fn put_optional_text(out: &mut Vec<u8>, field: u32, text: Option<&str>) {
    if let Some(text) = text {
        put_text(out, field, text);
    }
}
