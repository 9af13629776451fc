//! Byte vectors derived by hand from the field numbers, one for each kind of entry.
//!
//! Encoders of go, rust and js write fields in the order of their numbers and leave out absent ones. This
//! encoder does the same; the vectors are the bytes that they write.

use bytes::Bytes;

use super::read;
use crate::limits::Limits;
use crate::tests::raw;
use crate::types::{MessageId, Topic};
use crate::wire::{
    Encoder, IHave, Prune, PxPeer, Rpc, STEM_FIELD, Subscription, WireMessage, decode,
    message_frame, stem_frame,
};

const ID: MessageId = MessageId([0x11; 32]);

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn a() -> Topic {
    Topic::new("a")
}

/// The encoded frame must equal these bytes, and decoding them must give this RPC.
fn check(write: impl FnOnce(&mut Encoder), golden: &str, rpc: &Rpc) {
    let mut encoder = Encoder::default();
    write(&mut encoder);
    let frame = encoder.finish().unwrap();
    assert_eq!(frame, hex(golden));
    assert_eq!(read(raw::strip_prefix(&frame)).as_ref(), Ok(rpc));
}

#[test]
fn subscribe_and_unsubscribe() {
    let change = |subscribe| Subscription {
        subscribe,
        topic: a(),
    };
    let rpc = |subscribe| Rpc {
        subscriptions: vec![change(subscribe)],
        ..Rpc::default()
    };
    check(
        |e| e.subscription(true, &a()),
        "07 0a05 0801 120161",
        &rpc(true),
    );
    check(
        |e| e.subscription(false, &a()),
        "07 0a05 0800 120161",
        &rpc(false),
    );
}

#[test]
fn message() {
    let frame = message_frame(&a(), b"hi");
    assert_eq!(frame, hex("09 1207 12026869 220161"));
    let messages = vec![WireMessage {
        topic: a(),
        data: Bytes::from_static(b"hi"),
        signed: false,
    }];
    let rpc = Rpc {
        messages,
        ..Rpc::default()
    };
    assert_eq!(read(raw::strip_prefix(&frame)), Ok(rpc));
}

#[test]
fn message_in_the_stem() {
    let frame = stem_frame(&a(), b"hi");
    assert_eq!(frame, hex("0e 1207 12026869 220161 e8aba91601"));
    let read = read(raw::strip_prefix(&frame)).unwrap();
    let alone = message_frame(&a(), b"hi");
    let rpc = decode(&raw::strip_prefix(&alone), &Limits::default()).unwrap();
    assert_eq!(read, Rpc { stem: true, ..rpc });
}

/// Whoever reads the mark as an unknown field, as all others do, may not be sent more of it than of those.
#[test]
fn the_mark_of_the_stem_counts_once_and_is_no_content() {
    let mark = raw::number(STEM_FIELD.into(), 1);
    let once = read(mark.clone()).unwrap();
    assert!(once.stem && once.is_empty());
    let max = Limits::default().unknown_fields_per_rpc_max;
    assert!(read(mark.repeat(max + 1)).is_ok());
    assert!(read(mark.repeat(max + 2)).is_err());
    for other in [0, 2, u64::MAX] {
        assert!(!read(raw::number(STEM_FIELD.into(), other)).unwrap().stem);
    }
    assert!(!read(raw::bytes(STEM_FIELD.into(), b"1")).unwrap().stem);
}

#[test]
fn a_message_longer_than_127_bytes_has_two_byte_lengths() {
    let frame = message_frame(&a(), &[7; 200]);
    let head = hex("d101 12 ce01 12 c801");
    assert_eq!(&frame[..head.len()], head);
    assert_eq!(&frame[head.len() + 200..], hex("220161"));
}

#[test]
fn an_empty_message_still_has_its_data_field() {
    assert_eq!(message_frame(&a(), b""), hex("07 1205 1200 220161"));
}

#[test]
fn graft() {
    let rpc = Rpc {
        graft: vec![a()],
        ..Rpc::default()
    };
    check(|e| e.graft(&a()), "07 1a05 1a03 0a0161", &rpc);
}

