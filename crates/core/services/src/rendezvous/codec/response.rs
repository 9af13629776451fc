//! Responses of servers.

use bytes::Bytes;
use undertone_wire::{
    FieldValue, bytes_field_len, put_bytes_field, put_bytes_header, put_varint_field,
    varint_field_len,
};

use super::{
    DISCOVER_RESPONSE, NAMESPACE, RECORD, REGISTER_RESPONSE, RendezvousCodecLimits,
    RendezvousStatus, TTL, message, part_of, put_optional_bytes, put_optional_varint,
};
use crate::rpc::{self, RpcFrameError};

const REGISTER_STATUS: u32 = 1;
const REGISTER_TEXT: u32 = 2;

const FOUND: u32 = 1;
const NEXT_COOKIE: u32 = 2;
const DISCOVER_STATUS: u32 = 3;
const DISCOVER_TEXT: u32 = 4;

/// Answer to a registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterResponse {
    /// Status of the request.
    pub status: RendezvousStatus,
    /// Human-readable explanation of the status.
    pub text: Option<String>,
    /// Lifetime of the registration, in seconds.
    pub ttl_s: Option<u64>,
}

impl RegisterResponse {
    /// Encodes the response as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut part = Vec::new();
        put_varint_field(&mut part, REGISTER_STATUS, u64::from(self.status.0));
        rpc::put_optional_text(&mut part, REGISTER_TEXT, self.text.as_deref());
        put_optional_varint(&mut part, TTL, self.ttl_s);
        message(REGISTER_RESPONSE, &part)
    }

    /// Decodes a response. Without a status it is a success, the default of the specification's enumeration.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame is no response to a registration or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &RendezvousCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_response_bytes)?;
        let part = part_of(frame, REGISTER_RESPONSE)?;
        let mut response = Self {
            status: RendezvousStatus::OK,
            text: None,
            ttl_s: None,
        };
        for field in rpc::fields(part) {
            match field? {
                (REGISTER_STATUS, FieldValue::Varint(value)) => {
                    response.status = RendezvousStatus(rpc::narrow("status", value)?);
                }
                (REGISTER_TEXT, FieldValue::Bytes(bytes)) => {
                    response.text = Some(rpc::description(bytes, &limits.texts));
                }
                (TTL, FieldValue::Varint(value)) => response.ttl_s = Some(value),
                _ => {}
            }
        }
        Ok(response)
    }
}

/// Registration found by a discover request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundRegistration {
    /// Namespace in which the peer is registered.
    pub namespace: Bytes,
    /// Envelope with the peer's signed record; not verified here.
    pub record: Bytes,
    /// Remaining lifetime of the registration, in seconds.
    pub ttl_s: Option<u64>,
}

impl FoundRegistration {
    fn encoded_len(&self) -> usize {
        bytes_field_len(NAMESPACE, self.namespace.len())
            + bytes_field_len(RECORD, self.record.len())
            + self.ttl_s.map_or(0, |ttl_s| varint_field_len(TTL, ttl_s))
    }

    /// Length that the registration adds to a response, in bytes.
    pub(in crate::rendezvous) fn field_len(&self) -> usize {
        bytes_field_len(FOUND, self.encoded_len())
    }

    /// Reads a registration; `None` if a part is missing or too long.
    fn decode(part: &[u8], limits: &RendezvousCodecLimits) -> Result<Option<Self>, RpcFrameError> {
        let (mut namespace, mut record, mut ttl_s) = (None, None, None);
        for field in rpc::fields(part) {
            match field? {
                (NAMESPACE, FieldValue::Bytes(bytes)) => namespace = Some(bytes),
                (RECORD, FieldValue::Bytes(bytes)) => record = Some(bytes),
                (TTL, FieldValue::Varint(value)) => ttl_s = Some(value),
                _ => {}
            }
        }
        let namespace = namespace.filter(|one| one.len() <= limits.max_namespace_bytes);
        let fits = |one: &&[u8]| !one.is_empty() && one.len() <= limits.max_record_bytes;
        let both = namespace.zip(record.filter(fits));
        Ok(both.map(|(namespace, record)| Self {
            namespace: Bytes::copy_from_slice(namespace),
            record: Bytes::copy_from_slice(record),
            ttl_s,
        }))
    }
}

/// Answer to a discover request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoverResponse {
    /// Registrations of the namespace.
    pub found: Vec<FoundRegistration>,
    /// Cookie for a later request, which then returns only later registrations.
    pub cookie: Option<Bytes>,
    /// Status of the request.
    pub status: RendezvousStatus,
    /// Human-readable explanation of the status.
    pub text: Option<String>,
    /// Number of registrations skipped by the decoder: incomplete or oversized ones, and those beyond the maximum
    /// number.
    pub skipped: usize,
}

impl DiscoverResponse {
    /// Encodes the response as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut part = Vec::new();
        for found in &self.found {
            put_bytes_header(&mut part, FOUND, found.encoded_len());
            put_bytes_field(&mut part, NAMESPACE, &found.namespace);
            put_bytes_field(&mut part, RECORD, &found.record);
            put_optional_varint(&mut part, TTL, found.ttl_s);
        }
        put_optional_bytes(&mut part, NEXT_COOKIE, self.cookie.as_deref());
        put_varint_field(&mut part, DISCOVER_STATUS, u64::from(self.status.0));
        rpc::put_optional_text(&mut part, DISCOVER_TEXT, self.text.as_deref());
        message(DISCOVER_RESPONSE, &part)
    }

    /// Decodes a response; the records are copied. Without a status it is a success, the default of the specification's
    /// enumeration.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame is no discover response or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &RendezvousCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_response_bytes)?;
        let part = part_of(frame, DISCOVER_RESPONSE)?;
        let mut response = Self {
            found: Vec::new(),
            cookie: None,
            status: RendezvousStatus::OK,
            text: None,
            skipped: 0,
        };
        for field in rpc::fields(part) {
            match field? {
                (FOUND, FieldValue::Bytes(bytes)) => {
                    let has_room = response.found.len() < limits.max_found;
                    match FoundRegistration::decode(bytes, limits)?.filter(|_| has_room) {
                        Some(found) => response.found.push(found),
                        None => response.skipped += 1,
                    }
                }
                (NEXT_COOKIE, FieldValue::Bytes(bytes)) => {
                    let fits = bytes.len() <= limits.max_cookie_bytes;
                    response.cookie = fits.then(|| Bytes::copy_from_slice(bytes));
                }
                (DISCOVER_STATUS, FieldValue::Varint(value)) => {
                    response.status = RendezvousStatus(rpc::narrow("status", value)?);
                }
                (DISCOVER_TEXT, FieldValue::Bytes(bytes)) => {
                    response.text = Some(rpc::description(bytes, &limits.texts));
                }
                _ => {}
            }
        }
        Ok(response)
    }
}
