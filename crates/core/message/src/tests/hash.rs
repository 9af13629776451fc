use bytes::Bytes;

use super::*;

const NAMED: &str = "/waku/2/default-waku/proto";
const SHARD: &str = "/waku/2/rs/0/0";
const PAYLOAD: &str = "010203045445535405060708";
const META: &str = "73757065722d736563726574";
const META_64: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\
                       202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f";

/// The published vectors of RFC 14 and the same inputs on a static shard, with content topic
/// `/waku/2/default-content/proto` and timestamp `0x175789bfa23f8400`.
const VECTORS: [(&str, &str, Option<&str>, &str); 8] = [
    (
        NAMED,
        PAYLOAD,
        Some(META),
        "64cce733fed134e83da02b02c6f689814872b1a0ac97ea56b76095c3c72bfe05",
    ),
    (
        NAMED,
        PAYLOAD,
        Some(META_64),
        "7158b6498753313368b9af8f6e0a0a05104f68f972981da42a43bc53fb0c1b27",
    ),
    (
        NAMED,
        PAYLOAD,
        None,
        "a2554498b31f5bcdfcbf7fa58ad1c2d45f0254f3f8110a85588ec3cf10720fd8",
    ),
    (
        NAMED,
        "",
        Some(META),
        "483ea950cb63f9b9d6926b262bb36194d3f40a0463ce8446228350bd44e96de4",
    ),
    (
        SHARD,
        PAYLOAD,
        None,
        "cccab07fed94181c83937c8ca8340c9108492b7ede354a6d95421ad34141fd37",
    ),
    (
        SHARD,
        PAYLOAD,
        Some(META),
        "b9b4852f9d8c489846e8bfc6c5ca6a1a8d460a40d28832a966e029eb39619199",
    ),
    (
        SHARD,
        PAYLOAD,
        Some(META_64),
        "653460d04f66c5b11814d235152f4f246e6f03ef80a305a825913636fbafd0ba",
    ),
    (
        SHARD,
        "",
        Some(META),
        "0f6448cc23b2db6c696aa6ab4b693eff4cf3549ff346fe1dbeb281697396a09f",
    ),
];

fn vector_message(payload: &str, meta: Option<&str>) -> WakuMessage {
    WakuMessage {
        timestamp: Some(0x1757_89bf_a23f_8400),
        meta: meta.map(|meta| hex::decode(meta).unwrap().into()),
        ..WakuMessage::new(
            hex::decode(payload).unwrap(),
            "/waku/2/default-content/proto",
        )
    }
}

#[test]
fn every_published_vector_matches() {
    for (topic, payload, meta, expected) in VECTORS {
        let hash = message_hash(topic, &vector_message(payload, meta));
        assert_eq!(
            hex::encode(hash.0),
            expected,
            "topic {topic} payload {payload} meta {meta:?}"
        );
    }
}

#[test]
fn it_is_shown_as_prefixed_hex() {
    let (topic, payload, meta, expected) = VECTORS[0];
    let hash = message_hash(topic, &vector_message(payload, meta));
    assert_eq!(hash.to_string(), format!("0x{expected}"));
    assert_eq!(format!("{hash:?}"), format!("MessageHash(0x{expected})"));
}

#[test]
fn what_does_not_identify_a_message_is_left_out() {
    let plain = vector_message(PAYLOAD, None);
    let dressed = WakuMessage {
        version: Some(1),
        ephemeral: Some(true),
        rate_limit_proof: Some(Bytes::from_static(b"proof")),
        meta: Some(Bytes::new()),
        ..plain.clone()
    };
    assert_eq!(message_hash(SHARD, &plain), message_hash(SHARD, &dressed));
}

#[test]
fn an_absent_timestamp_hashes_as_zero() {
    let absent = WakuMessage::new(vec![1], "/a/1/b/c");
    let zero = WakuMessage {
        timestamp: Some(0),
        ..absent.clone()
    };
    assert_eq!(message_hash(SHARD, &absent), message_hash(SHARD, &zero));
    let one = WakuMessage {
        timestamp: Some(1),
        ..absent.clone()
    };
    assert_ne!(message_hash(SHARD, &absent), message_hash(SHARD, &one));
}
