use super::{Command, Content, Delivery, Event, Outcome, Ready, Reply, Request};

fn both_ways<T>(value: &T, line: &str)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    assert_eq!(serde_json::to_string(value).unwrap(), line);
    assert_eq!(&serde_json::from_str::<T>(line).unwrap(), value);
}

#[test]
fn requests_are_flat_objects() {
    let topic = || "t".to_owned();
    let cases = [
        (
            Command::Connect {
                addr: "/ip4/1.2.3.4/tcp/5/p2p/Q".to_owned(),
            },
            r#"{"ref":7,"cmd":"connect","addr":"/ip4/1.2.3.4/tcp/5/p2p/Q"}"#,
        ),
        (
            Command::Subscribe { topic: topic() },
            r#"{"ref":7,"cmd":"subscribe","topic":"t"}"#,
        ),
        (
            Command::Unsubscribe { topic: topic() },
            r#"{"ref":7,"cmd":"unsubscribe","topic":"t"}"#,
        ),
        (
            Command::Publish {
                topic: topic(),
                content: Content::Stamped { seq: 3, size: 2048 },
            },
            r#"{"ref":7,"cmd":"publish","topic":"t","seq":3,"size":2048}"#,
        ),
        (
            Command::Publish {
                topic: topic(),
                content: Content::Raw {
                    hex: "00ff".to_owned(),
                },
            },
            r#"{"ref":7,"cmd":"publish","topic":"t","hex":"00ff"}"#,
        ),
        (
            Command::Peers { topic: topic() },
            r#"{"ref":7,"cmd":"peers","topic":"t"}"#,
        ),
        (
            Command::Mesh { topic: topic() },
            r#"{"ref":7,"cmd":"mesh","topic":"t"}"#,
        ),
        (Command::Stat, r#"{"ref":7,"cmd":"stat"}"#),
        (Command::Control, r#"{"ref":7,"cmd":"control"}"#),
        (Command::Quit, r#"{"ref":7,"cmd":"quit"}"#),
    ];
    for (command, line) in cases {
        both_ways(
            &Request {
                reference: 7,
                command,
            },
            line,
        );
    }
}

#[test]
fn replies_say_ok_or_error() {
    both_ways(
        &Reply {
            reference: 1,
            outcome: Outcome::Ok(serde_json::json!({ "id": "ab" })),
        },
        r#"{"ref":1,"ok":{"id":"ab"}}"#,
    );
    both_ways(
        &Reply {
            reference: 2,
            outcome: Outcome::Error("no such topic".to_owned()),
        },
        r#"{"ref":2,"error":"no such topic"}"#,
    );
}

#[test]
fn events_name_themselves() {
    both_ways(
        &Event::Ready(Ready {
            peer: "P".to_owned(),
            addrs: vec!["/a".to_owned()],
        }),
        r#"{"event":"ready","peer":"P","addrs":["/a"]}"#,
    );
    both_ways(
        &Event::Message(Delivery {
            topic: "t".to_owned(),
            id: "00".to_owned(),
            from: "P".to_owned(),
            seq: Some(1),
            latency_ns: None,
            bytes: 2,
            head: "0102".to_owned(),
        }),
        r#"{"event":"message","topic":"t","id":"00","from":"P","seq":1,"latency_ns":null,"bytes":2,"head":"0102"}"#,
    );
}
