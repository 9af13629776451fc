use proptest::prelude::*;

use super::{Body, BodyError};

const HELLO: Body<'static> = Body {
    timestamp: 1_700_000_000,
    nick: b"alice",
    payload: "hé".as_bytes(),
};

#[test]
fn the_bytes_are_those_of_the_other_chats() {
    // protobufjs 7 with the three fields of RFC 22.
    assert_eq!(
        hex::encode(HELLO.encode()),
        "0880e2cfaa061205616c6963651a0368c3a9"
    );
    assert_eq!(Body::decode(&HELLO.encode()), Ok(HELLO));
}

#[test]
fn fields_of_later_versions_are_skipped() {
    let mut bytes = HELLO.encode();
    bytes.extend([0x20, 7, 0x2a, 2, 1, 2]);
    assert_eq!(Body::decode(&bytes), Ok(HELLO));
}

#[test]
fn a_body_may_lack_its_time_or_its_nick() {
    let body = Body::decode(&[0x1a, 1, b'x']).unwrap();
    assert_eq!(
        (body.timestamp, body.nick, body.payload),
        (0, &b""[..], &b"x"[..])
    );
}

#[test]
fn what_says_nothing_is_no_chat_message() {
    for bytes in [&[][..], &[0x08, 1], &[0x0a, 1, b'x']] {
        assert_eq!(Body::decode(bytes), Err(BodyError::Empty), "{bytes:?}");
    }
    assert!(matches!(Body::decode(b"hello"), Err(BodyError::Field(_))));
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(timestamp: u64, nick in ".{1,9}", payload: Vec<u8>) {
        let body = Body { timestamp, nick: nick.as_bytes(), payload: &payload };
        let encoded = body.encode();
        prop_assert_eq!(Body::decode(&encoded), Ok(body));
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes: Vec<u8>) {
        let _ = Body::decode(&bytes);
    }
}
