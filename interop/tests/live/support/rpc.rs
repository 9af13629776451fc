//! RPCs as an attacker writes them: the project's encoder where it is honest, bytes where it is not.

use undertone_gossip::wire::{Encoder, message_frame};
use undertone_gossip::{MessageId, Topic};

use super::TOPIC;

/// A length as protobuf and the framing write it.
pub(crate) fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
    out
}

/// Bytes with the length in front.
pub(crate) fn framed(rpc: &[u8]) -> Vec<u8> {
    let mut out = varint(rpc.len() as u64);
    out.extend_from_slice(rpc);
    out
}

/// One frame with whatever `fill` puts into it.
pub(crate) fn control(fill: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut encoder = Encoder::default();
    fill(&mut encoder);
    encoder.finish().expect("an RPC with content").into()
}

pub(crate) fn topic() -> Topic {
    Topic::new(TOPIC)
}

pub(crate) fn subscribe() -> Vec<u8> {
    control(|rpc| rpc.subscription(true, &topic()))
}

pub(crate) fn graft() -> Vec<u8> {
    control(|rpc| rpc.graft(&topic()))
}

pub(crate) fn message(data: &[u8]) -> Vec<u8> {
    message_frame(&topic(), data).into()
}

/// Topics that nobody has joined, each another one.
pub(crate) fn unknown_topics(from: usize, count: usize) -> impl Iterator<Item = Topic> {
    (from..from + count).map(|n| Topic::new(&format!("nobody-is-here/{n}")))
}

/// Ids of messages that do not exist, each another one.
pub(crate) fn unknown_ids(from: usize, count: usize) -> Vec<MessageId> {
    let id = |n: usize| MessageId::of(&n.to_be_bytes());
    (from..from + count).map(id).collect()
}
