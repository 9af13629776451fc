use std::fmt::Write;

use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::*;
use crate::{BloomFilter, SdsLimits};

/// Messages encoded by js-waku (`@waku/proto` 0.0.15, by way of `tests/vectors/sds.mjs`).
fn frames_of_js_waku() -> Value {
    let text = include_str!("../../tests/vectors/sds.json");
    serde_json::from_str::<Value>(text).unwrap()["frames"].clone()
}

fn frame(frames: &Value, name: &str) -> Vec<u8> {
    hex::decode(frames[name].as_str().unwrap()).unwrap()
}

fn entry(id: &str, hint: Option<&[u8]>, sender: Option<&str>) -> CausalHistoryEntry {
    CausalHistoryEntry {
        message_id: id.into(),
        retrieval_hint: hint.map(<[u8]>::to_vec),
        sender_id: sender.map(Id::from),
    }
}

fn message(sender: &str, id: &str, channel: &str) -> SdsMessage {
    SdsMessage {
        sender_id: sender.into(),
        message_id: id.into(),
        channel_id: channel.into(),
        lamport_timestamp: None,
        causal_history: Vec::new(),
        bloom_filter: None,
        repair_request: Vec::new(),
        content: None,
    }
}

fn content_message() -> SdsMessage {
    SdsMessage {
        lamport_timestamp: Some(1_767_225_600_123),
        causal_history: vec![
            entry("m1", Some(&[1, 2, 255]), Some("bob")),
            entry("m2", None, None),
        ],
        bloom_filter: Some(vec![0, 128, 255]),
        repair_request: vec![entry("m0", None, Some("carol"))],
        content: Some(b"good day".to_vec()),
        ..message("alice", "m3", "town")
    }
}

fn sync_message() -> SdsMessage {
    SdsMessage {
        lamport_timestamp: Some(u64::MAX),
        causal_history: vec![entry("m1", Some(&[]), None)],
        bloom_filter: Some(Vec::new()),
        ..message("alice", "sync-1", "town")
    }
}

fn ephemeral_message() -> SdsMessage {
    SdsMessage {
        content: Some(b"typing".to_vec()),
        ..message("zoë", "e1", "0")
    }
}

#[test]
fn messages_of_js_waku_are_read_and_written_the_same() {
    let frames = frames_of_js_waku();
    let cases = [
        ("content", content_message(), Some(MessageKind::Content)),
        ("sync", sync_message(), Some(MessageKind::Sync)),
        (
            "ephemeral",
            ephemeral_message(),
            Some(MessageKind::Ephemeral),
        ),
        ("empty", message("", "", ""), None),
    ];
    for (name, expected, kind) in cases {
        let bytes = frame(&frames, name);
        let decoded = SdsMessage::decode(&bytes, &SdsLimits::default()).unwrap();
        assert_eq!(decoded, expected, "{name}");
        assert_eq!(decoded.kind(), kind, "{name}");
        assert_eq!(hex::encode(expected.encode()), hex::encode(bytes), "{name}");
    }
}

/// Digest of the frames that js-waku has read: see [`frames_for_js_waku`].
const READ_BY_JS_WAKU: &str = "30f768637f1db9397d7f26c9d06e3db7377fb35ab46657f7bc7afac1efbbfd49";

/// Frames that js-waku has read, each with every field as it was meant. If one changes, write the new ones to a file
/// with `SDS_FRAMES=FILE cargo test frames_for_js_waku`, have `sds.mjs check FILE` read them, and note the new digest.
#[test]
fn frames_for_js_waku() {
    let mut with_filter = content_message();
    let filter = BloomFilter::of(["m1", "m2"]);
    with_filter.bloom_filter = Some(filter.as_bytes().to_vec());
    let mut sync = sync_message();
    sync.bloom_filter = Some(filter.as_bytes().to_vec());
    let mut lines = String::new();
    for message in [with_filter, sync, ephemeral_message()] {
        writeln!(lines, "{}", hex::encode(message.encode())).unwrap();
    }
    if let Ok(path) = std::env::var("SDS_FRAMES") {
        std::fs::write(path, &lines).unwrap();
    }
    assert_eq!(hex::encode(Sha256::digest(&lines)), READ_BY_JS_WAKU);
}

