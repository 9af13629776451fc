//! Frames of peer exchange (RFC 34), without the length prefix: one `PeerExchangeRPC` with a query or a
//! response.
//!
//! nwaku requires field 1, the query, even in responses. The encoder writes it with its only field, as nwaku does,
//! so that it is not empty.

use bytes::Bytes;
use undertone_wire::{
    FieldValue, bytes_field_len, put_bytes_field, put_bytes_header, put_varint_field,
};

use crate::rpc::{self, RpcFrameError, TextLimits};

#[cfg(test)]
#[path = "tests/codec.rs"]
mod tests;

const QUERY: u32 = 1;
const RESPONSE: u32 = 2;
const NUM_PEERS: u32 = 1;
const PEER_INFO: u32 = 1;
const ENR: u32 = 1;
const STATUS_CODE: u32 = 10;
const STATUS_DESC: u32 = 11;

/// Limits on frames of peer exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerExchangeCodecLimits {
    /// Maximum length of a request, in bytes. A request of nwaku also contains an empty response.
    pub max_request_bytes: usize,
    /// Maximum length of a response, in bytes.
    pub max_response_bytes: usize,
    /// Maximum length of a node record, in bytes (EIP-778).
    pub max_enr_bytes: usize,
    /// Maximum number of node records taken from a response.
    pub max_enrs: usize,
    /// Limits on texts.
    pub texts: TextLimits,
}

impl Default for PeerExchangeCodecLimits {
    fn default() -> Self {
        Self {
            max_request_bytes: 1024,
            max_response_bytes: 32 * 1024,
            max_enr_bytes: 300,
            max_enrs: 60,
            texts: TextLimits::default(),
        }
    }
}

rpc::status! {
    /// Status code of a response.
    PeerExchangeStatus {
        /// The response has records that the server knows.
        OK = 200,
        /// The request is not valid.
        BAD_REQUEST = 400,
        /// The rate limit of the client or of all clients is exceeded.
        TOO_MANY_REQUESTS = 429,
        /// The server cannot serve now.
        SERVICE_UNAVAILABLE = 503,
    }
}

/// Request of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerExchangeRequest {
    /// Number of node records wanted; `None` leaves it to the server.
    pub num_peers: Option<u64>,
}

impl PeerExchangeRequest {
    /// Encodes the request as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut query = Vec::new();
        if let Some(num_peers) = self.num_peers {
            put_varint_field(&mut query, NUM_PEERS, num_peers);
        }
        let mut out = Vec::new();
        put_bytes_field(&mut out, QUERY, &query);
        out
    }

    /// Decodes a request.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame has no query or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &PeerExchangeCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_request_bytes)?;
        let mut request = Self::default();
        let query = part(frame, QUERY, "query")?;
        for field in rpc::fields(query) {
            if let (NUM_PEERS, FieldValue::Varint(value)) = field? {
                request.num_peers = Some(value);
            }
        }
        Ok(request)
    }
}

/// Answer of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerExchangeResponse {
    /// Node records (ENR), each the raw RLP bytes; not verified here.
    pub enrs: Vec<Bytes>,
    /// Status of the request.
    pub status: PeerExchangeStatus,
    /// Human-readable explanation of the status.
    pub status_desc: Option<String>,
    /// Number of records skipped by the decoder: empty ones, those too long, and those beyond the maximum number.
    pub skipped: usize,
}

impl PeerExchangeResponse {
    /// Encodes the response as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut response = Vec::new();
        for enr in &self.enrs {
            put_bytes_header(&mut response, PEER_INFO, bytes_field_len(ENR, enr.len()));
            put_bytes_field(&mut response, ENR, enr);
        }
        put_varint_field(&mut response, STATUS_CODE, u64::from(self.status.0));
        rpc::put_optional_text(&mut response, STATUS_DESC, self.status_desc.as_deref());
        let query = PeerExchangeRequest { num_peers: Some(0) };
        let mut out = query.encode();
        put_bytes_field(&mut out, RESPONSE, &response);
        out
    }

    /// Decodes a response; the records are copied. A response without a status is a success if it has records, else
    /// [`PeerExchangeStatus::SERVICE_UNAVAILABLE`]: servers that do not know the status field mean it so (nwaku).
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame has no response or exceeds `limits`.
    pub fn decode(frame: &[u8], limits: &PeerExchangeCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_response_bytes)?;
        let response = part(frame, RESPONSE, "response")?;
        let (mut enrs, mut skipped) = (Vec::new(), 0);
        let (mut status, mut status_desc) = (None, None);
        for field in rpc::fields(response) {
            match field? {
                (PEER_INFO, FieldValue::Bytes(info)) => {
                    let enr = enr(info, limits)?.filter(|_| enrs.len() < limits.max_enrs);
                    match enr {
                        Some(enr) => enrs.push(Bytes::copy_from_slice(enr)),
                        None => skipped += 1,
                    }
                }
                (STATUS_CODE, FieldValue::Varint(value)) => {
                    status = Some(PeerExchangeStatus(rpc::narrow("status_code", value)?));
                }
                (STATUS_DESC, FieldValue::Bytes(bytes)) => {
                    status_desc = Some(rpc::description(bytes, &limits.texts));
                }
                _ => {}
            }
        }
        let status = status.unwrap_or(if enrs.is_empty() {
            PeerExchangeStatus::SERVICE_UNAVAILABLE
        } else {
            PeerExchangeStatus::OK
        });
        Ok(Self {
            enrs,
            status,
            status_desc,
            skipped,
        })
    }
}

/// Returns the record of a `PeerInfo`; `None` if it is empty or too long.
fn enr<'a>(
    info: &'a [u8],
    limits: &PeerExchangeCodecLimits,
) -> Result<Option<&'a [u8]>, RpcFrameError> {
    let mut enr = &[][..];
    for field in rpc::fields(info) {
        if let (ENR, FieldValue::Bytes(bytes)) = field? {
            enr = bytes;
        }
    }
    Ok((!enr.is_empty() && enr.len() <= limits.max_enr_bytes).then_some(enr))
}

/// Returns the content of field `wanted`; `name` is the field's name in errors.
fn part<'a>(frame: &'a [u8], wanted: u32, name: &'static str) -> Result<&'a [u8], RpcFrameError> {
    let mut content = None;
    for field in rpc::fields(frame) {
        let (number, value) = field?;
        match value {
            FieldValue::Bytes(bytes) if number == wanted => content = Some(bytes),
            _ => {}
        }
    }
    content.ok_or(RpcFrameError::Missing { field: name })
}
