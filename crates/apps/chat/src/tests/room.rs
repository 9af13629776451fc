use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_payload::{OpenError, SymmetricKey};

use super::{ChatRoom, UnreadableMessage};

const NOW_NS: u64 = 1_700_000_000_123_456_789;

fn room(key: Option<u8>) -> ChatRoom {
    ChatRoom {
        content_topic: "/toy-chat/2/huilong/proto".to_owned(),
        pubsub_topic: PubsubTopic::parse("/waku/2/rs/66/3").unwrap(),
        key: key.map(|byte| SymmetricKey::from_bytes([byte; 32])),
    }
}

fn hello(from: &ChatRoom) -> WakuMessage {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    from.write("alice", "hello", NOW_NS, &mut rng).unwrap()
}

#[test]
fn members_read_each_other() {
    for key in [None, Some(1)] {
        let read = room(key).read(&hello(&room(key))).unwrap();
        assert_eq!(
            (&read.nick[..], &read.text[..]),
            (&b"alice"[..], &b"hello"[..])
        );
        assert_eq!(
            (read.sent_ns, read.is_encrypted),
            (Some(NOW_NS), key.is_some())
        );
    }
}

#[test]
fn an_encrypted_room_hides_nick_and_text() {
    let message = hello(&room(Some(1)));
    let contains = |text: &[u8]| message.payload.windows(text.len()).any(|part| part == text);
    assert!(!contains(b"alice") && !contains(b"hello"));
    assert_eq!(message.version, Some(1));
}

#[test]
fn who_has_no_key_or_another_reads_nothing() {
    let message = hello(&room(Some(1)));
    let other = OpenError::OtherKeyOrChanged;
    assert_eq!(
        room(Some(2)).read(&message),
        Err(UnreadableMessage::Sealed(other))
    );
    assert_eq!(room(None).read(&message), Err(UnreadableMessage::NoKey));
}

#[test]
fn clear_text_in_an_encrypted_room_is_known_as_such() {
    let read = room(Some(1)).read(&hello(&room(None))).unwrap();
    assert!(!read.is_encrypted);
}

#[test]
fn other_versions_and_other_contents_are_named() {
    let mut message = hello(&room(None));
    message.version = Some(2);
    let version = UnreadableMessage::Version { version: 2 };
    assert_eq!(room(Some(1)).read(&message), Err(version));
    let message = WakuMessage::new("{}", "/toy-chat/2/huilong/proto");
    let read = room(None).read(&message);
    assert!(matches!(read, Err(UnreadableMessage::Body(_))), "{read:?}");
}

#[test]
fn the_time_is_the_envelopes_or_else_the_bodys() {
    let mut message = hello(&room(None));
    message.timestamp = None;
    let sent_ns = |message: &WakuMessage| room(None).read(message).unwrap().sent_ns;
    assert_eq!(sent_ns(&message), Some(1_700_000_000_000_000_000));
    let body = |timestamp| {
        let body = super::Body {
            timestamp,
            nick: b"a",
            payload: b"b",
        };
        WakuMessage::new(body.encode(), "/toy-chat/2/huilong/proto")
    };
    // Clients in JavaScript wrote milliseconds.
    assert_eq!(
        sent_ns(&body(1_700_000_000_123)),
        Some(1_700_000_000_123_000_000)
    );
    assert_eq!(sent_ns(&body(0)), None);
    assert_eq!(sent_ns(&body(u64::MAX)), None);
}

#[test]
fn messages_of_other_rooms_are_not_the_rooms() {
    let (room, mut message) = (room(None), hello(&room(None)));
    assert!(room.carries(&room.pubsub_topic, &message));
    let other = PubsubTopic::parse("/waku/2/rs/66/4").unwrap();
    assert!(!room.carries(&other, &message));
    message.content_topic = "/toy-chat/2/other/proto".into();
    assert!(!room.carries(&room.pubsub_topic, &message));
}
