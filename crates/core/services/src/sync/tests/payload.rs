use proptest::prelude::*;

use super::*;

fn decode(bytes: &[u8]) -> Result<RangesPayload, PayloadError> {
    RangesPayload::decode(bytes, &SyncLimits::default())
}

fn id(time_ns: u64, hash: u8) -> SyncId {
    SyncId {
        time_ns,
        hash: MessageHash([hash; 32]),
    }
}

fn range(lower: SyncId, upper: SyncId, content: RangeContent) -> SyncRange {
    SyncRange {
        lower,
        upper,
        content,
    }
}

fn items(elements: &[SyncId], reconciled: bool) -> RangeContent {
    RangeContent::Items(ItemSet {
        elements: elements.to_vec(),
        reconciled,
    })
}

fn payload(ranges: Vec<SyncRange>) -> RangesPayload {
    RangesPayload {
        ranges,
        ..RangesPayload::default()
    }
}

/// Checks that a payload has these bytes, in hex with spaces, and that they are read back.
fn golden(payload: &RangesPayload, hex: &str) {
    let hex = hex.replace(' ', "");
    assert_eq!(hex::encode(payload.encode()), hex);
    assert_eq!(decode(&hex::decode(hex).unwrap()).as_ref(), Ok(payload));
}

// The vectors below are written by hand from the form that nwaku's `waku_store_sync/codec.nim` reads and
// writes (logos-messaging/logos-delivery at 69fbffa3); no published vectors exist.

#[test]
fn a_payload_without_ranges_is_one_zero() {
    golden(&RangesPayload::default(), "00");
    assert_eq!(decode(&[]), Ok(RangesPayload::default()));
}

#[test]
fn the_first_payload_of_a_session_has_topics_times_and_a_fingerprint() {
    let fingerprint = RangeContent::Fingerprint(Fingerprint([0xf1; 32]));
    let start_ns = 1_700_000_000_000_000_000;
    let first = RangesPayload {
        pubsub_topics: vec!["/waku/2/rs/1/0".into()],
        content_topics: vec!["/a/1/b/c".into(), "".into()],
        ranges: vec![range(
            SyncId::at(start_ns),
            SyncId::at(start_ns + 3_600_000_000_000),
            fingerprint,
        )],
    };
    let topics = "01 0e 2f77616b752f322f72732f312f30 02 08 2f612f312f622f63 00";
    let times = "8080a8b1e39fe7cb17 80c0e285e368";
    golden(&first, &format!("{topics} {times} 01 {}", "f1".repeat(32)));
}

#[test]
fn the_times_of_an_item_set_begin_at_zero() {
    let elements = [id(300, 1), id(300, 2), id(310, 3)];
    let lower = SyncId::at(256);
    let two = payload(vec![
        range(lower, SyncId::at(400), items(&elements, false)),
        range(SyncId::at(400), SyncId::at(401), RangeContent::Skip),
        range(SyncId::at(401), SyncId::at(411), items(&[], true)),
    ]);
    let hash = |byte: &str| byte.repeat(32);
    let hex = format!(
        "00 00 8002  9001 02 03 ac02{} 00{} 0a{} 00  01 00  0a 02 00 01",
        hash("01"),
        hash("02"),
        hash("03")
    );
    golden(&two, &hex);
}

#[test]
fn a_range_within_a_timestamp_says_the_first_bytes_of_its_end() {
    let mut middle = SyncId::at(1);
    middle.hash.0[..3].copy_from_slice(&[9, 0, 7]);
    let within = payload(vec![
        range(SyncId::at(1), SyncId::at(1), RangeContent::Skip),
        range(SyncId::at(1), middle, items(&[id(1, 3)], true)),
        range(middle, SyncId::at(2), RangeContent::Skip),
    ]);
    let hex = format!(
        "00 00 01  00 00 00  00 03 090007 02 01 01{} 01  01 00",
        "03".repeat(32)
    );
    golden(&within, &hex);
    // nwaku writes more bytes than needed.
    let padded = "00 00 01  00 04 09000700 00".replace(' ', "");
    let padded = decode(&hex::decode(padded).unwrap()).unwrap();
    assert_eq!(padded.ranges[0].upper, middle);
}

