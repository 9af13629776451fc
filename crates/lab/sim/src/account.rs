//! Traffic accounting: the kinds of entries in a frame, and the bytes of each.

use undertone_wire::{FieldReader, FieldValue, read_varint};

use crate::outcome::{Counters, KindCounter};

/// Counts a frame, including its length prefix, by kind of its entries. A frame of several kinds is split
/// by entry; the bytes of the prefix and of envelopes count for the entry that follows them.
pub(crate) fn count(counters: &mut Counters, frame: &[u8]) {
    let Ok((_, prefix)) = read_varint(frame) else {
        return;
    };
    let mut envelope = prefix as u64;
    fields(&frame[prefix..], |number, body, whole| {
        let kind = match number {
            1 => &mut counters.subscriptions,
            2 => &mut counters.messages,
            3 => {
                envelope += whole - body.len() as u64;
                return fields(body, |number, _, whole| {
                    let kind = match number {
                        1 => &mut counters.ihave,
                        2 => &mut counters.iwant,
                        3 => &mut counters.graft,
                        4 => &mut counters.prune,
                        5 => &mut counters.idontwant,
                        _ => return,
                    };
                    add(kind, whole + std::mem::take(&mut envelope));
                });
            }
            _ => return,
        };
        add(kind, whole + std::mem::take(&mut envelope));
    });
}

/// Whether a frame holds an IDONTWANT.
pub(crate) fn has_idontwant(frame: &[u8]) -> bool {
    let Ok((_, prefix)) = read_varint(frame) else {
        return false;
    };
    let mut found = false;
    fields(&frame[prefix..], |number, body, _| {
        if number == 3 {
            fields(body, |number, _, _| found |= number == 5);
        }
    });
    found
}

fn add(kind: &mut KindCounter, bytes: u64) {
    kind.count += 1;
    kind.bytes += bytes;
}

/// Passes number, body, and length including the header of each length-delimited field to `each`, up to the
/// first error. Messages of this program have neither errors nor other kinds of fields.
fn fields<'a>(message: &'a [u8], mut each: impl FnMut(u32, &'a [u8], u64)) {
    let mut reader = FieldReader::new(message);
    let mut start = 0;
    while let Ok(Some((number, value))) = reader.field() {
        if let FieldValue::Bytes(body) = value {
            each(number, body, (reader.offset() - start) as u64);
        }
        start = reader.offset();
    }
}

#[cfg(test)]
mod tests {
    use undertone_gossip::wire::{Encoder, message_frame};
    use undertone_gossip::{MessageId, Topic};

    use super::*;

    #[test]
    fn every_byte_is_counted_once_and_under_its_kind() {
        let topic = Topic::new("/waku/2/rs/1/0");
        let ids = [MessageId([1; 32]), MessageId([2; 32])];
        let mut encoder = Encoder::default();
        encoder.subscription(true, &topic);
        encoder.graft(&topic);
        encoder.prune(&topic, Some(60), &[]);
        encoder.ihave(&topic, &ids);
        encoder.iwant(&ids);
        encoder.idontwant(&ids[..1]);
        let control = encoder.finish().unwrap();
        let message = message_frame(&topic, &[7; 1000]);
        let mut counters = Counters::default();
        count(&mut counters, &control);
        count(&mut counters, &message);
        let kinds = [
            counters.messages,
            counters.subscriptions,
            counters.graft,
            counters.prune,
            counters.ihave,
            counters.iwant,
            counters.idontwant,
        ];
        assert!(kinds.iter().all(|kind| kind.count == 1), "{counters:?}");
        assert!(has_idontwant(&control) && !has_idontwant(&message));
        let bytes: u64 = kinds.iter().map(|kind| kind.bytes).sum();
        assert_eq!(bytes, (control.len() + message.len()) as u64);
    }
}
