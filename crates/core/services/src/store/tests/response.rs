use proptest::prelude::*;

use super::*;
use crate::store::vectors;

fn decode(bytes: Vec<u8>) -> Result<StoreResponse, ResponseError> {
    StoreResponse::decode(&bytes.into(), &StoreLimits::default())
}

fn message(payload: &[u8]) -> WakuMessage {
    WakuMessage {
        version: Some(0),
        timestamp: Some(1_700_000_000_000_000_000),
        ephemeral: Some(false),
        ..WakuMessage::new(payload.to_vec(), "/interop/1/test/proto")
    }
}

fn entry(hash: u8, message: Option<WakuMessage>) -> HistoryEntry {
    HistoryEntry {
        hash: MessageHash([hash; 32]),
        data: message.map(|message| HistoryData {
            pubsub_topic: "/waku/2/rs/66/3".into(),
            message,
        }),
    }
}

fn page_of(entries: Vec<HistoryEntry>) -> StoreResponse {
    StoreResponse {
        request_id: "r-1".into(),
        status: StoreStatus::Ok,
        description: "OK".into(),
        page: HistoryPage {
            entries,
            next: Some(MessageHash([0xcd; 32])),
        },
    }
}

/// Response of which one entry has the given fields.
fn with_entry(put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut entry = Vec::new();
    put(&mut entry);
    let mut bytes = StoreResponse::refusal("r", StoreStatus::Ok, "OK").encode();
    put_bytes_field(&mut bytes, 20, &entry);
    bytes
}

#[test]
fn responses_have_the_bytes_of_js_waku() {
    let page = page_of(vec![
        entry(0xab, Some(message(&[1, 2, 3]))),
        entry(0xcd, None),
    ]);
    let refusal = StoreResponse::refusal("N/A", StoreStatus::TooManyRequests, "TOO_MANY_REQUESTS");
    for (response, golden) in [
        (page, vectors::RESPONSE_PAGE),
        (refusal, vectors::RESPONSE_REFUSED),
    ] {
        assert_eq!(hex::encode(response.encode()), golden);
        assert_eq!(decode(hex::decode(golden).unwrap()), Ok(response));
    }
}

#[test]
fn what_nwaku_requires_is_written_when_empty() {
    let empty = StoreResponse::refusal("", StoreStatus::Other(0), "");
    assert_eq!(hex::encode(empty.encode()), "0a0050005a00");
    for (missing, bytes) in [(1, "50005a00"), (10, "0a005a00")] {
        assert_eq!(
            decode(hex::decode(bytes).unwrap()),
            Err(ResponseError::Missing { field: missing })
        );
    }
}

#[test]
fn an_absent_description_is_an_empty_one() {
    let refused = StoreResponse::refusal("", StoreStatus::ServiceUnavailable, "");
    assert_eq!(decode(hex::decode("0a0050f703").unwrap()), Ok(refused));
}

#[test]
fn lengths_are_known_before_encoding() {
    let response = page_of(vec![entry(1, Some(message(&[0; 300]))), entry(2, None)]);
    let entries: usize = response.page.entries.iter().map(entry_field_len).sum();
    let overhead = response_overhead("r-1", "OK");
    let bytes = response.encode();
    assert_eq!(bytes.capacity(), entries + overhead, "it did not grow");
    assert!(entries + overhead <= bytes.len() + 4);
}

#[test]
fn a_message_that_only_others_can_read_does_not_hide_its_page() {
    let not_utf8 = [0x0a, 1, 1, 0x12, 1, 0xff];
    let bytes = with_entry(|out| {
        put_bytes_field(out, 1, &[9; 32]);
        put_bytes_field(out, 2, &not_utf8);
        put_bytes_field(out, 3, b"t");
    });
    assert_eq!(decode(bytes).unwrap().page.entries, [entry(9, None)]);

    let no_payload = with_entry(|out| {
        put_bytes_field(out, 1, &[9; 32]);
        put_bytes_field(out, 2, &[0x12, 0]);
        put_bytes_field(out, 3, b"t");
    });
    let error = DecodeError::MissingPayload;
    assert_eq!(
        decode(no_payload),
        Err(ResponseError::Message { index: 0, error })
    );
}

#[test]
fn a_message_needs_a_hash_of_32_bytes() {
    let short = with_entry(|out| put_bytes_field(out, 1, &[9; 33]));
    let (field, size_bytes) = (1, 33);
    assert_eq!(
        decode(short),
        Err(ResponseError::HashLength { field, size_bytes })
    );
    assert_eq!(
        decode(with_entry(|_| {})),
        Err(ResponseError::NoHash { index: 0 })
    );
}

#[test]
fn responses_are_bounded() {
    let limits = StoreLimits {
        max_response_messages: 2,
        max_response_bytes: 200,
        max_description_bytes: 2,
        ..StoreLimits::default()
    };
    let decode = |response: &StoreResponse| {
        let bytes = response.encode();
        StoreResponse::decode(&bytes.into(), &limits)
    };
    let hashes = |count| page_of(vec![entry(1, None); count]);
    assert!(decode(&hashes(2)).is_ok());
    let max = 2;
    assert_eq!(
        decode(&hashes(3)),
        Err(ResponseError::TooManyMessages { max })
    );
    let large = page_of(vec![entry(1, Some(message(&[0; 60])))]);
    assert!(matches!(
        decode(&large),
        Err(ResponseError::TooLarge { max_bytes: 200, .. })
    ));
    let wordy = StoreResponse::refusal("r", StoreStatus::Ok, "yes");
    assert_eq!(decode(&wordy), Err(ResponseError::Text { field: 11 }));
}

fn any_response() -> impl Strategy<Value = StoreResponse> {
    let data = prop::option::of(prop::collection::vec(any::<u8>(), 0..40));
    let entries = prop::collection::vec((any::<u8>(), data), 0..5);
    ("[a-z]{0,9}", any::<u32>(), entries).prop_map(|(id, code, entries)| StoreResponse {
        request_id: id.into(),
        status: StoreStatus::from_code(code),
        ..page_of(
            entries
                .into_iter()
                .map(|(hash, payload)| entry(hash, payload.map(|p| message(&p))))
                .collect(),
        )
    })
}

proptest! {
    #[test]
    fn responses_round_trip(response in any_response()) {
        prop_assert_eq!(decode(response.encode()), Ok(response));
    }

    #[test]
    fn mutated_responses_never_panic(
        response in any_response(),
        at: prop::sample::Index,
        byte: u8,
        cut: prop::sample::Index,
    ) {
        let mut bytes = response.encode();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(cut.index(bytes.len() + 1));
        let _ = decode(bytes);
    }
}
