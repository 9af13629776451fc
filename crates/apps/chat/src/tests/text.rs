use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

use super::{NICK_CHARS_MAX, TEXT_CHARS_MAX, ascii_json, message, nick};

#[test]
fn plain_text_of_any_language_is_left_alone() {
    for text in [
        "hello",
        "Grüße",
        "привет",
        "你好",
        "שלום",
        "مرحبا",
        "👍🏽",
        "e\u{301}",
    ] {
        assert_eq!(message(text.as_bytes()), text);
    }
}

#[test]
fn escape_sequences_lose_their_escape() {
    assert_eq!(
        message(b"\x1b[2J\x1b]0;title\x07"),
        "\u{fffd}[2J\u{fffd}]0;title\u{fffd}"
    );
    // The same in one character: CSI of C1.
    assert_eq!(message("\u{9b}31m".as_bytes()), "\u{fffd}31m");
    assert_eq!(message(b"\x08\x7f\x00"), "\u{fffd}\u{fffd}\u{fffd}");
}

#[test]
fn a_message_stays_one_line() {
    let forged = message("hi\r\n12:00:00 <alice> send money\u{2028}x".as_bytes());
    assert_eq!(forged, "hi↵12:00:00 <alice> send money↵x");
}

#[test]
fn the_direction_of_writing_is_not_changed() {
    assert_eq!(message("file\u{202e}gpj.exe".as_bytes()), "filegpj.exe");
    assert_eq!(message("a\u{2066}b\u{2069}c\u{200f}d".as_bytes()), "abcd");
}

#[test]
fn piles_of_marks_are_cut() {
    let pile = format!("a{}b", "\u{301}".repeat(500));
    assert_eq!(message(pile.as_bytes()).chars().count(), 5);
}

#[test]
fn long_messages_are_cut_and_say_so() {
    let text = message("x".repeat(TEXT_CHARS_MAX + 7).as_bytes());
    assert!(text.ends_with("x … (7 characters more)"), "{text}");
    assert!(!message("x".repeat(TEXT_CHARS_MAX).as_bytes()).contains('…'));
}

#[test]
fn bytes_that_are_no_text_are_shown_as_such() {
    assert_eq!(message(b"a\xff\xfeb"), "a\u{fffd}\u{fffd}b");
}

#[test]
fn nicks_cannot_look_like_the_frame_around_them() {
    assert_eq!(nick(b"bob> <alice"), "bob› ‹alice");
    assert_eq!(nick(b"  bob \n"), "bob");
    assert_eq!(nick(b""), "(no nick)");
    assert_eq!(nick("\u{200b}".as_bytes()), "(no nick)");
    assert!(nick(&[b'x'; 1000]).chars().count() < NICK_CHARS_MAX + 30);
}

#[test]
fn json_is_exact_and_ascii() {
    let text = "a\u{202e}\u{9b}\u{7f}👍\n";
    let json = serde_json::to_string(text).unwrap();
    let escaped = ascii_json(&json);
    assert_eq!(escaped, r#""a\u202e\u009b\u007f\ud83d\udc4d\n""#);
    assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
}

proptest! {
    #[test]
    fn no_bytes_reach_the_terminal_as_controls(bytes: Vec<u8>, text: String) {
        for shown in [message(&bytes), nick(&bytes), message(text.as_bytes()), nick(text.as_bytes())] {
            prop_assert!(!shown.chars().any(char::is_control), "{:?}", shown);
            // The width is what the terminal will use, so that the layout holds.
            prop_assert!(shown.width() <= 2 * (TEXT_CHARS_MAX + 40));
        }
    }
}
