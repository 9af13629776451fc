//! Frames of lightpush v2, called legacy: one `PushRPC` with either a request or a response.
//!
//! nwaku requires `request_id`, `pubsub_topic` and `is_success` even when they are empty or false.

use std::sync::Arc;

use undertone_message::WakuMessage;
use undertone_wire::{FieldValue, put_bytes_field, put_varint_field};

use super::codec::LightpushCodecLimits;
use crate::rpc::{self, RpcFrameError};

#[cfg(test)]
#[path = "tests/legacy.rs"]
mod tests;

/// Identifier of lightpush v2.
pub const PROTOCOL_ID: &str = "/vac/waku/lightpush/2.0.0-beta1";

const REQUEST: u32 = 2;
const RESPONSE: u32 = 3;
const PUBSUB_TOPIC: u32 = 1;
const MESSAGE: u32 = 2;
const IS_SUCCESS: u32 = 1;
const INFO: u32 = 2;

/// Request of a client, `PushRPC` with a `PushRequest`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyRequest {
    /// Identifier that the response echoes.
    pub request_id: String,
    /// Topic to publish on; nwaku's servers require it.
    pub pubsub_topic: Option<Arc<str>>,
    /// Message to publish.
    pub message: WakuMessage,
}

impl LegacyRequest {
    /// Encodes the request as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut request = Vec::new();
        let topic = self.pubsub_topic.as_deref().unwrap_or_default();
        rpc::put_text(&mut request, PUBSUB_TOPIC, topic);
        put_bytes_field(&mut request, MESSAGE, &self.message.encode());
        let mut out = Vec::new();
        rpc::put_text(&mut out, rpc::REQUEST_ID, &self.request_id);
        put_bytes_field(&mut out, REQUEST, &request);
        out
    }

    /// Decodes a request; the message is copied.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame is not a request or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &LightpushCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_request_bytes)?;
        let (request_id, request) = envelope(frame, REQUEST, "request", limits)?;
        let (mut pubsub_topic, mut message) = (None, None);
        for field in rpc::fields(request) {
            match field? {
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

/// Answer of a server, `PushRPC` with a `PushResponse`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyResponse {
    /// Id of the request, or [`UNKNOWN_REQUEST_ID`](rpc::UNKNOWN_REQUEST_ID).
    pub request_id: String,
    /// Whether the message was relayed.
    pub is_success: bool,
    /// Human-readable explanation.
    pub info: Option<String>,
}

impl LegacyResponse {
    /// Encodes the response as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut response = Vec::new();
        put_varint_field(&mut response, IS_SUCCESS, u64::from(self.is_success));
        rpc::put_optional_text(&mut response, INFO, self.info.as_deref());
        let mut out = Vec::new();
        rpc::put_text(&mut out, rpc::REQUEST_ID, &self.request_id);
        put_bytes_field(&mut out, RESPONSE, &response);
        out
    }

    /// Decodes a response. A missing `is_success` is false, since encoders omit that value.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame is not a response or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &LightpushCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_response_bytes)?;
        let (request_id, response) = envelope(frame, RESPONSE, "response", limits)?;
        let (mut is_success, mut info) = (false, None);
        for field in rpc::fields(response) {
            match field? {
                (IS_SUCCESS, FieldValue::Varint(value)) => is_success = value != 0,
                (INFO, FieldValue::Bytes(bytes)) => {
                    info = Some(rpc::description(bytes, &limits.texts));
                }
                _ => {}
            }
        }
        Ok(Self {
            request_id,
            is_success,
            info,
        })
    }
}

/// Reads the request id and the content of field `wanted`; `name` is the field's name in errors.
fn envelope<'a>(
    frame: &'a [u8],
    wanted: u32,
    name: &'static str,
    limits: &LightpushCodecLimits,
) -> Result<(String, &'a [u8]), RpcFrameError> {
    let (mut request_id, mut content) = (String::new(), None);
    for field in rpc::fields(frame) {
        match field? {
            (rpc::REQUEST_ID, FieldValue::Bytes(bytes)) => {
                request_id = rpc::request_id(bytes, &limits.texts)?;
            }
            (number, FieldValue::Bytes(bytes)) if number == wanted => content = Some(bytes),
            _ => {}
        }
    }
    let content = content.ok_or(RpcFrameError::Missing { field: name })?;
    Ok((request_id, content))
}
