//! The id computed while a frame is received is that of the message found by decoding it.

use std::ops::Range;

use bytes::Bytes;
use proptest::prelude::*;

use crate::tests::raw::{bytes, framed, subscribe};
use crate::types::{MessageId, Topic};
use crate::wire::{EarlyId, Frame, decode, message_frame, stem_frame, unframe};

/// Passes a frame in pieces of `piece_bytes`, and returns the data and id found.
fn hashed(frame: &[u8], piece_bytes: usize) -> Option<(Range<usize>, MessageId)> {
    let mut early = EarlyId::default();
    for end in (0..frame.len()).step_by(piece_bytes) {
        early.advance(&frame[..end]);
    }
    early.advance(frame);
    early.finish()
}

proptest! {
    #[test]
    fn however_the_frame_is_cut(
        data in prop::collection::vec(any::<u8>(), 0..5_000),
        piece_bytes in 1..2_000_usize,
    ) {
        let frame = message_frame(&Topic::new("/waku/2/rs/1/0"), &data);
        let (range, id) = hashed(&frame, piece_bytes).expect("the data comes first");
        let body = unframe(&frame).expect("one frame");
        let rpc = decode(&body, &Default::default()).expect("well-formed");
        prop_assert_eq!(&frame[range], &rpc.messages[0].data[..]);
        prop_assert_eq!(id, MessageId::of(&data));
    }

    /// A range and id that are returned are correct, whether or not the frame is an RPC.
    #[test]
    fn of_any_bytes(frame in prop::collection::vec(any::<u8>(), 0..200), piece_bytes in 1..50_usize) {
        if let Some((range, id)) = hashed(&frame, piece_bytes) {
            prop_assert_eq!(id, MessageId::of(&frame[range]));
        }
    }
}

#[test]
fn the_mark_of_the_stem_does_not_hide_the_id() {
    let bytes = stem_frame(&Topic::new("topic"), b"data");
    let (range, id) = hashed(&bytes, 1).expect("the data comes first");
    assert_eq!((&bytes[range], id), (&b"data"[..], MessageId::of(b"data")));
    let frame = Frame::with_early_id(bytes.clone(), EarlyId::default());
    let body = unframe(&bytes).expect("one frame");
    let rpc = decode(&body, &Default::default()).expect("well-formed");
    assert_eq!(frame.id_of(&rpc.messages[0].data), Some(id));
}

#[test]
fn a_frame_that_begins_with_something_else_is_left_alone() {
    let message = bytes(2, &bytes(2, b"data"));
    let subscription_first = [subscribe("topic"), message].concat();
    assert_eq!(hashed(&framed(&subscription_first), 1), None);
    let topic_first = bytes(2, &[bytes(4, b"topic"), bytes(2, b"data")].concat());
    assert_eq!(hashed(&framed(&topic_first), 1), None);
}

#[test]
fn data_that_claims_more_than_its_frame_is_not_hashed() {
    let mut too_long = framed(&bytes(2, &bytes(2, b"data"))).to_vec();
    let claims = too_long.len() - b"data".len() - 1;
    too_long[claims] += 1;
    too_long.push(0);
    assert_eq!(hashed(&too_long, 1), None);
}

#[test]
fn nothing_is_said_of_data_that_has_not_come() {
    let frame = framed(&bytes(2, &bytes(2, b"data")));
    let mut early = EarlyId::default();
    early.advance(&frame[..frame.len() - 1]);
    assert!(early.finish().is_none());
}

#[test]
fn a_frame_knows_the_id_of_the_memory_that_was_hashed_and_of_no_other() {
    let whole = message_frame(&Topic::new("t"), b"data");
    let frame = Frame::with_early_id(whole.clone(), EarlyId::default());
    let body = unframe(frame.bytes()).expect("one frame");
    let rpc = decode(&body, &Default::default()).expect("well-formed");
    let data = &rpc.messages[0].data;
    assert_eq!(frame.id_of(data), Some(MessageId::of(b"data")));
    let elsewhere = Bytes::copy_from_slice(data);
    for other in [data.slice(1..), data.slice(..3), elsewhere] {
        assert_eq!(frame.id_of(&other), None);
    }
    assert_eq!(Frame::from(whole).id_of(data), None, "it was not hashed");
}
