//! Every limit is reached exactly and then exceeded by one; then malformed bytes of each kind.

use bytes::Bytes;

use super::read;
use crate::error::Malformed;
use crate::limits::Limits;
use crate::tests::raw::{self, bytes, fixed64, number};
use crate::types::MessageId;
use crate::wire::{VARINT_LEN_MAX, VarintError, decode, read_varint};

fn tiny() -> Limits {
    Limits {
        frame_bytes_max: 2_000,
        topic_bytes_max: 8,
        subscriptions_per_rpc_max: 3,
        messages_per_rpc_max: 4,
        control_entries_per_rpc_max: 5,
        ids_per_rpc_max: 6,
        px_peers_per_prune_max: 2,
        px_record_bytes_max: 10,
        ..Limits::default()
    }
}

fn with_tiny(rpc: Vec<u8>) -> Result<crate::wire::Rpc, Malformed> {
    decode(&Bytes::from(rpc), &tiny())
}

fn too_many(what: &'static str, max: usize) -> Malformed {
    Malformed::TooMany { what, max }
}

#[test]
fn frame_bytes() {
    let frame = |len: usize| with_tiny(bytes(99, &vec![0; len - 4]));
    assert!(frame(2_000).is_ok());
    let error = Malformed::FrameTooLarge {
        len: 2_001,
        max: 2_000,
    };
    assert_eq!(frame(2_001), Err(error));
}

#[test]
fn topic_bytes_wherever_a_topic_stands() {
    let error = Malformed::TopicTooLong { len: 9, max: 8 };
    let entries: [fn(&str) -> Vec<u8>; 5] = [
        raw::subscribe,
        |t| raw::publish(t, b"m"),
        |t| raw::ihave(t, &[]),
        raw::graft,
        |t| raw::prune(t, None, &[]),
    ];
    for (i, entry) in entries.into_iter().enumerate() {
        assert!(with_tiny(entry("12345678")).is_ok(), "entry {i}");
        assert_eq!(with_tiny(entry("123456789")), Err(error), "entry {i}");
    }
}

#[test]
fn counted_entries() {
    let ids = raw::made_up_ids(0, 1);
    let entries = [
        ("subscriptions", 3, raw::subscribe("t")),
        ("messages", 4, raw::publish("t", b"m")),
        ("IHAVE", 5, raw::ihave("t", &[])),
        ("IWANT", 5, raw::iwant(&[])),
        ("GRAFT", 5, raw::graft("t")),
        ("PRUNE", 5, raw::prune("t", None, &[])),
        ("IDONTWANT", 5, raw::idontwant(&ids)),
    ];
    for (what, max, entry) in entries {
        assert!(with_tiny(entry.repeat(max)).is_ok(), "{what}");
        assert_eq!(with_tiny(entry.repeat(max + 1)), Err(too_many(what, max)));
    }
}

#[test]
fn entries_are_counted_within_one_control_message_as_well() {
    let control = |count: usize| bytes(3, &bytes(3, &bytes(1, b"t")).repeat(count));
    assert!(with_tiny(control(5)).is_ok());
    assert_eq!(with_tiny(control(6)), Err(too_many("GRAFT", 5)));
}

#[test]
fn ids_are_cut_over_all_entries_of_a_kind() {
    let ids = raw::made_up_ids(0, 4);
    let kinds = [
        raw::ihave("t", &ids),
        raw::iwant(&ids),
        raw::idontwant(&ids),
    ];
    for entry in kinds {
        let rpc = with_tiny(entry.repeat(2)).unwrap();
        let ihave: usize = rpc.ihave.iter().map(|ihave| ihave.ids.len()).sum();
        assert_eq!(ihave + rpc.iwant.len() + rpc.idontwant.len(), 6);
    }
}

