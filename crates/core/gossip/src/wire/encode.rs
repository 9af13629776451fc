//! Encodes frames. Lengths are computed first, so each frame is written once, front to back.

use bytes::Bytes;
use undertone_wire::{
    bytes_field_len, put_bytes_field, put_bytes_header, put_varint, put_varint_field, varint_len,
};

use crate::types::{MessageId, Topic};

/// Number of the RPC's field that marks its messages as being in the stem; the only value is 1.
///
/// GossipSub v1.3 asks experimental extensions for a random number above 0x200000, whose tag takes four bytes. Other
/// implementations skip it as an unknown field.
pub const STEM_FIELD: u32 = 5_851_837;

/// Length of the mark: a tag of four bytes and the value.
const STEM_MARK_BYTES: usize = 5;

/// Length of a field with `len` bytes of content. All other field numbers of an RPC are below 16 and have tags of
/// one byte, like number 1.
fn field_len(len: usize) -> usize {
    bytes_field_len(1, len)
}

fn message_len(topic: &Topic, data: &[u8]) -> usize {
    field_len(data.len()) + field_len(topic.as_bytes().len())
}

/// Length of [`message_frame`], bytes. A frame of this length that contains the message contains nothing
/// else: every other field, and every longer encoding of these, takes bytes.
pub(crate) fn message_frame_len(topic: &Topic, data: &[u8]) -> usize {
    let rpc = field_len(message_len(topic, data));
    varint_len(rpc as u64) + rpc
}

/// Encodes the frame that carries one message; it is written once and shared between all receivers.
pub fn message_frame(topic: &Topic, data: &[u8]) -> Bytes {
    begun_frame(topic, data, 0).into()
}

/// Encodes the frame that carries one message in the stem of Dandelion++: that of [`message_frame`] with the mark
/// after the message. It may be sent only to peers with the feature [`stem`](crate::Features::stem).
pub fn stem_frame(topic: &Topic, data: &[u8]) -> Bytes {
    let mut out = begun_frame(topic, data, STEM_MARK_BYTES);
    put_varint_field(&mut out, STEM_FIELD, 1);
    out.into()
}

/// Encodes a frame that carries one message and lacks `more` bytes at its end.
fn begun_frame(topic: &Topic, data: &[u8], more: usize) -> Vec<u8> {
    let message = message_len(topic, data);
    let rpc = field_len(message) + more;
    let mut out = Vec::with_capacity(varint_len(rpc as u64) + rpc);
    put_varint(&mut out, rpc as u64);
    put_bytes_header(&mut out, 2, message);
    put_bytes_field(&mut out, 2, data);
    put_bytes_field(&mut out, 4, topic.as_bytes());
    out
}

/// Upper bound on the bytes of the headers around one control entry, including its parents, the frame's
/// length prefix and a backoff.
pub(crate) const ENTRY_OVERHEAD_BYTES: usize = 48;

/// Length of a list of ids in a control entry, bytes.
pub(crate) fn ids_bytes(ids: &[MessageId]) -> usize {
    ids.len() * field_len(MessageId::LEN)
}

/// Length of the peers offered in a PRUNE, as (peer id, signed record), bytes.
pub(crate) fn px_bytes(peers: &[(Bytes, Bytes)]) -> usize {
    let infos = peers
        .iter()
        .map(|(id, record)| field_len(id.len()) + field_len(record.len()));
    infos.map(field_len).sum()
}

/// Joins frames into as few frames as possible of at most `max` bytes each. Concatenated protobuf messages
/// are one message with the repeated fields of all.
pub(crate) fn join<'a>(frames: impl Iterator<Item = &'a Bytes>, max: usize) -> Vec<Bytes> {
    let mut joined = Vec::new();
    let mut body = Vec::new();
    let mut close = |body: &mut Vec<u8>| {
        let mut frame = Vec::with_capacity(varint_len(body.len() as u64) + body.len());
        put_varint(&mut frame, body.len() as u64);
        frame.append(body);
        joined.push(Bytes::from(frame));
    };
    for frame in frames {
        let Some(rpc) = super::unframe(frame) else {
            continue;
        };
        if !body.is_empty() && body.len() + rpc.len() + varint_len(max as u64) > max {
            close(&mut body);
        }
        body.extend_from_slice(&rpc);
    }
    if !body.is_empty() {
        close(&mut body);
    }
    joined
}

