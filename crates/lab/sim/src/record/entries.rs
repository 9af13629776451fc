//! Reads the messages in a frame, for records.

use undertone_gossip::fragments::overhead_bytes;
use undertone_relay::FRAGMENT_META;
use undertone_wire::{FieldReader, FieldValue, read_varint, unzigzag};

use crate::node::input::number_in;

/// One message in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CopyEntry {
    /// Number of the message; `None` for a fragment that does not contain it.
    pub(super) number: Option<u64>,
    /// Timestamp of the message, which is the same in all of its fragments.
    pub(super) stamp: i64,
    /// Index of the fragment.
    pub(super) fragment: u8,
    /// Length with the envelope, bytes.
    pub(super) bytes: u32,
}

/// Messages of a frame with its length prefix; those that are not Waku messages are left out.
pub(super) fn copies_in(frame: &[u8]) -> impl Iterator<Item = CopyEntry> + '_ {
    let prefix = read_varint(frame).map_or(frame.len(), |(_, prefix)| prefix);
    let mut rpc = FieldReader::new(&frame[prefix..]);
    let mut start = 0;
    std::iter::from_fn(move || {
        while let Ok(Some((number, value))) = rpc.field() {
            let bytes = (rpc.offset() - start) as u32;
            start = rpc.offset();
            if let (2, FieldValue::Bytes(published)) = (number, value)
                && let Some(entry) = entry(published, bytes)
            {
                return Some(entry);
            }
        }
        None
    })
}

fn entry(published: &[u8], bytes: u32) -> Option<CopyEntry> {
    let mut envelope = FieldReader::new(published);
    let mut data = None;
    while let Ok(Some((number, value))) = envelope.field() {
        if let (2, FieldValue::Bytes(body)) = (number, value) {
            data = Some(body);
        }
    }
    let mut message = FieldReader::new(data?);
    let (mut payload, mut meta, mut stamp): (&[u8], &[u8], i64) = (&[], &[], 0);
    while let Ok(Some((number, value))) = message.field() {
        match (number, value) {
            (1, FieldValue::Bytes(body)) => payload = body,
            (10, FieldValue::Varint(value)) => stamp = unzigzag(value),
            (11, FieldValue::Bytes(body)) => meta = body,
            _ => {}
        }
    }
    if meta != FRAGMENT_META {
        return Some(CopyEntry {
            number: Some(number_in(payload)),
            stamp,
            fragment: 0,
            bytes,
        });
    }
    // A fragment begins with a magic number of four bytes, its index and the number of fragments.
    let (index, count) = (*payload.get(4)?, *payload.get(5)?);
    let part = payload.get(overhead_bytes(count.into())..)?;
    Some(CopyEntry {
        number: (index == 0 && part.len() >= 8).then(|| number_in(part)),
        stamp,
        fragment: index,
        bytes,
    })
}