#[test]
fn ids_of_another_length_cannot_name_a_message_and_are_skipped() {
    let ids = [vec![1; 31], vec![2; 32], vec![3; 33], vec![]];
    let fields: Vec<_> = ids.iter().flat_map(|id| bytes(1, id)).collect();
    let rpc = read(bytes(3, &bytes(2, &fields))).unwrap();
    assert_eq!(rpc.iwant, [MessageId([2; 32])]);
}

#[test]
fn peers_in_exchange() {
    let long = [0; 11];
    let fits: (&[u8], &[u8]) = (b"0123456789", b"0123456789");
    let peers = |px: &[(&[u8], &[u8])]| {
        let rpc = with_tiny(raw::prune("t", Some(u64::MAX), px)).unwrap();
        assert_eq!(
            rpc.prune[0].backoff_s,
            Some(u64::MAX),
            "clamped by the router"
        );
        rpc.prune[0].peers.len()
    };
    assert_eq!(peers(&[fits, fits]), 2);
    assert_eq!(peers(&[fits, fits, fits]), 2, "further ones are skipped");
    assert_eq!(peers(&[(&long, b"")]), 0);
    assert_eq!(peers(&[(b"id", &long)]), 0);
    assert_eq!(peers(&[(b"", b"record")]), 0, "nobody");
}

#[test]
fn unknown_fields_are_skipped_at_every_level() {
    let noise = [
        number(77, 5),
        fixed64(78, 6),
        bytes(79, b"x"),
        [raw::varint(80 * 8 + 5), vec![1, 2, 3, 4]].concat(),
        number(1 << 40, 0),
    ]
    .concat();
    let noisy = |field: u64, inner: Vec<u8>| bytes(field, &[noise.clone(), inner].concat());
    let topic = bytes(1, b"t");
    let subscription = noisy(1, [number(1, 1), bytes(2, b"t")].concat());
    let message = noisy(2, [bytes(2, b"m"), bytes(4, b"t")].concat());
    let control = [
        noisy(1, [topic.clone(), bytes(2, &[1; 32])].concat()),
        noisy(2, bytes(1, &[2; 32])),
        noisy(3, topic.clone()),
        noisy(4, [topic, noisy(2, bytes(1, b"id")), number(3, 7)].concat()),
        noisy(5, bytes(1, &[3; 32])),
        // extensions (v1.3) and fields of drafts
        bytes(6, &bytes(10, b"")),
        bytes(7, b""),
    ];
    let control = noisy(3, control.concat());
    let rpc = read([noise.clone(), subscription, message, control, noise.clone()].concat());
    let rpc = rpc.unwrap();
    assert_eq!((rpc.subscriptions.len(), rpc.messages.len()), (1, 1));
    assert_eq!(
        (rpc.ihave[0].ids.len(), rpc.iwant.len(), rpc.idontwant.len()),
        (1, 1, 1)
    );
    assert_eq!((rpc.graft.len(), rpc.prune[0].peers.len()), (1, 1));
    assert_eq!(rpc.prune[0].backoff_s, Some(7));
}

#[test]
fn known_fields_of_another_wire_type_are_skipped() {
    let rpc = [number(1, 1), number(2, 1), number(3, 1), fixed64(1, 1)].concat();
    assert_eq!(read(rpc), Ok(crate::wire::Rpc::default()));
    let prune = [bytes(1, b"t"), bytes(3, b"x"), number(2, 9)].concat();
    let rpc = read(bytes(3, &bytes(4, &prune))).unwrap();
    assert_eq!(
        (rpc.prune[0].backoff_s, rpc.prune[0].peers.len()),
        (None, 0)
    );
}

#[test]
fn the_last_of_a_repeated_single_field_counts() {
    let body = [
        bytes(2, b"1"),
        bytes(4, b"a"),
        bytes(2, b"2"),
        bytes(4, b"b"),
    ]
    .concat();
    let rpc = read(bytes(2, &body)).unwrap();
    assert_eq!(
        (&rpc.messages[0].data[..], rpc.messages[0].topic.as_str()),
        (&b"2"[..], "b")
    );
}

