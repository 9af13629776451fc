use bytes::Bytes;
use proptest::prelude::*;
use undertone_wire::{put_bytes_field, put_varint_field};

use super::*;
use crate::wire::WireError;

/// A message with payload `01 02`, topic `t` and no other field.
const SMALLEST: [u8; 7] = [0x0a, 0x02, 1, 2, 0x12, 0x01, b't'];

fn decode(input: &[u8]) -> Result<WakuMessage, DecodeError> {
    WakuMessage::decode(&Bytes::copy_from_slice(input))
}

fn with_tail(build: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut input = SMALLEST.to_vec();
    build(&mut input);
    input
}

#[test]
fn the_content_topic_of_encoded_bytes_is_that_of_the_decoded_message() {
    let twice = with_tail(|input| put_bytes_field(input, 2, b"/a/1/b/proto"));
    for input in [&SMALLEST[..], &twice] {
        let decoded = decode(input).unwrap();
        let found = WakuMessage::content_topic_in(input);
        assert_eq!(found, Some(&*decoded.content_topic));
    }
    assert_eq!(WakuMessage::content_topic_in(&SMALLEST[..4]), None);
    assert_eq!(WakuMessage::content_topic_in(b"\x12\x01\xff"), None);
}

#[test]
fn a_full_message_encodes_to_these_bytes() {
    let message = WakuMessage {
        payload: Bytes::from_static(&[1, 2, 3]),
        content_topic: "/a/1/b/proto".into(),
        version: Some(1),
        timestamp: Some(-2),
        meta: Some(Bytes::from_static(&[0xff])),
        rate_limit_proof: Some(Bytes::from_static(&[0xaa, 0xbb])),
        ephemeral: Some(true),
    };
    let golden = "0a03010203\
                  120c2f612f312f622f70726f746f\
                  1801\
                  5003\
                  5a01ff\
                  aa0102aabb\
                  f80101";
    assert_eq!(hex::encode(message.encode()), golden);
    assert_eq!(decode(&hex::decode(golden).unwrap()), Ok(message));
}

#[test]
fn an_empty_payload_and_topic_are_written() {
    assert_eq!(
        WakuMessage::new(Bytes::new(), "").encode(),
        [0x0a, 0x00, 0x12, 0x00]
    );
}

#[test]
fn a_field_present_at_its_default_differs_from_an_absent_one() {
    // nwaku writes every field, others skip defaults.
    let written = decode(&hex::decode("0a0101120174180050005a00aa0100f80100").unwrap()).unwrap();
    assert_eq!(written.version, Some(0));
    assert_eq!(written.timestamp, Some(0));
    assert_eq!(written.meta, Some(Bytes::new()));
    assert_eq!(written.rate_limit_proof, Some(Bytes::new()));
    assert_eq!(written.ephemeral, Some(false));
    let skipped = decode(&SMALLEST).unwrap();
    assert_eq!(skipped, WakuMessage::new(vec![1, 2], "t"));
    assert_eq!(skipped.timestamp_ns(), 0);
    assert!(skipped.meta_bytes().is_empty() && !skipped.is_ephemeral());
}

#[test]
fn decoded_bytes_share_the_memory_of_the_input() {
    let input = Bytes::copy_from_slice(&SMALLEST);
    let message = WakuMessage::decode(&input).unwrap();
    assert_eq!(message.payload.as_ptr(), input[2..].as_ptr());
}

#[test]
fn payload_and_topic_are_required() {
    assert_eq!(decode(&SMALLEST[4..]), Err(DecodeError::MissingPayload));
    assert_eq!(
        decode(&SMALLEST[..4]),
        Err(DecodeError::MissingContentTopic)
    );
    assert_eq!(decode(&[]), Err(DecodeError::MissingPayload));
}

#[test]
fn a_required_field_of_another_wire_type_does_not_count() {
    assert_eq!(
        decode(&[0x08, 0x01, 0x12, 0x00]),
        Err(DecodeError::MissingPayload)
    );
}

#[test]
fn the_last_of_a_repeated_field_counts() {
    let input = with_tail(|out| {
        put_bytes_field(out, 1, b"later");
        put_varint_field(out, 3, 1);
        put_varint_field(out, 3, 7);
    });
    let message = decode(&input).unwrap();
    assert_eq!(&message.payload[..], b"later");
    assert_eq!(message.version, Some(7));
}

