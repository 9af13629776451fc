use proptest::prelude::*;

use super::*;
use crate::store::vectors;

fn decode(bytes: &[u8]) -> Result<StoreRequest, RequestError> {
    StoreRequest::decode(bytes, &StoreLimits::default())
}

fn decode_hex(text: &str) -> StoreRequest {
    decode(&hex::decode(text).unwrap()).unwrap()
}

fn js_content() -> ContentCriteria {
    ContentCriteria {
        pubsub_topic: Some("/waku/2/rs/66/3".into()),
        content_topics: vec!["/interop/1/test/proto".into()],
        ..ContentCriteria::default()
    }
}

fn js_request(criteria: HistoryCriteria) -> StoreRequest {
    StoreRequest {
        request_id: "8f3f0b1c-3f1c-4f5e-9a86-1a6d4c7b2e10".into(),
        query: HistoryQuery {
            include_data: true,
            criteria,
            cursor: None,
            direction: PageDirection::Forward,
            limit: PAGE_DEFAULT,
        },
    }
}

/// Bytes of a valid request followed by one more field.
fn with_field(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = vec![0x0a, 1, b'r'];
    put(&mut bytes);
    bytes
}

#[test]
fn what_js_waku_sends_is_understood() {
    let first = js_request(HistoryCriteria::Content(js_content()));
    assert_eq!(decode_hex(vectors::FIRST_PAGE), first);
    let mut backward = first;
    backward.query.direction = PageDirection::Backward;
    assert_eq!(
        decode_hex(vectors::BACKWARD),
        backward,
        "js-waku leaves a `false` out"
    );

    let mut later = js_request(HistoryCriteria::Content(ContentCriteria {
        start_ns: Some(1_700_000_000_000_000_000),
        end_ns: Some(1_700_003_600_000_000_000),
        ..js_content()
    }));
    later.query.cursor = Some(MessageHash([0xab; 32]));
    later.query.limit = 50;
    assert_eq!(decode_hex(vectors::TIMES_AND_CURSOR), later);

    let hashes = vec![MessageHash([0xab; 32]), MessageHash([0xcd; 32])];
    assert_eq!(
        decode_hex(vectors::HASHES),
        js_request(HistoryCriteria::Hashes(hashes)),
        "js-waku names the topic beside hashes"
    );
}

#[test]
fn a_request_of_js_waku_is_encoded_to_the_same_bytes() {
    let later = decode_hex(vectors::TIMES_AND_CURSOR);
    assert_eq!(hex::encode(later.encode()), vectors::TIMES_AND_CURSOR);
}

#[test]
fn every_field_is_where_servers_look_for_it() {
    let request = StoreRequest {
        request_id: "".into(),
        query: HistoryQuery {
            include_data: false,
            criteria: HistoryCriteria::Content(ContentCriteria {
                pubsub_topic: Some("t".into()),
                content_topics: vec!["a".into(), "b".into()],
                start_ns: Some(-1),
                end_ns: Some(1),
            }),
            cursor: Some(MessageHash([7; 32])),
            direction: PageDirection::Backward,
            limit: 100,
        },
    };
    let golden = [
        "0a0010005201745a01615a0162600168029a0320",
        &"07".repeat(32),
        "a00300a80364",
    ]
    .concat();
    assert_eq!(hex::encode(request.encode()), golden);
    assert_eq!(decode(&request.encode()), Ok(request));
}

#[test]
fn page_sizes_are_those_of_nwaku() {
    let size = |put: &dyn Fn(&mut Vec<u8>)| decode(&with_field(put)).unwrap().query.limit;
    assert_eq!(size(&|_| {}), 20);
    for (asked, given) in [(0, 20), (1, 1), (100, 100), (101, 100), (u64::MAX, 100)] {
        assert_eq!(size(&|out| put_varint_field(out, 53, asked)), given);
    }
}

#[test]
fn a_request_without_an_id_is_refused() {
    assert_eq!(decode(&[0x10, 1]), Err(RequestError::MissingRequestId));
    assert!(decode(&[0x0a, 0]).is_ok());
}

#[test]
fn hashes_exclude_content_topics_and_times() {
    for number in [11, 12, 13] {
        let bytes = with_field(|out| {
            put_bytes_field(out, 20, &[1; 32]);
            match number {
                11 => put_bytes_field(out, 11, b"/a/1/b/c"),
                _ => put_varint_field(out, number, 5),
            }
        });
        assert_eq!(decode(&bytes), Err(RequestError::HashesAndContent));
    }
}

