use bytes::Bytes;
use undertone_conformance::payload::{self, StampError};
use undertone_gossip::wire::message_frame;
use undertone_gossip::{MessageId, Topic};
use undertone_message::WakuMessage;

#[cfg(test)]
#[path = "tests/load.rs"]
mod tests;

/// Content topic of all messages.
const CONTENT_TOPIC: &str = "/undertone/1/interop/proto";
/// Timestamp of the message with sequence number 0, Unix nanoseconds; each further one is a nanosecond later.
const FIRST_TIMESTAMP_NS: i64 = 1_700_000_000_000_000_000;

/// Message as a frame, encoded once for all peers that receive it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Message id in hex.
    pub(crate) id: String,
    /// Encoded RPC with its length prefix.
    pub(crate) bytes: Bytes,
}

/// Messages that are sent twice, followed by a marker message that shows when all of them have been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) frames: Vec<Frame>,
    pub(crate) marker: Frame,
    next_seq: u64,
}

impl Load {
    /// Creates `count` messages with payloads of `size` bytes, with sequence numbers from `first_seq` on. The
    /// same arguments result in the same bytes.
    pub(crate) fn new(
        topic: &str,
        first_seq: u64,
        count: u32,
        size: usize,
    ) -> Result<Self, StampError> {
        let topic = Topic::new(topic);
        let marker_seq = first_seq + u64::from(count);
        let frames = (first_seq..marker_seq).map(|seq| Frame::new(&topic, seq, size));
        Ok(Self {
            frames: frames.collect::<Result<_, _>>()?,
            marker: Frame::new(&topic, marker_seq, size)?,
            next_seq: marker_seq + 1,
        })
    }

    /// Returns the first sequence number after those of this load.
    pub(crate) fn next_seq(&self) -> u64 {
        self.next_seq
    }
}

impl Frame {
    fn new(topic: &Topic, seq: u64, size: usize) -> Result<Self, StampError> {
        let payload = payload::stamped(seq, size, 0)?;
        let message = WakuMessage {
            timestamp: Some(FIRST_TIMESTAMP_NS.saturating_add_unsigned(seq)),
            ..WakuMessage::new(payload, CONTENT_TOPIC)
        };
        let data = message.encode();
        Ok(Self {
            id: hex::encode(MessageId::of(&data).0),
            bytes: message_frame(topic, &data),
        })
    }
}
