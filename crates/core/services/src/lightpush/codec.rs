//! Frames of lightpush v3 (RFC 19), without the length prefix.
//!
//! nwaku requires `request_id` and `status_code` even when they are empty or zero; the encoders here
//! always write them, and the decoder takes an absent request id as empty.

use std::sync::Arc;

use undertone_message::{MessageLimits, WakuMessage};
use undertone_wire::{FieldValue, put_bytes_field, put_varint_field};

use crate::rpc::{self, RpcFrameError, TextLimits};

#[cfg(test)]
#[path = "tests/codec.rs"]
mod tests;

const PUBSUB_TOPIC: u32 = 20;
const MESSAGE: u32 = 21;
const STATUS_CODE: u32 = 10;
const STATUS_DESC: u32 = 11;
const RELAY_PEER_COUNT: u32 = 12;

/// Limits on frames of lightpush, both versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LightpushCodecLimits {
    /// Maximum length of a request, in bytes. Larger than any message that a network carries, so that
    /// an oversized message still gets an error response; js-waku sends up to 1 MB.
    pub max_request_bytes: usize,
    /// Maximum length of a response, in bytes.
    pub max_response_bytes: usize,
    /// Limits on texts.
    pub texts: TextLimits,
    /// Limits on the message of a request: by default at most 150 KiB, as in most networks.
    pub message: MessageLimits,
}

impl Default for LightpushCodecLimits {
    fn default() -> Self {
        let mut message = MessageLimits::default();
        message.max_message_bytes = 150 * 1024;
        Self {
            max_request_bytes: 1024 * 1024 + 64 * 1024,
            max_response_bytes: 64 * 1024,
            texts: TextLimits::default(),
            message,
        }
    }
}

rpc::status! {
    /// Status code of a response (RFC 19).
    LightpushStatus {
        /// The message was relayed.
        OK = 200,
        /// The request is not valid.
        BAD_REQUEST = 400,
        /// The message is larger than the network carries.
        PAYLOAD_TOO_LARGE = 413,
        /// The message, its content topic or its proof is not valid.
        INVALID_MESSAGE = 420,
        /// The server does not relay the pubsub topic.
        UNSUPPORTED_PUBSUB_TOPIC = 421,
        /// The rate limit of the client or of all clients is exceeded.
        TOO_MANY_REQUESTS = 429,
        /// The server failed.
        INTERNAL_SERVER_ERROR = 500,
        /// The server cannot serve now.
        SERVICE_NOT_AVAILABLE = 503,
        /// The server has no rate-limit proof left for the message.
        OUT_OF_RLN_PROOF = 504,
        /// The server has no relay peer for the topic.
        NO_PEERS_TO_RELAY = 505,
    }
}

impl LightpushStatus {
    /// Whether the message was relayed.
    pub const fn is_success(self) -> bool {
        self.0 == Self::OK.0
    }
}

/// Request of a client, `LightpushRequest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LightpushRequest {
    /// Identifier that the response echoes.
    pub request_id: String,
    /// Topic to publish on; `None` lets a server with autosharding derive it.
    pub pubsub_topic: Option<Arc<str>>,
    /// Message to publish.
    pub message: WakuMessage,
}

impl LightpushRequest {
    /// Encodes the request as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        rpc::put_text(&mut out, rpc::REQUEST_ID, &self.request_id);
        rpc::put_optional_text(&mut out, PUBSUB_TOPIC, self.pubsub_topic.as_deref());
        put_bytes_field(&mut out, MESSAGE, &self.message.encode());
        out
    }

    /// Decodes a request; the message is copied.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame is not a request or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &LightpushCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_request_bytes)?;
        let (mut request_id, mut pubsub_topic, mut message) = (String::new(), None, None);
        for field in rpc::fields(frame) {
            match field? {
                (rpc::REQUEST_ID, FieldValue::Bytes(bytes)) => {
                    request_id = rpc::request_id(bytes, &limits.texts)?;
                }
                (PUBSUB_TOPIC, FieldValue::Bytes(bytes)) => {
                    pubsub_topic = rpc::pubsub_topic(bytes, &limits.texts)?;
                }
                (MESSAGE, FieldValue::Bytes(bytes)) => message = Some(bytes),
                _ => {}
            }
        }
        let missing = RpcFrameError::Missing { field: "message" };
        Ok(Self {
            request_id,
            pubsub_topic,
            message: rpc::message(message.ok_or(missing)?, &limits.message)?,
        })
    }
}

/// Answer of a server, `LightpushResponse`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LightpushResponse {
    /// Id of the request, or [`UNKNOWN_REQUEST_ID`](rpc::UNKNOWN_REQUEST_ID).
    pub request_id: String,
    /// Status of the request.
    pub status: LightpushStatus,
    /// Human-readable explanation of the status.
    pub status_desc: Option<String>,
    /// Number of relay peers that the message was sent to. nwaku's client treats a success without
    /// this number, or with zero, as a failure.
    pub relay_peer_count: Option<u32>,
}

impl LightpushResponse {
    /// Encodes the response as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        rpc::put_text(&mut out, rpc::REQUEST_ID, &self.request_id);
        put_varint_field(&mut out, STATUS_CODE, u64::from(self.status.0));
        rpc::put_optional_text(&mut out, STATUS_DESC, self.status_desc.as_deref());
        if let Some(count) = self.relay_peer_count {
            put_varint_field(&mut out, RELAY_PEER_COUNT, u64::from(count));
        }
        out
    }

    /// Decodes a response.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame is not a response or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &LightpushCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_response_bytes)?;
        let (mut request_id, mut status) = (String::new(), None);
        let (mut status_desc, mut relay_peer_count) = (None, None);
        for field in rpc::fields(frame) {
            match field? {
                (rpc::REQUEST_ID, FieldValue::Bytes(bytes)) => {
                    request_id = rpc::request_id(bytes, &limits.texts)?;
                }
                (STATUS_CODE, FieldValue::Varint(value)) => {
                    status = Some(LightpushStatus(rpc::narrow("status_code", value)?));
                }
                (STATUS_DESC, FieldValue::Bytes(bytes)) => {
                    status_desc = Some(rpc::description(bytes, &limits.texts));
                }
                (RELAY_PEER_COUNT, FieldValue::Varint(value)) => {
                    relay_peer_count = Some(rpc::narrow("relay_peer_count", value)?);
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
            relay_peer_count,
        })
    }
}