#[test]
fn unknown_fields_of_every_wire_type_are_skipped() {
    let input = with_tail(|out| {
        put_varint_field(out, 99, u64::MAX);
        put_bytes_field(out, 98, b"unknown");
        out.extend([0x61, 1, 2, 3, 4, 5, 6, 7, 8]); // field 12, fixed64
        out.extend([0x65, 1, 2, 3, 4]); // field 12, fixed32
    });
    assert_eq!(decode(&input), decode(&SMALLEST));
}

#[test]
fn groups_are_refused_without_blaming_the_forwarder() {
    let error = decode(&with_tail(|out| out.push(0x63))).unwrap_err();
    assert_eq!(
        error,
        DecodeError::Wire(WireError::WireType {
            offset: 7,
            wire_type: 3
        })
    );
    assert!(error.forwarder_may_be_honest());
}

#[test]
fn meta_has_at_most_64_bytes() {
    let with_meta = |len| decode(&with_tail(|out| put_bytes_field(out, 11, &vec![5; len])));
    assert_eq!(with_meta(64).unwrap().meta_bytes().len(), 64);
    assert_eq!(
        with_meta(65),
        Err(DecodeError::MetaTooLong {
            size_bytes: 65,
            max_bytes: 64
        })
    );
}

#[test]
fn a_topic_that_is_not_text_is_refused_without_blaming_the_forwarder() {
    let error = decode(&[0x0a, 0x00, 0x12, 0x02, b'a', 0xff]).unwrap_err();
    assert_eq!(error, DecodeError::ContentTopicNotUtf8 { valid_up_to: 1 });
    assert!(error.forwarder_may_be_honest());
}

#[test]
fn malformed_bytes_blame_the_forwarder() {
    assert!(!DecodeError::MissingPayload.forwarder_may_be_honest());
    assert!(!decode(&[0x0a, 0x05]).unwrap_err().forwarder_may_be_honest());
    let reserved = decode(&with_tail(|out| out.push(0x67))).unwrap_err();
    assert!(!reserved.forwarder_may_be_honest());
}

#[test]
fn fields_of_32_bits_hold_no_more() {
    for field in [3, 31] {
        let value = u64::from(u32::MAX) + 1;
        let input = with_tail(|out| put_varint_field(out, field, value));
        assert_eq!(
            decode(&input),
            Err(DecodeError::Exceeds32Bits { field, value })
        );
    }
    let input = with_tail(|out| put_varint_field(out, 31, 2));
    assert_eq!(decode(&input).unwrap().ephemeral, Some(true));
}

#[test]
fn a_message_over_the_limit_is_not_looked_at() {
    let limits = MessageLimits {
        max_message_bytes: SMALLEST.len() - 1,
        ..MessageLimits::default()
    };
    assert_eq!(
        WakuMessage::decode_with(&Bytes::copy_from_slice(&SMALLEST), &limits),
        Err(DecodeError::TooLarge {
            size_bytes: 7,
            max_bytes: 6
        })
    );
}

fn any_bytes(max_len: usize) -> impl Strategy<Value = Bytes> {
    prop::collection::vec(any::<u8>(), 0..=max_len).prop_map(Bytes::from)
}

fn any_message() -> impl Strategy<Value = WakuMessage> {
    (
        any_bytes(300),
        "\\PC{0,40}",
        any::<Option<u32>>(),
        any::<Option<i64>>(),
        prop::option::of(any_bytes(MAX_META_BYTES)),
        prop::option::of(any_bytes(400)),
        any::<Option<bool>>(),
    )
        .prop_map(
            |(payload, topic, version, timestamp, meta, proof, ephemeral)| WakuMessage {
                payload,
                content_topic: topic.into(),
                version,
                timestamp,
                meta,
                rate_limit_proof: proof,
                ephemeral,
            },
        )
}

proptest! {
    #[test]
    fn messages_round_trip(message in any_message()) {
        let encoded = message.encode();
        prop_assert_eq!(encoded.len(), message.encoded_len());
        prop_assert_eq!(WakuMessage::decode(&encoded.into()), Ok(message));
    }

    #[test]
    fn arbitrary_bytes_never_panic(input in any_bytes(200)) {
        let _ = WakuMessage::decode(&input);
    }

    /// Nearly valid bytes reach further into the decoder than noise does.
    #[test]
    fn a_damaged_message_never_panics(
        message in any_message(), at: prop::sample::Index, byte: u8, cut: prop::sample::Index,
    ) {
        let mut encoded = message.encode();
        let at = at.index(encoded.len());
        encoded[at] = byte;
        let cut = cut.index(encoded.len() + 1);
        encoded.truncate(cut);
        let _ = WakuMessage::decode(&encoded.into());
    }
}