#[test]
fn malformed_payloads_are_refused() {
    let error = |hex: &str| decode(&hex::decode(hex.replace(' ', "")).unwrap()).unwrap_err();
    let value = |offset| PayloadError::Value { offset };
    assert_eq!(error("00 00 80"), value(2));
    assert_eq!(error("00 00 01 05"), value(4));
    assert_eq!(error("00 00 01 05 01 ff"), value(5));
    assert_eq!(error("01 05 61"), value(2));
    assert_eq!(error("01 01 ff 00 01"), PayloadError::Topic { offset: 2 });
    let undefined = |offset, value| PayloadError::Undefined { offset, value };
    assert_eq!(error("00 00 01 05 03"), undefined(4, 3));
    assert_eq!(error("00 00 01 00 21"), undefined(4, 33));
    assert_eq!(error("00 00 01 05 02 00 02"), undefined(6, 2));
    assert_eq!(
        error("00 00 01 00 01 05 00 00 01 04 00"),
        PayloadError::Backward { offset: 10 }
    );
    let large = "00 00 ffffffffffffffff7f 01 00";
    assert_eq!(error(large), PayloadError::Time { offset: 11 });
    let (count, max) = (1025, 1024);
    assert_eq!(error("8108 00"), PayloadError::TooManyTopics { count, max });
}

#[test]
fn items_are_in_order_and_within_their_range() {
    let (lower, upper) = (SyncId::at(10), SyncId::at(20));
    let misplaced = |elements: &[SyncId]| {
        let bytes = payload(vec![range(lower, upper, items(elements, true))]).encode();
        matches!(decode(&bytes), Err(PayloadError::Misplaced { .. }))
    };
    assert!(!misplaced(&[id(10, 0), id(10, 1), id(19, 0xff)]));
    assert!(misplaced(&[id(9, 0xff)]));
    assert!(misplaced(&[id(20, 0)]));
    assert!(misplaced(&[id(15, 2), id(15, 1)]));
    assert!(misplaced(&[id(15, 2), id(15, 2)]));
}

#[test]
fn payloads_are_bounded() {
    let limits = SyncLimits {
        max_payload_bytes: 60,
        max_topics: 2,
        max_topic_bytes: 3,
        max_ranges: 4,
        ..SyncLimits::default()
    };
    let decode = |payload: &RangesPayload| RangesPayload::decode(&payload.encode(), &limits);
    let skips = |count: u64| {
        let skip = |at| range(SyncId::at(at), SyncId::at(at + 1), RangeContent::Skip);
        payload((0..count).map(skip).collect())
    };
    assert!(decode(&skips(4)).is_ok());
    assert_eq!(
        decode(&skips(5)),
        Err(PayloadError::TooManyRanges { max: 4 })
    );
    let topics = |topics: &[&str]| RangesPayload {
        content_topics: topics.iter().map(|&topic| topic.into()).collect(),
        ..skips(1)
    };
    assert!(decode(&topics(&["abc", "abc"])).is_ok());
    assert!(decode(&topics(&["abcd"])).is_err());
    assert!(decode(&topics(&["a", "b", "c"])).is_err());
    let two = [0, 1].map(|at| {
        let content = RangeContent::Fingerprint(Fingerprint([1; 32]));
        range(SyncId::at(at), SyncId::at(at + 1), content)
    });
    assert!(matches!(
        decode(&payload(two.to_vec())),
        Err(PayloadError::TooLarge { .. })
    ));
}

#[test]
fn a_count_without_items_allocates_nothing() {
    let bytes = hex::decode("0000010502ffffffffffffffff7f").unwrap();
    assert_eq!(decode(&bytes), Err(PayloadError::Value { offset: 14 }));
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(input in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(payload) = decode(&input) {
            let again = payload.encode();
            if !payload.ranges.is_empty() {
                prop_assert_eq!(decode(&again), Ok(payload));
            }
        }
    }
}
