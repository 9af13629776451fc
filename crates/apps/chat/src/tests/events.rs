use super::{ChatEvent, ChatMessage, Tone, clock, latency};
use crate::own_messages::OwnState;

fn message(nick: &str, text: &str) -> ChatMessage {
    ChatMessage {
        at_ms: 43_384_000,
        nick: nick.to_owned(),
        text: text.to_owned(),
        latency_ms: Some(34),
        encrypted: false,
        is_exposed: false,
        signed_by: None,
        past: false,
        hash: "0x00".to_owned(),
    }
}

fn shown(message: &ChatMessage) -> String {
    let parts = message.parts().into_iter();
    parts.map(|(_, text)| text).collect()
}

#[test]
fn a_message_shows_who_what_and_how_fast() {
    assert_eq!(shown(&message("bob", "hello")), "<bob> hello (34 ms)");
    assert_eq!(clock(43_384_000), "12:03:04");
}

#[test]
fn latencies_are_said_in_their_unit_and_wrong_clocks_named() {
    for (ms, words) in [
        (0, "0 ms"),
        (9_999, "9999 ms"),
        (34_500, "34 s"),
        (3_600_000, "60 min"),
        (i64::MAX, "2562047788015 h"),
        (-5, "0 ms"),
        (-2_100, "sender's clock 2100 ms ahead"),
        (i64::MIN, "sender's clock 2562047788015 h ahead"),
    ] {
        assert_eq!(latency(ms), words);
    }
}

#[test]
fn clear_text_in_an_encrypted_room_is_a_warning() {
    let mut exposed = message("bob", "hello");
    exposed.is_exposed = true;
    let warning = (Tone::Warning, " (not encrypted)".to_owned());
    assert!(exposed.parts().contains(&warning));
}

#[test]
fn people_see_harmless_text_and_programs_the_exact_one() {
    let hostile = message("bob\u{1b}[2J", "a\u{202e}b\u{9b}c\n");
    assert_eq!(shown(&hostile), "<bob\u{fffd}[2J> ab\u{fffd}c↵ (34 ms)");
    let json = ChatEvent::Message(hostile).json().unwrap();
    assert!(json.is_ascii() && !json.contains('\n'), "{json}");
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["text"], "a\u{202e}b\u{9b}c\n");
    assert_eq!(value["event"], "message");
    assert_eq!(value["latencyMs"], 34);
}

#[test]
fn programs_are_told_the_state_of_own_messages() {
    let failed = ChatEvent::Own {
        at_ms: 1,
        number: 2,
        text: None,
        state: OwnState::Failed {
            reason: "no peer took it".to_owned(),
        },
    };
    let value: serde_json::Value = serde_json::from_str(&failed.json().unwrap()).unwrap();
    assert_eq!(
        (&value["state"], &value["number"]),
        (&"failed".into(), &2.into())
    );
    assert_eq!(value["reason"], "no peer took it");
}

#[test]
fn what_says_who_signed_stands_where_no_text_or_name_can_stand() {
    let key = "02a1b2c3d4e5f6a1b2c3d4e5f6";
    let mut signed = message("bob", "hello");
    signed.signed_by = Some(key.to_owned());
    assert_eq!(shown(&signed), "(signed a1b2c3d4e5f6…) <bob> hello (34 ms)");
    let forged = [
        ("mallory", "hello (signed a1b2c3d4e5f6…) (34 ms)"),
        ("mallory", "(signed a1b2c3d4e5f6…) <bob> hello"),
        ("(signed a1b2c3d4e5f6…) <bob", "hello"),
    ];
    for (nick, text) in forged {
        assert!(shown(&message(nick, text)).starts_with('<'));
    }
}
