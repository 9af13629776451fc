//! What a member can do to its own identity: timestamps far ahead, two nodes at once.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::command::{PublishFailure, Published};
use undertone_rln::Epoch;

use crate::support::{HANG, Place, ask, metrics_until};

fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

async fn publish(node: &Assembled, text: &str) -> Result<Published, PublishFailure> {
    let message = WakuMessage::new(text.to_owned().into_bytes(), "/test/1/a/proto");
    node.node.handle.publish(topic(), message).await
}

/// What `/debug/v1/rln` says.
async fn debug(node: &Assembled) -> String {
    ask(node.rest.unwrap(), "GET", "/debug/v1/rln", "").await.1
}

async fn wait_for_mesh(nodes: &[&Assembled]) {
    let mesh = format!("undertone_mesh_peers{{topic=\"{}\"}}", topic());
    for node in nodes {
        metrics_until(node, |now| now[&mesh] >= 1.0).await;
    }
}

async fn delivered(node: &Assembled, messages: f64) {
    let now = metrics_until(node, |now| {
        now["undertone_messages_delivered_total"] >= messages
    });
    assert_eq!(now.await["undertone_spammers_exposed_total"], 0.0);
}

#[tokio::test]
async fn a_node_that_has_stopped_leaves_its_folder_to_the_next_at_once() {
    let place = Place::new();
    place.join(b"alice");
    let flags = [("rln-tokens", "4"), ("rln-tokens-max-cpu", "100")];
    for _ in 0..3 {
        let node = assemble(&place.config(&[], &flags)).await.unwrap();
        // It is preparing its first tokens.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let outcome = node.stop().await;
        assert!(outcome.is_complete(), "{outcome:?}");
    }
}

#[tokio::test]
async fn c13_a_far_timestamp_is_refused_and_ends_nothing() {
    let alices = Place::new();
    alices.join(b"alice");
    let bobs = Place::with_registry_of(&alices);
    let bob = bobs.node(&[]).await;
    let peers = [bob.node.addresses[0].to_string()];
    for start in ["first", "second"] {
        let alice = assemble(&alices.config(&peers, &[])).await.unwrap();
        wait_for_mesh(&[&alice, &bob]).await;
        for timestamp in ["9000000000000000000", "1", "-1"] {
            let body = format!(
                r#"{{"payload":"aGVsbG8=","contentTopic":"/test/1/a/proto","timestamp":{timestamp}}}"#
            );
            let path = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F0";
            let (status, said) = ask(alice.rest.unwrap(), "POST", path, &body).await;
            assert_eq!(status, 400, "{said}");
            for part in [timestamp, "our clock", "at most 20 s"] {
                assert!(said.contains(part), "{said}");
            }
        }
        let said = debug(&alice).await;
        assert!(
            said.contains(r#""mayPublish":true,"refusal":null"#),
            "{said}"
        );
        publish(&alice, start).await.unwrap();
        alice.stop().await;
    }
    delivered(&bob, 2.0).await;
    bob.stop().await;
}

/// The counter file as the first version left it after a message of the year 2262.
#[tokio::test]
async fn c13_a_counter_that_is_ahead_opens_with_the_next_epoch() {
    const EPOCH_S: u64 = 10;
    let alices = Place::new();
    alices.join(b"alice");
    let bobs = Place::with_registry_of(&alices);
    let mut counter = b"UTRLNCT1".to_vec();
    counter.extend((9_000_000_000 / EPOCH_S).to_le_bytes());
    counter.extend(6u32.to_le_bytes());
    let sum = Sha256::digest(&counter);
    counter.extend(&sum[..12]);
    fs::write(alices.path("rln-counter"), counter).unwrap();
    fs::write(alices.path("rln-counter.lock"), "in use").unwrap();

    let epoch = [("rln-epoch-s", "10")];
    let bob = assemble(&bobs.config(&[], &epoch)).await.unwrap();
    let peers = [bob.node.addresses[0].to_string()];
    let started = present(EPOCH_S);
    let alice = assemble(&alices.config(&peers, &epoch)).await.unwrap();
    wait_for_mesh(&[&alice, &bob]).await;
    let retry = async {
        loop {
            let before = debug(&alice).await;
            match publish(&alice, "again").await {
                Ok(_) => return,
                Err(refused) => {
                    let said = refused.to_string();
                    assert!(said.contains("is closed"), "{said}");
                    // Unless the epoch has turned since.
                    let may = before.contains(r#""mayPublish":true"#);
                    assert!(!may || before.contains("is closed"), "{before}");
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(HANG, retry).await.unwrap();
    assert!(
        present(EPOCH_S) > started,
        "the epoch of the start is closed"
    );
    let said = debug(&alice).await;
    assert!(
        said.contains(r#""mayPublish":true,"refusal":null"#),
        "{said}"
    );
    delivered(&bob, 1.0).await;
    alice.stop().await;
    bob.stop().await;
}

fn present(epoch_s: u64) -> Epoch {
    let unix_ns = UNIX_EPOCH.elapsed().unwrap().as_nanos();
    Epoch::at(u64::try_from(unix_ns).unwrap(), epoch_s)
}

#[tokio::test]
async fn c15_two_nodes_with_one_identity_take_other_message_ids() {
    let alices = Place::new();
    alices.join(b"alice");
    let doubles = Place::with_registry_of(&alices);
    doubles.has_identity(b"alice");
    // One epoch for the whole test.
    let epoch = [("rln-epoch-s", "1000000000")];
    let alice = assemble(&alices.config(&[], &epoch)).await.unwrap();
    let peers = [alice.node.addresses[0].to_string()];
    let double = assemble(&doubles.config(&peers, &epoch)).await.unwrap();
    wait_for_mesh(&[&alice, &double]).await;
    let mut total = 0.0;
    for (node, texts) in [
        (&alice, ["a", "b", "c"]),
        (&double, ["d", "e", "f"]),
        (&alice, ["g", "h", "i"]),
    ] {
        for text in texts {
            publish(node, text).await.unwrap();
        }
        total += 3.0;
        for node in [&alice, &double] {
            delivered(node, total).await;
        }
    }
    // Three of the first node's were skipped here, and three of this one's there.
    for node in [&alice, &double] {
        let said = debug(node).await;
        assert!(said.contains(r#""mayPublish":true"#), "{said}");
        assert!(said.contains(r#""idsTakenTotal":3"#), "{said}");
    }
    alice.stop().await;
    double.stop().await;
}
