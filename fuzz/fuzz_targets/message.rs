//! Messages, topics and metadata as relays and light clients receive them.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use undertone_message::{
    ContentTopic, PubsubTopic, WakuMessage, WakuMetadata, message_hash, shard_of,
};

fuzz_target!(|input: &[u8]| {
    if let Ok(message) = WakuMessage::decode(&Bytes::copy_from_slice(input)) {
        let encoded = message.encode();
        assert_eq!(encoded.len(), message.encoded_len());
        let again = WakuMessage::decode(&encoded.into());
        assert_eq!(again.as_ref(), Ok(&message));
        message_hash("/waku/2/rs/1/0", &message);
    }
    WakuMessage::content_topic_in(input);
    if let Ok(metadata) = WakuMetadata::decode(input)
        && let Ok(encoded) = metadata.encode()
    {
        assert_eq!(WakuMetadata::decode(&encoded), Ok(metadata));
    }
    if let Ok(text) = str::from_utf8(input) {
        if let Ok(topic) = PubsubTopic::parse_any(text) {
            assert_eq!(topic.to_string(), text);
        }
        if let Ok(topic) = ContentTopic::parse(text) {
            shard_of(&topic, 8.try_into().expect("eight is not zero"));
        }
    }
});
