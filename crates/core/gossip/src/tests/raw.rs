//! Frames as another implementation could write them: protobuf by hand, sharing nothing with the encoder.

use bytes::Bytes;

use crate::types::MessageId;

pub(crate) fn varint(mut n: u64) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let low = (n % 128) as u8;
        n /= 128;
        if n == 0 {
            out.push(low);
            return out;
        }
        out.push(low + 128);
    }
}

/// Encodes a field with a varint value.
pub(crate) fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field * 8), varint(value)].concat()
}

/// Encodes a length-delimited field.
pub(crate) fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    let len = varint(content.len() as u64);
    [varint(field * 8 + 2), len, content.to_vec()].concat()
}

/// Encodes a field 64 bits wide.
pub(crate) fn fixed64(field: u64, value: u64) -> Vec<u8> {
    [varint(field * 8 + 1), value.to_le_bytes().to_vec()].concat()
}

pub(crate) fn subscription(subscribe: bool, topic: &str) -> Vec<u8> {
    let body = [number(1, u64::from(subscribe)), bytes(2, topic.as_bytes())];
    bytes(1, &body.concat())
}

pub(crate) fn subscribe(topic: &str) -> Vec<u8> {
    subscription(true, topic)
}

pub(crate) fn publish(topic: &str, data: &[u8]) -> Vec<u8> {
    bytes(2, &[bytes(2, data), bytes(4, topic.as_bytes())].concat())
}

pub(crate) fn graft(topic: &str) -> Vec<u8> {
    bytes(3, &bytes(3, &bytes(1, topic.as_bytes())))
}

/// Encodes a PRUNE with the given backoff in seconds and (peer id, record) pairs.
pub(crate) fn prune(topic: &str, backoff_s: Option<u64>, px: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut body = bytes(1, topic.as_bytes());
    for (id, record) in px {
        body.extend(bytes(2, &[bytes(1, id), bytes(2, record)].concat()));
    }
    if let Some(seconds) = backoff_s {
        body.extend(number(3, seconds));
    }
    bytes(3, &bytes(4, &body))
}

fn id_fields(field: u64, ids: &[MessageId]) -> Vec<u8> {
    ids.iter().flat_map(|id| bytes(field, &id.0)).collect()
}

pub(crate) fn ihave(topic: &str, ids: &[MessageId]) -> Vec<u8> {
    let body = [bytes(1, topic.as_bytes()), id_fields(2, ids)].concat();
    bytes(3, &bytes(1, &body))
}

pub(crate) fn iwant(ids: &[MessageId]) -> Vec<u8> {
    bytes(3, &bytes(2, &id_fields(1, ids)))
}

pub(crate) fn idontwant(ids: &[MessageId]) -> Vec<u8> {
    bytes(3, &bytes(5, &id_fields(1, ids)))
}

/// Encodes `count` ids of unknown messages.
pub(crate) fn made_up_ids(first: u32, count: usize) -> Vec<MessageId> {
    let ids = (first..).take(count);
    ids.map(|i| MessageId::of(&i.to_be_bytes())).collect()
}

/// Adds the length prefix to an RPC.
pub(crate) fn framed(rpc: &[u8]) -> Bytes {
    [varint(rpc.len() as u64), rpc.to_vec()].concat().into()
}

/// Returns the RPC inside an encoded frame, whose length prefix must be exact.
pub(crate) fn strip_prefix(frame: &Bytes) -> Bytes {
    let (len, prefix) = crate::wire::read_varint(frame).unwrap();
    assert_eq!(len as usize, frame.len() - prefix, "length prefix");
    frame.slice(prefix..)
}
