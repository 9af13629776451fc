//! Frames of rendezvous (libp2p's specification), without the length prefix. Each is a `Message` with a type and the
//! submessage for that type.
//!
//! Types and statuses are always written, although the specification makes them optional: nim-libp2p requires them.

use undertone_wire::{FieldValue, put_bytes_field, put_varint_field};

use crate::rpc::{self, RpcFrameError, TextLimits};

mod request;
mod response;

#[cfg(test)]
#[path = "tests/codec.rs"]
mod tests;

pub use request::RendezvousRequest;
pub use response::{DiscoverResponse, FoundRegistration, RegisterResponse};

const TYPE: u32 = 1;

/// Message types, each with the field number of its submessage.
const REGISTER: (u64, u32) = (0, 2);
const REGISTER_RESPONSE: (u64, u32) = (1, 3);
const UNREGISTER: (u64, u32) = (2, 4);
const DISCOVER: (u64, u32) = (3, 5);
const DISCOVER_RESPONSE: (u64, u32) = (4, 6);

/// Field of every request.
const NAMESPACE: u32 = 1;

/// Field of a registration and of its answer, in seconds.
const TTL: u32 = 3;

/// Field of every registration.
const RECORD: u32 = 2;

/// Limits on frames of rendezvous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RendezvousCodecLimits {
    /// Maximum length of a request, in bytes (nwaku).
    pub max_request_bytes: usize,
    /// Maximum length of a response, in bytes: enough for a client that asks for a dozen registrations.
    pub max_response_bytes: usize,
    /// Maximum length of a namespace in a response, in bytes (libp2p).
    pub max_namespace_bytes: usize,
    /// Maximum length of a signed record in a response, in bytes.
    pub max_record_bytes: usize,
    /// Maximum number of registrations taken from a response.
    pub max_found: usize,
    /// Maximum length of a cookie, in bytes; a longer one is dropped from a response (nim-libp2p).
    pub max_cookie_bytes: usize,
    /// Limits on texts.
    pub texts: TextLimits,
}

impl Default for RendezvousCodecLimits {
    fn default() -> Self {
        Self {
            max_request_bytes: 4096,
            max_response_bytes: 64 * 1024,
            max_namespace_bytes: 255,
            max_record_bytes: 4096,
            max_found: 12,
            max_cookie_bytes: 1000,
            texts: TextLimits::default(),
        }
    }
}

rpc::status! {
    /// Status of a response.
    RendezvousStatus {
        /// The request succeeded.
        OK = 0,
        /// The namespace is malformed or not one of this server's.
        INVALID_NAMESPACE = 100,
        /// The record is not signed by the peer that registers it.
        INVALID_SIGNED_PEER_RECORD = 101,
        /// The requested lifetime is too short or too long.
        INVALID_TTL = 102,
        /// The cookie is invalid.
        INVALID_COOKIE = 103,
        /// The client already has the maximum number of registrations.
        NOT_AUTHORIZED = 200,
        /// The server failed.
        INTERNAL_ERROR = 300,
        /// The server cannot serve now: too many requests, or no room.
        UNAVAILABLE = 400,
    }
}

fn message((kind, field): (u64, u32), part: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint_field(&mut out, TYPE, kind);
    put_bytes_field(&mut out, field, part);
    out
}

/// Returns the type of a message and its submessage. A message without a type is a registration, the default of the
/// specification's enumeration.
fn part(frame: &[u8]) -> Result<((u64, u32), &[u8]), RpcFrameError> {
    let kinds = [
        (REGISTER, "register"),
        (REGISTER_RESPONSE, "registerResponse"),
        (UNREGISTER, "unregister"),
        (DISCOVER, "discover"),
        (DISCOVER_RESPONSE, "discoverResponse"),
    ];
    let mut value = 0;
    let mut parts = [None; 5];
    for field in rpc::fields(frame) {
        let (number, content) = field?;
        let place = kinds.iter().position(|((_, field), _)| *field == number);
        match (number, place, content) {
            (TYPE, _, FieldValue::Varint(read)) => value = read,
            (_, Some(place), FieldValue::Bytes(bytes)) => parts[place] = Some(bytes),
            _ => {}
        }
    }
    let mut known = kinds.iter().zip(parts);
    let named = known.find(|((kind, _), _)| kind.0 == value);
    let ((kind, field), part) = named.ok_or(RpcFrameError::UnexpectedType { value })?;
    let part = part.ok_or(RpcFrameError::Missing { field })?;
    Ok((*kind, part))
}

fn part_of(frame: &[u8], wanted: (u64, u32)) -> Result<&[u8], RpcFrameError> {
    match part(frame)? {
        (kind, part) if kind == wanted => Ok(part),
        ((value, _), _) => Err(RpcFrameError::UnexpectedType { value }),
    }
}

fn bytes(value: FieldValue<'_>) -> Option<&[u8]> {
    match value {
        FieldValue::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

fn varint(value: FieldValue<'_>) -> Option<u64> {
    match value {
        FieldValue::Varint(value) => Some(value),
        _ => None,
    }
}

fn put_optional_varint(out: &mut Vec<u8>, field: u32, value: Option<u64>) {
    if let Some(value) = value {
        put_varint_field(out, field, value);
    }
}

fn put_optional_bytes(out: &mut Vec<u8>, field: u32, bytes: Option<&[u8]>) {
    if let Some(bytes) = bytes {
        put_bytes_field(out, field, bytes);
    }
}
