use super::*;

#[test]
fn the_request_id_of_a_broken_frame_can_still_be_read() {
    let mut frame = Vec::new();
    put_text(&mut frame, REQUEST_ID, "abc");
    frame.extend_from_slice(&[0xff; 20]);
    assert_eq!(request_id_in(&frame, &TextLimits::default()), Some("abc"));
}

#[test]
fn a_request_id_that_is_absent_or_too_long_is_not_read() {
    let limits = TextLimits::default();
    assert_eq!(request_id_in(&[0xff; 20], &limits), None);
    assert_eq!(request_id_in(&[], &limits), None);
    let mut frame = Vec::new();
    put_text(&mut frame, REQUEST_ID, &"a".repeat(257));
    assert_eq!(request_id_in(&frame, &limits), None);
    frame.clear();
    put_bytes_field(&mut frame, REQUEST_ID, &[0xff]);
    assert_eq!(request_id_in(&frame, &limits), None);
}

#[test]
fn a_long_description_is_cut_off_even_within_a_character() {
    let limits = TextLimits {
        max_status_desc_bytes: 3,
        ..TextLimits::default()
    };
    assert_eq!(description("abcd".as_bytes(), &limits), "abc");
    assert_eq!(description("abé".as_bytes(), &limits), "ab\u{fffd}");
}

/// Request id of the frames that js-waku wrote.
pub(crate) const JS_REQUEST_ID: &str = "6b9e0e0e-5b0a-4c7e-9d1a-2f1f0c3d4e5f";

/// Pubsub topic of the frames that js-waku wrote.
pub(crate) const TOPIC: &str = "/waku/2/rs/1/0";

/// Message of the frames that js-waku wrote.
pub(crate) fn js_message() -> WakuMessage {
    WakuMessage {
        timestamp: Some(1_700_000_000_000_000_000),
        ephemeral: Some(true),
        ..WakuMessage::new("hello", "/my-app/1/chat/proto")
    }
}

/// Returns a frame that js-waku wrote, by `@waku/proto` 0.0.15; the program is beside the file.
pub(crate) fn golden(name: &str) -> Bytes {
    let line = include_str!("../../tests/vectors/js-waku.txt")
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap_or_else(|| panic!("no vector {name}"));
    hex::decode(line).unwrap().into()
}
