use super::*;

const NOW_NS: i64 = 1_700_000_000_000_000_000;

fn parse(json: &str) -> Result<RelayWakuMessage, String> {
    serde_json::from_str(json).map_err(|e| e.to_string())
}

fn refusal(json: &str) -> String {
    parse(json).unwrap_err()
}

#[test]
fn a_minimal_message_gets_its_defaults() {
    let message = parse(r#"{"payload": "aGk=", "contentTopic": "/a/1/b/proto"}"#);
    let message = message.unwrap().into_message(NOW_NS).unwrap();
    let expected = WakuMessage {
        version: Some(0),
        timestamp: Some(NOW_NS),
        ephemeral: Some(false),
        ..WakuMessage::new(&b"hi"[..], "/a/1/b/proto")
    };
    assert_eq!(message, expected);
}

#[test]
fn a_full_message_keeps_its_fields() {
    let json = r#"{"payload":"aGk=","contentTopic":"/a/1/b/proto","version":2,"timestamp":-5,
        "meta":"/w==","ephemeral":true,"proof":"AQI="}"#;
    let message = parse(json).unwrap().into_message(NOW_NS).unwrap();
    assert_eq!(message.version, Some(2));
    assert_eq!(message.timestamp, Some(-5));
    assert_eq!(message.meta.as_deref(), Some(&[0xff][..]));
    assert_eq!(message.rate_limit_proof.as_deref(), Some(&[1, 2][..]));
    assert!(message.is_ephemeral());
    let answer = serde_json::to_string(&RelayWakuMessage::from(&message)).unwrap();
    assert_eq!(answer, json.replace(char::is_whitespace, ""));
}

#[test]
fn an_answer_carries_everything_but_an_empty_meta() {
    let message = WakuMessage::new(vec![], "t");
    assert_eq!(
        serde_json::to_string(&RelayWakuMessage::from(&message)).unwrap(),
        r#"{"payload":"","contentTopic":"t","version":0,"timestamp":0,"ephemeral":false,"proof":""}"#
    );
}

#[test]
fn a_zero_timestamp_is_stamped() {
    let json = r#"{"payload": "aGk=", "contentTopic": "t", "timestamp": 0}"#;
    assert_eq!(
        parse(json).unwrap().into_message(NOW_NS).unwrap().timestamp,
        Some(NOW_NS)
    );
}

#[test]
fn each_fault_is_named() {
    for (json, expected) in [
        (
            r#"{"contentTopic":"t"}"#,
            "Field `payload` is missing or empty",
        ),
        (
            r#"{"payload":" ","contentTopic":"t"}"#,
            "Field `payload` is missing or empty",
        ),
        (
            r#"{"payload":"aGk="}"#,
            "Field `contentTopic` is missing or empty",
        ),
        (
            r#"{"payload":"aGk=","payload":"aGk="}"#,
            "Multiple `payload` fields found",
        ),
        (
            r#"{"payload":"aGk=","contentTopic":"t","contenttopic":1}"#,
            "Unknown field `contenttopic`",
        ),
        (
            r#"{"payload":"aGk=","contentTopic":"t","version":null}"#,
            "invalid type: null",
        ),
        (
            r#"{"payload":"aGk=","contentTopic":"t","version":-1}"#,
            "invalid value: integer `-1`",
        ),
        (
            r#"{"payload":"aGk=","contentTopic":"t","timestamp":1.5}"#,
            "invalid type: floating",
        ),
        (r#"["payload"]"#, "expected a RelayWakuMessage object"),
    ] {
        let refusal = refusal(json);
        assert!(refusal.contains(expected), "{json}: {refusal}");
    }
}

#[test]
fn base64_and_meta_are_checked() {
    let build = |payload: &str, meta: &str| {
        let json = format!(r#"{{"payload":"{payload}","contentTopic":"t","meta":"{meta}"}}"#);
        parse(&json).unwrap().into_message(NOW_NS)
    };
    assert_eq!(build("a", ""), Err("Incorrect base64 string".into()));
    assert_eq!(build("aGk=", "*"), Err("Incorrect base64 string".into()));
    assert!(build("aGk=", &STANDARD.encode([7; 64])).is_ok());
    assert_eq!(
        build("aGk=", &STANDARD.encode([7; 65])),
        Err("meta has 65 bytes; at most 64 are accepted".into())
    );
}