#[test]
fn prune_of_each_version() {
    let rpc = |backoff_s, peers| {
        let topic = a();
        let prune = vec![Prune {
            topic,
            peers,
            backoff_s,
        }];
        Rpc {
            prune,
            ..Rpc::default()
        }
    };
    let v1_0 = rpc(None, vec![]);
    check(|e| e.prune(&a(), None, &[]), "07 1a05 2203 0a0161", &v1_0);
    let v1_1 = rpc(Some(60), vec![]);
    check(
        |e| e.prune(&a(), Some(60), &[]),
        "09 1a07 2205 0a0161 183c",
        &v1_1,
    );
    let (peer_id, record) = (Bytes::from_static(&[1, 2]), Bytes::from_static(&[9]));
    let offered = [(peer_id.clone(), record.clone())];
    let px = rpc(Some(60), vec![PxPeer { peer_id, record }]);
    let golden = "12 1a10 220e 0a0161 1207 0a020102 120109 183c";
    check(|e| e.prune(&a(), Some(60), &offered), golden, &px);
    let (peer_id, record) = (Bytes::from_static(&[1, 2]), Bytes::new());
    let offered = [(peer_id.clone(), record.clone())];
    let px = rpc(Some(300), vec![PxPeer { peer_id, record }]);
    let golden = "10 1a0e 220c 0a0161 1204 0a020102 18ac02";
    check(|e| e.prune(&a(), Some(300), &offered), golden, &px);
}

#[test]
fn ihave() {
    let (topic, ids) = (a(), vec![ID]);
    let rpc = Rpc {
        ihave: vec![IHave { topic, ids }],
        ..Rpc::default()
    };
    let golden = format!("29 1a27 0a25 0a0161 1220 {}", "11".repeat(32));
    check(|e| e.ihave(&a(), &[ID]), &golden, &rpc);
}

#[test]
fn iwant() {
    let rpc = Rpc {
        iwant: vec![ID],
        ..Rpc::default()
    };
    let golden = format!("26 1a24 1222 0a20 {}", "11".repeat(32));
    check(|e| e.iwant(&[ID]), &golden, &rpc);
}

#[test]
fn idontwant() {
    let rpc = Rpc {
        idontwant: vec![ID],
        idontwant_entries: 1,
        ..Rpc::default()
    };
    let golden = format!("26 1a24 2a22 0a20 {}", "11".repeat(32));
    check(|e| e.idontwant(&[ID]), &golden, &rpc);
}

#[test]
fn subscriptions_and_control_share_a_frame() {
    let subscriptions = vec![Subscription {
        subscribe: true,
        topic: a(),
    }];
    let rpc = Rpc {
        subscriptions,
        graft: vec![a(), Topic::new("b")],
        ..Rpc::default()
    };
    let write = |e: &mut Encoder| {
        e.graft(&a());
        e.subscription(true, &a());
        e.graft(&Topic::new("b"));
    };
    check(
        write,
        "13 0a05 0801 120161 1a0a 1a03 0a0161 1a03 0a0162",
        &rpc,
    );
}

#[test]
fn an_encoder_without_entries_writes_no_frame_and_is_empty_after_writing() {
    let mut encoder = Encoder::default();
    assert_eq!(encoder.finish(), None);
    encoder.graft(&a());
    assert!(encoder.finish().is_some() && encoder.is_empty());
    assert_eq!(encoder.finish(), None);
}

/// Bytes as go-libp2p writes them: a signed message, and PRUNE with every field.
#[test]
fn fields_that_waku_forbids_are_noticed() {
    for field in ["0a0101", "1a0101", "2a0101", "320101"] {
        let body = hex(&format!("12026869 220161 {field}"));
        let rpc = read(raw::bytes(2, &body)).unwrap();
        assert!(rpc.messages[0].signed, "{field}");
    }
    for field in ["0a00", "1a00", "2a00", "3200"] {
        let body = hex(&format!("12026869 220161 {field}"));
        let rpc = read(raw::bytes(2, &body)).unwrap();
        assert!(!rpc.messages[0].signed, "{field} is empty");
    }
}
