//! The way of a member: identity, registration, messages within the limit.

use std::fs;

use serde_json::Value;
use undertone_message::WakuMessage;
use undertone_rln::{MessageIdCounter, RateLimitProof};

use crate::support::place::{EPOCH_NS, Place, T, TOPIC, text};

#[test]
fn from_a_new_identity_to_a_verified_message() {
    let (place, alice) = Place::with_member(3);
    assert_eq!(alice["index"], 0);
    assert_eq!(
        (&alice["created"], &alice["limit"]),
        (&true.into(), &3.into())
    );
    place.run("rln keygen --out bob").succeeded();
    let bob = place.run("rln register --registry r --identity bob --json");
    let bob = bob.json(0);
    // Without --limit: the most that the network gives.
    assert_eq!((&bob["index"], &bob["limit"]), (&1.into(), &100.into()));
    assert_eq!(bob["created"], false);
    assert_ne!(alice["root"], bob["root"]);

    let list = place.run("rln list --registry r --json").json(0);
    assert_eq!(list["root"], bob["root"]);
    let rows: Vec<_> = list["members"].as_array().unwrap().iter().collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["commitment"], alice["commitment"]);
    assert_eq!(rows[1]["commitment"], bob["commitment"]);

    let proved = place.prove(T, "--payload hello --out m").json(0);
    assert_eq!(proved["epoch"], T / EPOCH_NS);
    assert_eq!(
        (&proved["index"], &proved["message_id"]),
        (&0.into(), &0.into())
    );
    let hex = text(&proved["message"]);
    assert_eq!(fs::read_to_string(place.path("m")).unwrap().trim(), hex);
    let message = WakuMessage::decode(&hex::decode(hex).unwrap().into()).unwrap();
    assert_eq!(&message.payload[..], b"hello");
    assert_eq!(
        (&*message.content_topic, message.timestamp_ns()),
        (TOPIC, T as i64)
    );
    let proof = message.rate_limit_proof.unwrap();
    assert_eq!(hex::encode(&proof), text(&proved["proof"]));
    assert!(RateLimitProof::decode(&proof).is_ok());

    let line = format!("rln verify --registry r --message m --now-ns {T} --json");
    let verdict = place.run(&line);
    let verdict = verdict.succeeded().json(0);
    assert_eq!(
        (&verdict["valid"], &verdict["stage"]),
        (&true.into(), &Value::Null)
    );
    assert_eq!(
        (&verdict["epoch"], &verdict["root"]),
        (&proved["epoch"], &bob["root"])
    );
    // The same from standard input, with 0x and a line break in the middle.
    let (head, tail) = hex.split_at(100);
    let again = place.verify(&format!("0x{head}\n{tail}\n"), &format!("--now-ns {T}"));
    assert_eq!(again.json(0), verdict);
}

#[test]
fn a_payload_from_a_file_is_the_payload() {
    let (place, _) = Place::with_member(3);
    fs::write(place.path("p"), "hello").unwrap();
    let from_text = place.prove(T, "--payload hello").json(0);
    let from_file = place.prove(T, "--payload-file p").json(0);
    assert_eq!(from_text["message_hash"], from_file["message_hash"]);
    assert_eq!(from_text["pubsub_topic"], from_file["pubsub_topic"]);
    // Two messages, two ids; were they equal, the secret would be out.
    assert_ne!(from_text["message_id"], from_file["message_id"]);
}

#[test]
fn people_get_text_with_the_same_values() {
    let (place, alice) = Place::with_member(3);
    let line = format!(
        "rln prove --registry r --identity alice --counter c --content-topic {TOPIC} \
         --timestamp-ns {T} --out m"
    );
    let proved = place.run(&line);
    assert!(
        proved.succeeded().stdout.contains("message     in m\n"),
        "{proved:?}"
    );
    let valid = place.run(&format!("rln verify --registry r --message m --now-ns {T}"));
    assert!(
        valid.succeeded().stdout.starts_with("verdict    valid\n"),
        "{valid:?}"
    );
    let invalid = place.run("rln verify --registry r --message m --now-ns 0");
    assert_eq!(invalid.code, 1);
    assert!(
        invalid.stdout.starts_with("verdict  not valid\n"),
        "{invalid:?}"
    );
    assert!(invalid.stderr.contains("help: "), "{invalid:?}");
    let list = place.run("rln list --registry r");
    assert!(
        list.succeeded().stdout.contains(text(&alice["commitment"])),
        "{list:?}"
    );
    let removed = place.run("rln remove --registry r --index 0");
    assert!(
        removed.succeeded().stdout.contains("removed   0\n"),
        "{removed:?}"
    );
}

#[test]
fn the_limit_holds_across_runs_until_the_epoch_is_over() {
    let (place, _) = Place::with_member(2);
    let first = place.prove(T, "").json(0);
    let second = place.prove(T + 1, "").json(0);
    assert_eq!(
        (&first["message_id"], &second["message_id"]),
        (&0.into(), &1.into())
    );
    place
        .prove(T + 2, "")
        .failed(1, &["error: c: ", "limit of 2", "used up", "help: "]);
    let next = place.prove(T + EPOCH_NS, "").json(0);
    assert_eq!(next["message_id"], 0);
    place
        .prove(T + 3, "")
        .failed(1, &["error: c: ", "is closed", "--timestamp-ns"]);
}

#[test]
fn a_counter_in_use_is_not_used_twice() {
    let (place, _) = Place::with_member(2);
    let held = MessageIdCounter::open(place.path("c"), 2).unwrap();
    place
        .prove(T, "")
        .failed(1, &["c.lock", "locked by another process"]);
    drop(held);
    place.prove(T, "").json(0);
    fs::write(place.path("c"), "junk").unwrap();
    place.prove(T, "").failed(1, &["error: c: damaged"]);
}

#[test]
fn the_secret_is_in_the_file_and_nowhere_else() {
    let place = Place::new();
    for (out, json) in [("a", ""), ("b", "--json")] {
        let ran = place.run(&format!("rln keygen --out {out} {json}"));
        ran.succeeded();
        let file: Value = serde_json::from_slice(&fs::read(place.path(out)).unwrap()).unwrap();
        for field in ["trapdoor", "nullifier", "secret"] {
            assert!(!ran.stdout.contains(text(&file[field])), "{field}");
        }
        assert!(ran.stdout.contains(text(&file["commitment"])));
    }
    assert_ne!(
        fs::read(place.path("a")).unwrap(),
        fs::read(place.path("b")).unwrap()
    );
}
