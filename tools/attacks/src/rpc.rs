//! Encoding of an attacker's RPCs: with the project's encoder if they are valid, otherwise as raw bytes.

use undertone_gossip::wire::{Encoder, message_frame};
use undertone_gossip::{MessageId, Topic};
use undertone_wire::put_varint;

/// Encodes a varint as in protobuf and in the framing.
#[must_use]
pub fn varint(value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, value);
    out
}

/// Returns the bytes with their length prefix.
#[must_use]
pub fn framed(rpc: &[u8]) -> Vec<u8> {
    let mut out = varint(rpc.len() as u64);
    out.extend_from_slice(rpc);
    out
}

/// Returns one frame with the content that `fill` encodes.
#[must_use]
pub fn control(fill: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut encoder = Encoder::default();
    fill(&mut encoder);
    encoder.finish().expect("an RPC with content").into()
}

/// Returns the frame of one message on a topic.
#[must_use]
pub fn message(topic: &Topic, data: &[u8]) -> Vec<u8> {
    message_frame(topic, data).into()
}

/// Returns distinct ids of messages that do not exist.
#[must_use]
pub fn unknown_ids(from: usize, count: usize) -> Vec<MessageId> {
    let id = |n: usize| MessageId::of(&n.to_be_bytes());
    (from..from + count).map(id).collect()
}