#[test]
fn groups_and_reserved_wire_types_are_refused() {
    for wire_type in [3, 4, 6, 7u8] {
        let error = Malformed::WireType { wire_type };
        assert_eq!(read(vec![8 * 9 + wire_type, 0]), Err(error));
        let nested = bytes(3, &bytes(3, &[8 * 9 + wire_type, 0]));
        assert_eq!(read(nested), Err(error));
    }
}

#[test]
fn field_number_0_is_refused() {
    assert_eq!(read(vec![0x00, 0x00]), Err(Malformed::FieldZero));
    assert_eq!(read(vec![0x02, 0x00]), Err(Malformed::FieldZero));
}

#[test]
fn missing_topics_are_refused() {
    let empty = [bytes(1, b""), bytes(2, b"")];
    let control = [1, 3, 4].map(|kind| bytes(3, &bytes(kind, b"")));
    for rpc in empty.into_iter().chain(control) {
        assert!(matches!(read(rpc), Err(Malformed::Missing { .. })));
    }
}

#[test]
fn topics_that_are_not_text_are_refused() {
    let rpc = bytes(3, &bytes(3, &bytes(1, &[0xff, 0xfe])));
    assert_eq!(read(rpc), Err(Malformed::TopicNotUtf8));
}

#[test]
fn every_truncation_of_a_frame_is_refused_or_a_shorter_frame() {
    let parts = [
        raw::subscribe("topic"),
        raw::publish("topic", b"data"),
        raw::prune("topic", Some(300), &[(b"id", b"record")]),
        fixed64(9, 1),
    ];
    let whole = parts.concat();
    let mut boundaries = vec![0];
    for part in &parts {
        boundaries.push(boundaries.last().unwrap() + part.len());
    }
    for end in 0..=whole.len() {
        let rpc = read(whole[..end].to_vec());
        assert_eq!(
            rpc.is_ok(),
            boundaries.contains(&end),
            "{end} bytes: {rpc:?}"
        );
    }
}

#[test]
fn lengths_past_the_end_are_refused_at_every_level() {
    for len in [4, 1 << 20, u64::MAX] {
        let long = |field: u64| [raw::varint(field * 8 + 2), raw::varint(len), vec![0; 3]].concat();
        let inner = [bytes(1, &long(2)), bytes(2, &long(2)), bytes(3, &long(3))];
        let deep = bytes(3, &bytes(4, &bytes(2, &long(1))));
        for rpc in inner.into_iter().chain([long(1), long(99), deep]) {
            assert_eq!(read(rpc), Err(Malformed::Truncated));
        }
    }
}

#[test]
fn varints() {
    let ten = |last: u8| [vec![0xff; VARINT_LEN_MAX - 1], vec![last]].concat();
    assert_eq!(read_varint(&[0x00]), Ok((0, 1)));
    assert_eq!(read_varint(&[0xac, 0x02, 0x99]), Ok((300, 2)));
    assert_eq!(
        read_varint(&[0x80, 0x00]),
        Ok((0, 2)),
        "longer than need be"
    );
    assert_eq!(read_varint(&ten(0x01)), Ok((u64::MAX, 10)));
    assert_eq!(read_varint(&ten(0x02)), Err(VarintError::Overflow));
    assert_eq!(read_varint(&ten(0x81)), Err(VarintError::Overflow));
    assert_eq!(read_varint(&[0x80; 11]), Err(VarintError::Overflow));
    for len in 0..VARINT_LEN_MAX {
        assert_eq!(read_varint(&vec![0x80; len]), Err(VarintError::Incomplete));
    }
    let error = Malformed::Varint(VarintError::Incomplete);
    assert_eq!(read(vec![0x80]), Err(error));
    assert_eq!(read(vec![0x08, 0x80]), Err(error));
}
