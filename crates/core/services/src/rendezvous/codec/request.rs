//! Requests of clients.

use undertone_wire::put_bytes_field;

use super::{
    DISCOVER, NAMESPACE, RECORD, REGISTER, RendezvousCodecLimits, TTL, UNREGISTER, bytes, message,
    part, put_optional_bytes, put_optional_varint, varint,
};
use crate::rpc::{self, RpcFrameError};

const LIMIT: u32 = 2;
const COOKIE: u32 = 3;

/// Request of a client, which borrows from its frame. Only the length of the frame has been checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RendezvousRequest<'a> {
    /// Registers the client.
    Register {
        /// Namespace; UTF-8 in valid requests.
        namespace: &'a [u8],
        /// Envelope with the signed record of the client.
        record: &'a [u8],
        /// Requested lifetime, in seconds; `None` leaves it to the server.
        ttl_s: Option<u64>,
    },
    /// Ends a registration; there is no response.
    Unregister {
        /// Namespace of the registration.
        namespace: &'a [u8],
    },
    /// Asks for registrations of others.
    Discover {
        /// Namespace; `None` for all.
        namespace: Option<&'a [u8]>,
        /// Maximum number of registrations wanted; `None` leaves it to the server.
        limit: Option<u64>,
        /// Cookie of an earlier response, to receive only later registrations.
        cookie: Option<&'a [u8]>,
    },
}

impl<'a> RendezvousRequest<'a> {
    /// Encodes the request as protobuf.
    pub fn encode(&self) -> Vec<u8> {
        let mut part = Vec::new();
        let kind = match *self {
            Self::Register {
                namespace,
                record,
                ttl_s,
            } => {
                put_bytes_field(&mut part, NAMESPACE, namespace);
                put_bytes_field(&mut part, RECORD, record);
                put_optional_varint(&mut part, TTL, ttl_s);
                REGISTER
            }
            Self::Unregister { namespace } => {
                put_bytes_field(&mut part, NAMESPACE, namespace);
                UNREGISTER
            }
            Self::Discover {
                namespace,
                limit,
                cookie,
            } => {
                put_optional_bytes(&mut part, NAMESPACE, namespace);
                put_optional_varint(&mut part, LIMIT, limit);
                put_optional_bytes(&mut part, COOKIE, cookie);
                DISCOVER
            }
        };
        message(kind, &part)
    }

    /// Decodes a request.
    ///
    /// # Errors
    /// [`RpcFrameError`] when the frame is no request or exceeds `limits`.
    pub fn decode(frame: &'a [u8], limits: &RendezvousCodecLimits) -> Result<Self, RpcFrameError> {
        rpc::check_size(frame, limits.max_request_bytes)?;
        let (kind, part) = part(frame)?;
        let (mut namespace, mut second, mut third) = (None, None, None);
        for field in rpc::fields(part) {
            let (number, value) = field?;
            match number {
                1 => namespace = Some(value),
                2 => second = Some(value),
                3 => third = Some(value),
                _ => {}
            }
        }
        let namespace = namespace.and_then(bytes);
        let named = || namespace.ok_or(RpcFrameError::Missing { field: "ns" });
        let no_record = RpcFrameError::Missing {
            field: "signedPeerRecord",
        };
        Ok(match kind {
            REGISTER => Self::Register {
                namespace: named()?,
                record: second.and_then(bytes).ok_or(no_record)?,
                ttl_s: third.and_then(varint),
            },
            UNREGISTER => Self::Unregister {
                namespace: named()?,
            },
            DISCOVER => Self::Discover {
                namespace,
                limit: second.and_then(varint),
                cookie: third.and_then(bytes),
            },
            (value, _) => return Err(RpcFrameError::UnexpectedType { value }),
        })
    }

    /// Whether a frame is a discover request, so that a request that is not read gets an answer of its type.
    pub(in crate::rendezvous) fn is_discover(frame: &[u8]) -> bool {
        part(frame).is_ok_and(|(kind, _)| kind == DISCOVER)
    }
}
