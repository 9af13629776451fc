//! Frames between light clients and service nodes, and what their streams cost.
//!
//! Each request has its own stream. In the simulator a frame names its stream; the bytes that streams cost on real
//! connections are added to the length that the network sees.

use bytes::{BufMut, Bytes, BytesMut};
use undertone_services::host::RequestProtocol;
use undertone_services::{filter, metadata};

/// Length of multistream-select's header line, bytes.
const NEGOTIATION_BYTES: u64 = 20;

/// Service that a stream is for. The numbers are tags of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StreamService {
    Store = 0,
    Filter = 1,
    Lightpush = 2,
    /// Lightpush version 2.
    LegacyLightpush = 7,
    Metadata = 8,
    PeerExchange = 9,
}

impl StreamService {
    pub(crate) const ALL: [Self; 6] = [
        Self::Store,
        Self::Filter,
        Self::Lightpush,
        Self::LegacyLightpush,
        Self::Metadata,
        Self::PeerExchange,
    ];

    /// Services whose requests are counted, each at the position of its counters.
    pub(crate) const COUNTED: [Self; 3] = [Self::Store, Self::Filter, Self::Lightpush];

    /// Index of the service's counters; `None` for a service whose requests are not counted.
    pub(crate) fn counted(self) -> Option<usize> {
        match self {
            Self::Store => Some(0),
            Self::Filter => Some(1),
            Self::Lightpush | Self::LegacyLightpush => Some(2),
            Self::Metadata | Self::PeerExchange => None,
        }
    }

    fn of_tag(tag: u8) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|service| *service as u8 == tag)
    }

    /// Protocol in the service host; `None` for metadata, which all nodes answer.
    pub(crate) fn protocol(self) -> Option<RequestProtocol> {
        match self {
            Self::Store => Some(RequestProtocol::Store),
            Self::Filter => Some(RequestProtocol::Filter),
            Self::Lightpush => Some(RequestProtocol::Lightpush),
            Self::LegacyLightpush => Some(RequestProtocol::LegacyLightpush),
            Self::PeerExchange => Some(RequestProtocol::PeerExchange),
            Self::Metadata => None,
        }
    }

    /// Bytes of a request or an answer on its own stream: the negotiation, the length prefix and the body, with the
    /// multiplexer's headers for opening, content and closing.
    pub(crate) fn stream_bytes(self, body: usize, mux_overhead_bytes: u32) -> u64 {
        let protocol = self
            .protocol()
            .map_or(metadata::PROTOCOL_ID, RequestProtocol::id);
        negotiated_bytes(protocol) + framed_bytes(body) + 3 * u64::from(mux_overhead_bytes)
    }
}

/// Bytes of a pushed message. The first one on a connection opens the stream for all.
pub(crate) fn push_bytes(body: usize, is_first: bool, mux_overhead_bytes: u32) -> u64 {
    let mux_bytes = u64::from(mux_overhead_bytes);
    let opening = match is_first {
        true => negotiated_bytes(filter::PUSH_PROTOCOL_ID) + mux_bytes,
        false => 0,
    };
    opening + framed_bytes(body) + mux_bytes
}

/// Bytes with which one end names a protocol.
fn negotiated_bytes(protocol: &str) -> u64 {
    // A prefix of one byte and a line feed.
    NEGOTIATION_BYTES + protocol.len() as u64 + 2
}

fn framed_bytes(body: usize) -> u64 {
    let body = body as u64;
    body + u64::from((64 - (body | 1).leading_zeros()).div_ceil(7))
}

/// Frame between a light client and a service node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StreamFrame {
    /// Request of a client on a new stream.
    Request {
        stream: u32,
        service: StreamService,
        body: Bytes,
    },
    /// Answer to a request.
    Answer { stream: u32, body: Bytes },
    /// Message pushed to a client.
    Push { body: Bytes },
    /// Payload of a session between stores, on a stream that its initiator has numbered.
    Reconcile { stream: u32, body: Bytes },
    /// Message that a session between stores found missing.
    Transfer { body: Bytes },
}

