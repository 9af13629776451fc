//! Builds the frames sent to all variants, and parses the frames that they send.

use bytes::Bytes;
use undertone_gossip::wire::{self, Rpc};
use undertone_gossip::{Limits, Topic};

/// Topic of all messages.
pub(crate) const TOPIC: &str = "/waku/2/rs/66/0";

/// Generator of messages of one size, all different.
pub(crate) struct Messages {
    topic: Topic,
    size: usize,
    next: u64,
}

impl Messages {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            topic: Topic::new(TOPIC),
            size,
            next: 0,
        }
    }

    /// Returns a frame with a single new message.
    pub(crate) fn fresh(&mut self) -> Bytes {
        let mut data = vec![0; self.size];
        data[..8].copy_from_slice(&self.next.to_be_bytes());
        self.next += 1;
        wire::message_frame(&self.topic, &data)
    }
}

/// Returns a peer's first frame: it subscribes and grafts us.
pub(crate) fn hello() -> Bytes {
    let topic = Topic::new(TOPIC);
    let mut hello = wire::Encoder::default();
    hello.subscription(true, &topic);
    hello.graft(&topic);
    hello.finish().expect("two entries")
}

/// Decodes the RPCs written to one stream.
pub(crate) fn rpcs(mut written: Bytes) -> Vec<Rpc> {
    let mut rpcs = Vec::new();
    while !written.is_empty() {
        let (len, prefix) = wire::read_varint(&written).expect("a frame begins with its length");
        let len = usize::try_from(len).expect("frames fit in memory");
        let body = written.split_to(prefix + len).split_off(prefix);
        rpcs.push(wire::decode(&body, &Limits::default()).expect("a valid RPC"));
    }
    rpcs
}