#[test]
fn every_limit_is_the_last_value_accepted() {
    let limits = StoreLimits {
        max_request_id_bytes: 3,
        max_hashes: 2,
        max_content_topics: 2,
        max_topic_bytes: 4,
        max_request_bytes: 100,
        ..StoreLimits::default()
    };
    let accepts = |bytes: &[u8]| StoreRequest::decode(bytes, &limits).is_ok();
    let repeated = |number, item: &[u8], times| {
        with_field(|out| (0..times).for_each(|_| put_bytes_field(out, number, item)))
    };
    assert!(accepts(&repeated(1, b"abc", 1)) && !accepts(&repeated(1, b"abcd", 1)));
    assert!(accepts(&repeated(10, b"abcd", 1)) && !accepts(&repeated(10, b"abcde", 1)));
    assert!(accepts(&repeated(11, b"abcd", 2)) && !accepts(&repeated(11, b"abcde", 1)));
    assert!(!accepts(&repeated(11, b"abcd", 3)));
    assert!(accepts(&repeated(20, &[1; 32], 2)) && !accepts(&repeated(20, &[1; 32], 3)));
    assert!(accepts(&repeated(99, &[0; 94], 1)) && !accepts(&repeated(99, &[0; 95], 1)));
}

#[test]
fn malformed_values_are_refused() {
    let short = with_field(|out| put_bytes_field(out, 20, &[1; 31]));
    let field = 20;
    let size_bytes = 31;
    assert_eq!(
        decode(&short),
        Err(RequestError::HashLength { field, size_bytes })
    );
    let zero = with_field(|out| put_bytes_field(out, 51, &[0; 32]));
    assert_eq!(decode(&zero), Err(RequestError::ZeroCursor));
    let direction = with_field(|out| put_varint_field(out, 52, 2));
    assert_eq!(
        decode(&direction),
        Err(RequestError::Direction { value: 2 })
    );
    let text = with_field(|out| put_bytes_field(out, 10, &[0xff]));
    assert_eq!(decode(&text), Err(RequestError::NotUtf8 { field: 10 }));
}

#[test]
fn the_id_of_a_bad_request_is_found() {
    let bad = with_field(|out| put_bytes_field(out, 51, &[0; 32]));
    let limits = StoreLimits::default();
    assert_eq!(StoreRequest::request_id_in(&bad, &limits), Some("r"));
    assert_eq!(StoreRequest::request_id_in(&[0xff; 8], &limits), None);
    let long = [&[0x0a, 0x81, 0x02][..], &[b'x'; 257]].concat();
    assert_eq!(StoreRequest::request_id_in(&long, &limits), None);
}

fn any_request() -> impl Strategy<Value = StoreRequest> {
    let hash = || any::<[u8; 32]>().prop_map(MessageHash);
    let topic = || "[a-z/]{0,12}".prop_map(Arc::<str>::from);
    let content = (
        prop::option::of(topic()),
        prop::collection::vec(topic(), 0..4),
        any::<Option<i64>>(),
        any::<Option<i64>>(),
    );
    let content = content.prop_map(|(pubsub_topic, content_topics, start_ns, end_ns)| {
        HistoryCriteria::Content(ContentCriteria {
            pubsub_topic,
            content_topics,
            start_ns,
            end_ns,
        })
    });
    let hashes = prop::collection::vec(hash(), 1..4).prop_map(HistoryCriteria::Hashes);
    let cursor = prop::option::of(hash().prop_filter("a message's hash", |h| h.0 != [0; 32]));
    (
        ".{0,20}",
        any::<bool>(),
        prop_oneof![content, hashes],
        cursor,
        any::<bool>(),
        1..=PAGE_MAX,
    )
        .prop_map(|(id, include_data, criteria, cursor, forward, limit)| {
            let direction = match forward {
                true => PageDirection::Forward,
                false => PageDirection::Backward,
            };
            StoreRequest {
                request_id: id.into(),
                query: HistoryQuery {
                    include_data,
                    criteria,
                    cursor,
                    direction,
                    limit,
                },
            }
        })
}

proptest! {
    #[test]
    fn requests_round_trip(request in any_request()) {
        prop_assert_eq!(decode(&request.encode()), Ok(request));
    }

    #[test]
    fn mutated_requests_never_panic(
        request in any_request(),
        at: prop::sample::Index,
        byte: u8,
        cut: prop::sample::Index,
    ) {
        let mut bytes = request.encode();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(cut.index(bytes.len() + 1));
        let _ = decode(&bytes);
        let _ = StoreRequest::request_id_in(&bytes, &StoreLimits::default());
    }

    #[test]
    fn arbitrary_bytes_never_panic(input in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = decode(&input);
    }
}
