//! RPCs as an attacker writes them, on the topic of all tests.

pub(crate) use undertone_attacks::rpc::{control, framed, unknown_ids, varint};
use undertone_gossip::Topic;

use super::TOPIC;

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
    undertone_attacks::rpc::message(&topic(), data)
}

/// Topics that nobody has joined, each another one.
pub(crate) fn unknown_topics(from: usize, count: usize) -> impl Iterator<Item = Topic> {
    (from..from + count).map(|n| Topic::new(&format!("nobody-is-here/{n}")))
}