const ANSWER: u8 = 3;
const PUSH: u8 = 4;
const RECONCILE: u8 = 5;
const TRANSFER: u8 = 6;

impl StreamFrame {
    pub(crate) fn reconcile(stream: u32, payload: Vec<u8>) -> Self {
        let body = payload.into();
        Self::Reconcile { stream, body }
    }

    /// Bytes of a frame between stores: the length prefix and the body, with the multiplexer's header. The negotiation
    /// of the stream, about 60 bytes a session, is left out.
    pub(crate) fn sync_bytes(&self, mux_overhead_bytes: u32) -> u64 {
        let (Self::Request { body, .. }
        | Self::Answer { body, .. }
        | Self::Push { body }
        | Self::Reconcile { body, .. }
        | Self::Transfer { body }) = self;
        framed_bytes(body.len()) + u64::from(mux_overhead_bytes)
    }

    pub(crate) fn encode(&self) -> Bytes {
        let tagged = |tag: u8, stream: Option<u32>, body: &Bytes| {
            let mut frame = BytesMut::with_capacity(body.len() + 5);
            frame.put_u8(tag);
            if let Some(stream) = stream {
                frame.put_u32_le(stream);
            }
            frame.put_slice(body);
            frame.freeze()
        };
        match self {
            Self::Request {
                stream,
                service,
                body,
            } => tagged(*service as u8, Some(*stream), body),
            Self::Answer { stream, body } => tagged(ANSWER, Some(*stream), body),
            Self::Push { body } => tagged(PUSH, None, body),
            Self::Reconcile { stream, body } => tagged(RECONCILE, Some(*stream), body),
            Self::Transfer { body } => tagged(TRANSFER, None, body),
        }
    }

    /// Reads a frame; `None` for bytes that [`encode`](Self::encode) does not produce.
    pub(crate) fn decode(frame: &Bytes) -> Option<Self> {
        let tag = *frame.first()?;
        match (tag, frame.slice(1..)) {
            (PUSH, body) => return Some(Self::Push { body }),
            (TRANSFER, body) => return Some(Self::Transfer { body }),
            _ => {}
        }
        let stream: [u8; 4] = frame.get(1..5)?.try_into().ok()?;
        let (stream, body) = (u32::from_le_bytes(stream), frame.slice(5..));
        match tag {
            ANSWER => return Some(Self::Answer { stream, body }),
            RECONCILE => return Some(Self::Reconcile { stream, body }),
            _ => {}
        }
        Some(Self::Request {
            stream,
            service: StreamService::of_tag(tag)?,
            body,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let body = Bytes::from_static(b"body");
        let frames = [
            StreamFrame::Push { body: body.clone() },
            StreamFrame::Transfer { body: body.clone() },
            StreamFrame::reconcile(9, b"payload".to_vec()),
            StreamFrame::Answer {
                stream: 7,
                body: body.clone(),
            },
            StreamFrame::Request {
                stream: u32::MAX,
                service: StreamService::Lightpush,
                body: body.clone(),
            },
            StreamFrame::Request {
                stream: 0,
                service: StreamService::PeerExchange,
                body,
            },
        ];
        for frame in frames {
            assert_eq!(StreamFrame::decode(&frame.encode()), Some(frame));
        }
        for bytes in [&[][..], &[0, 1, 2], &[10, 0, 0, 0, 0]] {
            assert_eq!(StreamFrame::decode(&Bytes::copy_from_slice(bytes)), None);
        }
    }

    #[test]
    fn only_the_first_push_of_a_connection_pays_for_the_stream() {
        let protocol = filter::PUSH_PROTOCOL_ID.len() as u64;
        assert_eq!(push_bytes(100, false, 22), 100 + 1 + 22);
        assert_eq!(push_bytes(100, true, 22), 101 + 22 + 20 + protocol + 2 + 22);
        assert_eq!(framed_bytes(127), 128);
        assert_eq!(framed_bytes(128), 130);
    }
}
