use bytes::Bytes;
use proptest::prelude::*;
use undertone_message::WakuMessage;

use super::{SendRecord, SendRecordError, SendStage, SenderLimits, checksum};
use crate::sending::SendId;
use crate::sending::part::{PartEnd, PartPlace};

fn sample() -> SendRecord {
    let mut message = WakuMessage::new(b"hello".to_vec(), "/app/1/chat/proto");
    message.timestamp = Some(1_700_000_000_000_000_000);
    message.rate_limit_proof = Some(Bytes::from_static(&[7, 8, 9]));
    SendRecord {
        id: SendId(0x1122_3344),
        pubsub_topic: "/waku/2/rs/1/0".into(),
        message,
        created_ns: 1_700_000_000_000_000_001,
        stage: SendStage::Ready,
        attempt: 2,
        is_self_stamped: true,
        is_given: true,
        part: None,
        end: None,
    }
}

#[test]
fn golden_record() {
    let bytes = sample().encode();
    let expected = concat!(
        "01",                                     // version
        "08c4e6888901",                           // id
        "120e2f77616b752f322f72732f312f30",       // pubsub topic
        "1a2a0a0568656c6c6f12112f6170702f312f63", // message: payload, content topic,
        "6861742f70726f746f508080d0e2c6bfce972f", // timestamp,
        "aa0103070809",                           // proof
        "208180a8b1e39fe7cb17",                   // time of queueing
        "2802",                                   // stage: ready
        "3002",                                   // second proof
        "3801",                                   // the sender's timestamp
        "4001",                                   // given out
        "f5252c1b",                               // checksum
    );
    assert_eq!(hex::encode(&bytes), expected);
    assert_eq!(
        SendRecord::decode(&bytes, &SenderLimits::default()),
        Ok(sample())
    );
}

#[test]
fn golden_record_of_a_fragment_with_its_end() {
    let id = SendId(0x1122_3344);
    let mut record = sample();
    record.part = PartPlace::of(id, SendId(0x1122_3343), 2);
    let bytes = record.encode();
    let (body, _) = bytes.split_last_chunk::<4>().unwrap();
    let tail = concat!(
        "48c3e6888901", // number of the message
        "5002",         // in two fragments
    );
    assert!(hex::encode(body).ends_with(&format!("4001{tail}")));
    let decode = |bytes: &Bytes| SendRecord::decode(bytes, &SenderLimits::default());
    assert_eq!(decode(&bytes), Ok(record.clone()));
    record.end_part(PartEnd::NoStore);
    let bytes = record.encode();
    let text = hex::encode(&bytes);
    assert!(
        text.contains(&format!("28043002380140{}", "01")),
        "stage: {text}"
    );
    let (body, _) = bytes.split_last_chunk::<4>().unwrap();
    assert!(hex::encode(body).ends_with(&format!("{tail}5803")));
    assert!(!bytes.windows(5).any(|part| part == b"hello"));
    assert_eq!(decode(&bytes), Ok(record.clone()));
    record.part = None;
    let decoded = decode(&record.encode());
    assert_eq!(decoded, Err(SendRecordError::Field(11)), "only fragments");
}

#[test]
fn a_fragment_has_its_place_in_its_message() {
    let place = |id, whole, count| PartPlace::of(SendId(id), SendId(whole), count);
    assert!(place(7, 7, 2).is_some() && place(8, 7, 2).is_some());
    for (id, whole, count) in [(9, 7, 2), (6, 7, 2), (7, 7, 1), (7, 7, 65)] {
        assert_eq!(place(id, whole, count), None, "{id} {whole} {count}");
    }
}

#[test]
fn a_record_written_in_part_is_damaged() {
    let bytes = sample().encode();
    for len in 0..bytes.len() {
        let part = bytes.slice(..len);
        let decoded = SendRecord::decode(&part, &SenderLimits::default());
        assert_eq!(decoded, Err(SendRecordError::Damaged), "{len} bytes");
    }
}

#[test]
fn a_record_of_another_version_says_so() {
    let mut body = sample().encode().to_vec();
    body.truncate(body.len() - 4);
    body[0] = 2;
    let sum = checksum(&body);
    body.extend(sum);
    let decoded = SendRecord::decode(&body.into(), &SenderLimits::default());
    assert_eq!(decoded, Err(SendRecordError::Version(2)));
}

#[test]
fn a_record_longer_than_any_message_is_not_read() {
    let bytes = Bytes::from(vec![1; 200 * 1024]);
    let decoded = SendRecord::decode(&bytes, &SenderLimits::default());
    assert!(matches!(decoded, Err(SendRecordError::TooLarge { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_bytes_with_a_right_checksum_are_decoded_without_panic(mut body in proptest::collection::vec(any::<u8>(), 0..200)) {
        body.insert(0, 1);
        let sum = checksum(&body);
        body.extend(sum);
        let _ = SendRecord::decode(&body.into(), &SenderLimits::default());
    }

    #[test]
    fn records_come_back_as_written(
        payload in proptest::collection::vec(any::<u8>(), 0..100),
        timestamp in any::<Option<i64>>(),
        id in any::<u64>(),
        attempt in any::<u32>(),
        stage in 0..4_u64,
        flags in any::<(bool, bool)>(),
    ) {
        let mut record = sample();
        record.message.payload = payload.into();
        record.message.timestamp = timestamp;
        record.id = SendId(id);
        record.attempt = attempt;
        record.stage = SendStage::from_number(stage).unwrap();
        (record.is_given, record.is_self_stamped) = flags;
        prop_assert_eq!(SendRecord::decode(&record.encode(), &SenderLimits::default()), Ok(record));
    }
}