/// Collects subscriptions and control entries for one peer and encodes them as one frame.
#[derive(Debug, Default)]
pub struct Encoder {
    subscriptions: Vec<u8>,
    control: Vec<u8>,
}

impl Encoder {
    /// Whether no entry has been collected.
    pub fn is_empty(&self) -> bool {
        self.subscriptions.is_empty() && self.control.is_empty()
    }

    /// Bytes collected so far, without the headers of the frame.
    pub fn len(&self) -> usize {
        self.subscriptions.len() + self.control.len()
    }

    /// Adds a SUBSCRIBE or UNSUBSCRIBE entry.
    pub fn subscription(&mut self, subscribe: bool, topic: &Topic) {
        let out = &mut self.subscriptions;
        put_bytes_header(out, 1, 2 + field_len(topic.as_bytes().len()));
        put_varint_field(out, 1, u64::from(subscribe));
        put_bytes_field(out, 2, topic.as_bytes());
    }

    /// Adds a GRAFT entry for a topic.
    pub fn graft(&mut self, topic: &Topic) {
        put_bytes_header(&mut self.control, 3, field_len(topic.as_bytes().len()));
        put_bytes_field(&mut self.control, 1, topic.as_bytes());
    }

    /// Adds a PRUNE entry. Pass `backoff_s` (seconds) and `peers`, as (peer id, signed record), only if the peer's
    /// protocol has them.
    pub fn prune(&mut self, topic: &Topic, backoff_s: Option<u64>, peers: &[(Bytes, Bytes)]) {
        let mut body = Vec::new();
        put_bytes_field(&mut body, 1, topic.as_bytes());
        for (peer_id, record) in peers {
            let mut info = Vec::new();
            put_bytes_field(&mut info, 1, peer_id);
            if !record.is_empty() {
                put_bytes_field(&mut info, 2, record);
            }
            put_bytes_field(&mut body, 2, &info);
        }
        if let Some(seconds) = backoff_s {
            put_varint_field(&mut body, 3, seconds);
        }
        put_bytes_field(&mut self.control, 4, &body);
    }

    /// Adds an IHAVE entry with ids of one topic.
    pub fn ihave(&mut self, topic: &Topic, ids: &[MessageId]) {
        let name = topic.as_bytes();
        let ids_len = ids_bytes(ids);
        let len = field_len(name.len()) + ids_len;
        self.control.reserve(field_len(len));
        put_bytes_header(&mut self.control, 1, len);
        put_bytes_field(&mut self.control, 1, name);
        for id in ids {
            put_bytes_field(&mut self.control, 2, &id.0);
        }
    }

    /// Adds an IWANT entry with these ids.
    pub fn iwant(&mut self, ids: &[MessageId]) {
        self.id_list(2, ids);
    }

    /// Adds an IDONTWANT entry with these ids.
    pub fn idontwant(&mut self, ids: &[MessageId]) {
        self.id_list(5, ids);
    }

    fn id_list(&mut self, number: u32, ids: &[MessageId]) {
        let len = ids_bytes(ids);
        // Every message makes an entry for each neighbour; reserving its memory at once saves 2 % of the router's
        // work.
        self.control.reserve(field_len(len));
        put_bytes_header(&mut self.control, number, len);
        for id in ids {
            put_bytes_field(&mut self.control, 1, &id.0);
        }
    }

    /// Returns the frame with everything collected, or `None` when nothing was; the encoder
    /// is empty afterwards.
    pub fn finish(&mut self) -> Option<Bytes> {
        if self.is_empty() {
            return None;
        }
        let control = if self.control.is_empty() {
            0
        } else {
            field_len(self.control.len())
        };
        let rpc = self.subscriptions.len() + control;
        let mut out = Vec::with_capacity(varint_len(rpc as u64) + rpc);
        put_varint(&mut out, rpc as u64);
        out.append(&mut self.subscriptions);
        if !self.control.is_empty() {
            put_bytes_header(&mut out, 3, self.control.len());
            out.append(&mut self.control);
        }
        Some(out.into())
    }
}
