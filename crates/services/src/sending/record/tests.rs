use bytes::Bytes;
use proptest::prelude::*;
use undertone_message::WakuMessage;

use super::{SendRecord, SendRecordError, SendStage, SenderLimits, checksum};
use crate::sending::SendId;

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
