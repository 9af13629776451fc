//! RPCs as an attacker writes them: the project's encoder where it is honest, bytes where it is not.

use undertone_gossip::wire::{Encoder, message_frame};
use undertone_gossip::{MessageId, Topic};

/// A length as protobuf and the framing write it.
#[must_use]
pub fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
    out
}

/// Bytes with the length in front.
#[must_use]
pub fn framed(rpc: &[u8]) -> Vec<u8> {
    let mut out = varint(rpc.len() as u64);
    out.extend_from_slice(rpc);
    out
}

/// One frame with whatever `fill` puts into it.
#[must_use]
pub fn control(fill: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut encoder = Encoder::default();
    fill(&mut encoder);
    encoder.finish().expect("an RPC with content").into()
}

/// One message on a topic.
#[must_use]
pub fn message(topic: &Topic, data: &[u8]) -> Vec<u8> {
    message_frame(topic, data).into()
}

/// Ids of messages that do not exist, each another one.
#[must_use]
pub fn unknown_ids(from: usize, count: usize) -> Vec<MessageId> {
    let id = |n: usize| MessageId::of(&n.to_be_bytes());
    (from..from + count).map(id).collect()
}
