//! The pubsub RPC on the wire: protobuf, read with limits and without copying.
//!
//! Field numbers: libp2p pubsub README, GossipSub v1.0 to v1.2. A frame is an unsigned varint
//! length followed by one RPC; decoding takes the RPC alone, encoding writes the whole frame,
//! [`unframe`] takes the one out of the other.

mod decode;
mod early;
mod encode;
mod varint;

#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use decode::decode;
pub use early::EarlyId;
pub(crate) use encode::{ENTRY_OVERHEAD_BYTES, ids_bytes, join, message_frame_len, px_bytes};
pub use encode::{Encoder, message_frame};
pub use varint::{MAX_LEN as VARINT_LEN_MAX, VarintError, read_varint};

use crate::types::{MessageId, Topic};

/// The RPC in a frame, or `None` when the length prefix is not that of the rest.
pub fn unframe(frame: &Bytes) -> Option<Bytes> {
    let (len, prefix) = read_varint(frame).ok()?;
    let body = frame.slice(prefix..);
    (u64::try_from(body.len()) == Ok(len)).then_some(body)
}

/// One decoded RPC. Bytes are slices of the frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rpc {
    /// SUBSCRIBE and UNSUBSCRIBE, in order.
    pub subscriptions: Vec<Subscription>,
    /// Messages, in order.
    pub messages: Vec<WireMessage>,
    /// IHAVE, topic by topic.
    pub ihave: Vec<IHave>,
    /// Ids asked for.
    pub iwant: Vec<MessageId>,
    /// Topics grafted.
    pub graft: Vec<Topic>,
    /// Topics pruned.
    pub prune: Vec<Prune>,
    /// Ids the peer does not want.
    pub idontwant: Vec<MessageId>,
    /// IDONTWANT entries (an entry may carry many ids).
    pub idontwant_entries: usize,
}

impl Rpc {
    /// Whether there is nothing in it that we know.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One change of the peer's subscriptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Whether the peer joins or leaves.
    pub subscribe: bool,
    /// The topic.
    pub topic: Topic,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireMessage {
    /// The topic.
    pub topic: Topic,
    /// The data, exactly as received.
    pub data: Bytes,
    /// Whether any of `from`, `seqno`, `signature` or `key` is present, which StrictNoSign forbids.
    pub signed: bool,
}

/// Ids a peer has for one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IHave {
    /// The topic.
    pub topic: Topic,
    /// The ids.
    pub ids: Vec<MessageId>,
}

/// One PRUNE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prune {
    /// The topic.
    pub topic: Topic,
    /// Peers offered in exchange.
    pub peers: Vec<PxPeer>,
    /// Seconds to stay away, as sent; the router clamps it.
    pub backoff_s: Option<u64>,
}

/// A peer offered in a PRUNE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PxPeer {
    /// Its identity, opaque here.
    pub peer_id: Bytes,
    /// Its signed peer record, opaque here; may be empty.
    pub record: Bytes,
}
