use proptest::prelude::*;

use super::*;

fn message() -> TransferMessage {
    TransferMessage {
        pubsub_topic: "/waku/2/rs/1/0".into(),
        message: WakuMessage {
            timestamp: Some(1),
            ..WakuMessage::new(b"hi".to_vec(), "/a/1/b/c")
        },
    }
}

fn decode(bytes: Vec<u8>) -> Result<TransferMessage, TransferError> {
    TransferMessage::decode(&bytes.into(), &MessageLimits::default())
}

#[test]
fn topic_and_message_are_fields_1_and_2() {
    let golden = "0a0e2f77616b752f322f72732f312f3012100a02686912082f612f312f622f635002";
    assert_eq!(hex::encode(message().encode()), golden);
    assert_eq!(decode(hex::decode(golden).unwrap()), Ok(message()));
    let stored = message().into_stored();
    assert_eq!(
        stored,
        StoredMessage::new("/waku/2/rs/1/0", message().message)
    );
}

#[test]
fn topic_and_message_are_required() {
    assert_eq!(decode(vec![0x12, 0]), Err(TransferError::MissingTopic));
    assert_eq!(decode(vec![0x0a, 0]), Err(TransferError::MissingMessage));
    let not_utf8 = vec![0x0a, 1, 0xff, 0x12, 0];
    assert_eq!(decode(not_utf8), Err(TransferError::TopicNotUtf8));
    let error = DecodeError::MissingPayload;
    assert_eq!(decode(vec![0x0a, 0, 0x12, 0]), Err(error.into()));
}

#[test]
fn a_message_of_the_largest_size_is_accepted_and_no_larger_one() {
    let sized = |len: usize| TransferMessage {
        message: WakuMessage::new(vec![0; len], "c"),
        ..message()
    };
    let fits = sized(1024 * 1024 - 7);
    assert_eq!(fits.message.encoded_len(), 1024 * 1024);
    assert!(decode(fits.encode()).is_ok());
    assert!(decode(sized(1024 * 1024 - 6).encode()).is_err());
    let huge = vec![0; 1024 * 1024 + OVERHEAD_MAX + 1];
    assert!(matches!(decode(huge), Err(TransferError::TooLarge { .. })));
}

proptest! {
    #[test]
    fn mutated_messages_never_panic(at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
        let mut bytes = message().encode();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes.truncate(cut.index(bytes.len() + 1));
        let _ = decode(bytes);
    }
}
