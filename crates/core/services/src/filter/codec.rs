//! Frames of filter v2 (RFC 12), without the length prefix.
//!
//! nwaku requires `request_id`, `status_code` and both fields of a push even when they are empty or
//! zero, so the encoders here always write them; protobuf encoders of other implementations leave
//! such values out, so the decoders take absent ones as empty.

use std::sync::Arc;

use undertone_message::{MessageLimits, WakuMessage};
use undertone_wire::{FieldValue, put_bytes_field, put_varint_field};

use crate::rpc::{self, RpcFrameError, TextLimits};

#[cfg(test)]
#[path = "tests/codec.rs"]
mod tests;

const KIND: u32 = 2;
const PUBSUB_TOPIC: u32 = 10;
const CONTENT_TOPIC: u32 = 11;
const STATUS_CODE: u32 = 10;
const STATUS_DESC: u32 = 11;
const PUSH_MESSAGE: u32 = 1;
const PUSH_PUBSUB_TOPIC: u32 = 2;

/// Limits on frames of filter v2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterCodecLimits {
    /// Maximum length of a request, in bytes.
    pub max_request_bytes: usize,
    /// Maximum length of a response, in bytes (nwaku).
    pub max_response_bytes: usize,
    /// Maximum length of a push, in bytes.
    pub max_push_bytes: usize,
    /// Maximum number of content topics of a request (nwaku).
    pub max_content_topics: usize,
    /// Limits on texts.
    pub texts: TextLimits,
    /// Limits on the message of a push.
    pub message: MessageLimits,
}

impl Default for FilterCodecLimits {
    fn default() -> Self {
        let message = MessageLimits::default();
        Self {
            max_request_bytes: 128 * 1024,
            max_response_bytes: 64 * 1024,
            max_push_bytes: message.max_message_bytes + 1024,
            max_content_topics: 100,
            texts: TextLimits::default(),
            message,
        }
    }
}

rpc::status! {
    /// Status code of a response to a subscribe request.
    FilterStatus {
        /// The request was carried out.
        OK = 200,
        /// The request is not valid.
        BAD_REQUEST = 400,
        /// The peer has no subscription, or not the one that the request names.
        NOT_FOUND = 404,
        /// The peer sent more requests than it may.
        TOO_MANY_REQUESTS = 429,
        /// The server has no room for more.
        SERVICE_UNAVAILABLE = 503,
    }
}

impl FilterStatus {
    /// Whether the request was carried out: any code from 200 to 299.
    pub const fn is_success(self) -> bool {
        self.0 >= 200 && self.0 < 300
    }
}

/// Kind of a subscribe request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubscribeKind {
    /// Asks whether the server has subscriptions of the client; also keeps them alive.
    #[default]
    Ping,
    /// Adds criteria to those of the client.
    Subscribe,
    /// Removes criteria from those of the client.
    Unsubscribe,
    /// Removes every criterion of the client.
    UnsubscribeAll,
}

impl SubscribeKind {
    const ALL: [Self; 4] = [
        Self::Ping,
        Self::Subscribe,
        Self::Unsubscribe,
        Self::UnsubscribeAll,
    ];

    fn from_wire(value: u64) -> Result<Self, RpcFrameError> {
        let kind = usize::try_from(value).ok().and_then(|i| Self::ALL.get(i));
        kind.copied().ok_or(RpcFrameError::UnknownKind { value })
    }
}

/// Request of a client, `FilterSubscribeRequest`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscribeRequest {
    /// Identifier that the response echoes.
    pub request_id: String,
    /// Kind of the request.
    pub kind: SubscribeKind,
    /// Pubsub topic of all criteria; `None` lets a server with autosharding derive it.
    pub pubsub_topic: Option<Arc<str>>,
    /// Content topics to add or remove.
    pub content_topics: Vec<Arc<str>>,
}

