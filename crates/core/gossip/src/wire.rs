//! The pubsub RPC on the wire: protobuf, decoded with limits and without copying.
//!
//! Field numbers: libp2p pubsub README, GossipSub v1.0 to v1.2. A frame is an unsigned varint length
//! followed by one RPC. Decoding takes the RPC alone, encoding produces the whole frame, and [`unframe`]
//! extracts the RPC from a frame.

mod decode;
mod early;
mod encode;
mod frame;

#[cfg(test)]
mod tests;

use bytes::Bytes;

pub use decode::decode;
pub use early::EarlyId;
pub(crate) use encode::{ENTRY_OVERHEAD_BYTES, ids_bytes, join, message_frame_len, px_bytes};
pub use encode::{Encoder, STEM_FIELD, message_frame, stem_frame};
pub use frame::Frame;
pub use undertone_wire::{VARINT_LEN_MAX, VarintError, read_varint};

use crate::types::{MessageId, Topic};

/// Returns the RPC in a frame, or `None` when the length prefix does not match the length of the rest.
pub fn unframe(frame: &Bytes) -> Option<Bytes> {
    let (len, prefix) = read_varint(frame).ok()?;
    let body = frame.slice(prefix..);
    (u64::try_from(body.len()) == Ok(len)).then_some(body)
}

/// One decoded RPC, whose byte strings are slices of the frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rpc {
    /// SUBSCRIBE and UNSUBSCRIBE entries, in order.
    pub subscriptions: Vec<Subscription>,
    /// Messages of the RPC, in order.
    pub messages: Vec<WireMessage>,
    /// IHAVE entries, one topic each.
    pub ihave: Vec<IHave>,
    /// Ids in IWANT entries.
    pub iwant: Vec<MessageId>,
    /// Topics in GRAFT entries.
    pub graft: Vec<Topic>,
    /// Contents of the PRUNE entries.
    pub prune: Vec<Prune>,
    /// Ids in IDONTWANT entries, which the peer does not want.
    pub idontwant: Vec<MessageId>,
    /// Number of IDONTWANT entries (an entry may carry many ids).
    pub idontwant_entries: usize,
    /// Whether the messages are marked as being in the stem, see [`stem_frame`].
    pub stem: bool,
}

impl Rpc {
    /// Whether the RPC has no known content. The mark of the stem is none by itself.
    pub fn is_empty(&self) -> bool {
        let nothing = Self {
            stem: self.stem,
            ..Self::default()
        };
        *self == nothing
    }
}

/// Change of one of the peer's subscriptions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscription {
    /// Whether the peer subscribes (`true`) or unsubscribes.
    pub subscribe: bool,
    /// Topic of the subscription.
    pub topic: Topic,
}

/// One message of an RPC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireMessage {
    /// Topic that the message was published on.
    pub topic: Topic,
    /// Data of the message, exactly as received.
    pub data: Bytes,
    /// Whether any of `from`, `seqno`, `signature` or `key` is present, which StrictNoSign forbids.
    pub signed: bool,
}

/// Ids that a peer announces for one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IHave {
    /// Topic of the announced messages.
    pub topic: Topic,
    /// Ids of the announced messages.
    pub ids: Vec<MessageId>,
}

/// Content of one PRUNE entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prune {
    /// Topic of the mesh from which the receiver is removed.
    pub topic: Topic,
    /// Peers offered as a replacement (peer exchange).
    pub peers: Vec<PxPeer>,
    /// Backoff in seconds, as sent; the router clamps it.
    pub backoff_s: Option<u64>,
}

/// A peer offered in a PRUNE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PxPeer {
    /// Identity of the offered peer, not interpreted by the router.
    pub peer_id: Bytes,
    /// Signed peer record, not interpreted by the router; may be empty.
    pub record: Bytes,
}