#[test]
fn parts_over_their_limits_are_refused() {
    let limits = SdsLimits {
        max_frame_bytes: 200,
        max_id_bytes: 4,
        max_hint_bytes: 3,
        max_history_entries: 2,
        max_repair_entries: 1,
        ..SdsLimits::default()
    };
    let decode = |message: &SdsMessage| SdsMessage::decode(&message.encode(), &limits);
    let good = SdsMessage {
        causal_history: vec![entry("1234", Some(&[0; 3]), Some("bob")); 2],
        repair_request: vec![entry("m0", None, None)],
        ..message("anna", "1234", "town")
    };
    assert_eq!(decode(&good), Ok(good.clone()));

    let mut large = good.clone();
    large.content = Some(vec![0; 200]);
    assert!(matches!(
        decode(&large),
        Err(MessageError::TooLarge { max_bytes: 200, .. })
    ));

    let mut long_id = good.clone();
    long_id.message_id = "12345".into();
    let error = MessageError::FieldTooLong {
        field: MESSAGE_ID,
        size_bytes: 5,
        max_bytes: 4,
    };
    assert_eq!(decode(&long_id), Err(error));

    let mut long_hint = good.clone();
    long_hint.causal_history[1].retrieval_hint = Some(vec![0; 4]);
    let error = MessageError::FieldTooLong {
        field: ENTRY_RETRIEVAL_HINT,
        size_bytes: 4,
        max_bytes: 3,
    };
    assert_eq!(decode(&long_hint), Err(error));

    let mut long_history = good.clone();
    long_history.causal_history.push(entry("m9", None, None));
    let error = MessageError::TooManyEntries {
        field: CAUSAL_HISTORY,
        max: 2,
    };
    assert_eq!(decode(&long_history), Err(error));

    let mut many_requests = good;
    many_requests.repair_request.push(entry("m9", None, None));
    let error = MessageError::TooManyEntries {
        field: REPAIR_REQUEST,
        max: 1,
    };
    assert_eq!(decode(&many_requests), Err(error));
}

#[test]
fn an_id_that_is_not_text_is_refused() {
    let mut bytes = Vec::new();
    put_bytes_field(&mut bytes, CHANNEL_ID, &[0xff]);
    let error = MessageError::NotUtf8 { field: CHANNEL_ID };
    assert_eq!(
        SdsMessage::decode(&bytes, &SdsLimits::default()),
        Err(error)
    );
}

#[test]
fn fields_of_later_versions_are_skipped() {
    let mut bytes = content_message().encode();
    put_varint_field(&mut bytes, 30, 7);
    put_bytes_field(&mut bytes, 31, b"new");
    let decoded = SdsMessage::decode(&bytes, &SdsLimits::default());
    assert_eq!(decoded, Ok(content_message()));
}

fn any_entry() -> impl Strategy<Value = CausalHistoryEntry> {
    let hint = proptest::option::of(proptest::collection::vec(any::<u8>(), 0..9));
    (".{0,9}", hint, proptest::option::of(".{0,9}")).prop_map(|(id, retrieval_hint, sender)| {
        CausalHistoryEntry {
            message_id: id.into(),
            retrieval_hint,
            sender_id: sender.map(Id::from),
        }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        ids in [".{0,9}", ".{0,9}", ".{0,9}"],
        lamport_timestamp in any::<Option<u64>>(),
        causal_history in proptest::collection::vec(any_entry(), 0..5),
        bloom_filter in any::<Option<Vec<u8>>>(),
        repair_request in proptest::collection::vec(any_entry(), 0..5),
        content in any::<Option<Vec<u8>>>(),
    ) {
        let message = SdsMessage {
            lamport_timestamp, causal_history, bloom_filter, repair_request, content,
            ..message(&ids[0], &ids[1], &ids[2])
        };
        let decoded = SdsMessage::decode(&message.encode(), &SdsLimits::default());
        prop_assert_eq!(decoded, Ok(message));
    }

    #[test]
    fn damaged_messages_do_no_harm(cut in 0..90_usize, at in 0..76_usize, byte in any::<u8>()) {
        let mut bytes = content_message().encode();
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        bytes.truncate(cut);
        if let Ok(message) = SdsMessage::decode(&bytes, &SdsLimits::default()) {
            let again = SdsMessage::decode(&message.encode(), &SdsLimits::default());
            prop_assert_eq!(again, Ok(message));
        }
    }
}
