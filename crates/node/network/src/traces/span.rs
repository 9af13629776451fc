//! Spans, and their ids.

use std::borrow::Cow;
use std::time::Instant;

use libp2p::PeerId;
use sha3::{Digest as _, Keccak256};
use undertone_gossip::MessageId;

/// Id of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceId(pub(crate) [u8; 16]);

/// Id of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpanId(pub(crate) [u8; 8]);

/// Role of a span, with its number in OTLP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// Work within the node.
    Internal = 1,
    /// Answer to a request of a peer.
    Server = 2,
    /// Request to a peer.
    Client = 3,
    /// Publication of a message.
    Producer = 4,
    /// Receipt of a message.
    Consumer = 5,
}

/// Value of a span's attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SpanValue {
    /// Text of a bounded length.
    Text(Cow<'static, str>),
    /// Number of bytes, peers or the like.
    Number(u64),
}

/// A span: a piece of work that took time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TraceSpan {
    pub(crate) trace: TraceId,
    pub(crate) id: SpanId,
    pub(crate) parent: Option<SpanId>,
    pub(crate) name: &'static str,
    pub(crate) kind: SpanKind,
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    pub(crate) attributes: Vec<(&'static str, SpanValue)>,
    /// Reason why the work failed, if it did.
    pub(crate) failure: Option<Cow<'static, str>>,
}

impl TraceId {
    /// Returns the trace of a message: the first half of its id, which is a hash.
    pub(super) fn of_message(id: &MessageId) -> Self {
        let mut trace = [0; 16];
        trace.copy_from_slice(&id.0[..16]);
        Self(trace)
    }

    /// Returns the half of the id by which traces are sampled.
    pub(super) fn as_number(self) -> u64 {
        let [.., a, b, c, d, e, f, g, h] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

impl SpanId {
    /// Returns the id of the span that `peer` creates for a message.
    pub(crate) fn of_message(trace: TraceId, peer: &PeerId) -> Self {
        let hash = Keccak256::new()
            .chain_update(trace.0)
            .chain_update(peer.to_bytes());
        let mut id = [0; 8];
        id.copy_from_slice(&hash.finalize()[..8]);
        Self(id)
    }
}

impl From<u64> for SpanValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<usize> for SpanValue {
    fn from(number: usize) -> Self {
        Self::Number(number as u64)
    }
}

impl From<&'static str> for SpanValue {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for SpanValue {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<PeerId> for SpanValue {
    fn from(peer: PeerId) -> Self {
        peer.to_string().into()
    }
}