impl SubscribeRequest {
    /// Encodes the request as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        rpc::put_text(&mut out, rpc::REQUEST_ID, &self.request_id);
        put_varint_field(&mut out, KIND, self.kind as u64);
        rpc::put_optional_text(&mut out, PUBSUB_TOPIC, self.pubsub_topic.as_deref());
        for topic in &self.content_topics {
            rpc::put_text(&mut out, CONTENT_TOPIC, topic);
        }
        out
    }

    /// Decodes a request; a missing kind is a ping.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame is not a request or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &FilterCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_request_bytes)?;
        let texts = &limits.texts;
        let mut request = Self::default();
        for field in rpc::fields(frame) {
            match field? {
                (rpc::REQUEST_ID, FieldValue::Bytes(bytes)) => {
                    request.request_id = rpc::request_id(bytes, texts)?;
                }
                (KIND, FieldValue::Varint(value)) => {
                    request.kind = SubscribeKind::from_wire(value)?;
                }
                (PUBSUB_TOPIC, FieldValue::Bytes(bytes)) => {
                    request.pubsub_topic = rpc::pubsub_topic(bytes, texts)?;
                }
                (CONTENT_TOPIC, FieldValue::Bytes(bytes)) => {
                    let topic = rpc::text("content_topic", bytes, texts.max_content_topic_bytes)?;
                    let max = limits.max_content_topics;
                    if request.content_topics.len() >= max {
                        return Err(RpcFrameError::TooManyContentTopics { max });
                    }
                    request.content_topics.push(topic.into());
                }
                _ => {}
            }
        }
        Ok(request)
    }
}

/// Answer of a server, `FilterSubscribeResponse`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscribeResponse {
    /// Id of the request, or [`UNKNOWN_REQUEST_ID`](rpc::UNKNOWN_REQUEST_ID).
    pub request_id: String,
    /// Status of the request.
    pub status: FilterStatus,
    /// Human-readable explanation of the status.
    pub status_desc: Option<String>,
}

impl SubscribeResponse {
    /// Encodes the response as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        rpc::put_text(&mut out, rpc::REQUEST_ID, &self.request_id);
        put_varint_field(&mut out, STATUS_CODE, u64::from(self.status.0));
        rpc::put_optional_text(&mut out, STATUS_DESC, self.status_desc.as_deref());
        out
    }

    /// Decodes a response.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame is not a response or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &FilterCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_response_bytes)?;
        let (mut request_id, mut status, mut status_desc) = (String::new(), None, None);
        for field in rpc::fields(frame) {
            match field? {
                (rpc::REQUEST_ID, FieldValue::Bytes(bytes)) => {
                    request_id = rpc::request_id(bytes, &limits.texts)?;
                }
                (STATUS_CODE, FieldValue::Varint(value)) => {
                    status = Some(FilterStatus(rpc::narrow("status_code", value)?));
                }
                (STATUS_DESC, FieldValue::Bytes(bytes)) => {
                    status_desc = Some(rpc::description(bytes, &limits.texts));
                }
                _ => {}
            }
        }
        let missing = RpcFrameError::Missing {
            field: "status_code",
        };
        Ok(Self {
            request_id,
            status: status.ok_or(missing)?,
            status_desc,
        })
    }
}

/// Message pushed to a client, `MessagePush`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePush {
    /// Message that the server pushes.
    pub message: WakuMessage,
    /// Topic that the message was published on.
    pub pubsub_topic: Option<Arc<str>>,
}

impl MessagePush {
    /// Encodes the push as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        encode_push(
            &self.message,
            self.pubsub_topic.as_deref().unwrap_or_default(),
        )
    }

    /// Decodes a push; the message is copied.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame is not a push or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &FilterCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_push_bytes)?;
        let (mut message, mut pubsub_topic) = (None, None);
        for field in rpc::fields(frame) {
            match field? {
                (PUSH_MESSAGE, FieldValue::Bytes(bytes)) => message = Some(bytes),
                (PUSH_PUBSUB_TOPIC, FieldValue::Bytes(bytes)) => {
                    pubsub_topic = rpc::pubsub_topic(bytes, &limits.texts)?;
                }
                _ => {}
            }
        }
        let message = message.ok_or(RpcFrameError::Missing {
            field: "waku_message",
        })?;
        Ok(Self {
            message: rpc::message(message, &limits.message)?,
            pubsub_topic,
        })
    }
}

/// Encodes a push of `message`.
pub(super) fn encode_push(message: &WakuMessage, pubsub_topic: &str) -> Vec<u8> {
    let message = message.encode();
    let mut out = Vec::with_capacity(message.len() + pubsub_topic.len() + 16);
    put_bytes_field(&mut out, PUSH_MESSAGE, &message);
    rpc::put_text(&mut out, PUSH_PUBSUB_TOPIC, pubsub_topic);
    out
}
