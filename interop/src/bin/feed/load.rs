use bytes::Bytes;
use undertone_gossip::wire::message_frame;
use undertone_gossip::{MessageId, Topic};
use undertone_interop::payload::{self, StampError};
use undertone_message::WakuMessage;

#[cfg(test)]
mod tests;

/// The content topic of all messages.
const CONTENT_TOPIC: &str = "/undertone/1/interop/proto";
/// The timestamp of the first message, nanoseconds since 1970; each further one is a nanosecond later.
const FIRST_TIMESTAMP_NS: i64 = 1_700_000_000_000_000_000;

/// A message, encoded once for all peers that get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Message id in hex.
    pub(crate) id: String,
    /// The RPC with its length in front.
    pub(crate) bytes: Bytes,
}

/// What is sent twice, and the message after it that tells when all of it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) frames: Vec<Frame>,
    pub(crate) marker: Frame,
    next_seq: u64,
}

impl Load {
    /// `count` messages with payloads of `size` bytes, from the sequence number `first_seq` on. The same
    /// arguments make the same bytes.
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

    /// The first sequence number that no message of this load has.
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
