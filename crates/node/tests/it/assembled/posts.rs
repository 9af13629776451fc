//! Messages that are posted by content topic: who has them before a peer does, and when the answer comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::handle::{Delivery, MessageSink};

use crate::support::{HANG, Place, ask};

/// Carried by shard 3 of 8.
const TOPIC: &str = "/toychat/2/huilong/proto";
const MESSAGES: &str = "/relay/v1/auto/messages";
const MESSAGES_OF_TOPIC: &str = "/relay/v1/auto/messages/%2Ftoychat%2F2%2Fhuilong%2Fproto";

fn shard() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 3).unwrap())
}

async fn get(node: &Assembled, path: &str) -> Value {
    let (status, body) = ask(node.rest.unwrap(), "GET", path, "").await;
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

async fn until(node: &Assembled, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    let waits = async {
        while !is_so(&last) {
            last = get(node, path).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(HANG, waits).await;
    assert!(waited.is_ok(), "{path}: {last}");
    last
}

/// Payloads that a node has of the topic, in its cache or its archive.
fn payloads(messages: &Value) -> Vec<&Value> {
    let messages = messages.as_array().unwrap().iter();
    messages.map(|one| &one["payload"]).collect()
}

async fn waits_and_is_sent(more: &[(&str, &str)]) {
    let alices = Place::new();
    alices.join(b"alice");
    let bobs = Place::with_registry_of(&alices);
    let flags = [&[("shards", "3")], more].concat();
    let store = [&flags[..], &[("store", "true")]].concat();
    let alice = assemble(&alices.config(&[], &store)).await.unwrap();
    let topics = json!([TOPIC]).to_string();
    let rest = alice.rest.unwrap();
    let subscribed = ask(rest, "POST", "/relay/v1/auto/subscriptions", &topics).await;
    assert_eq!(subscribed.0, 200);
    let message = json!({"payload": "aGk=", "contentTopic": TOPIC}).to_string();
    // The membership may be found a moment later.
    let posting = async {
        while ask(rest, "POST", MESSAGES, &message).await.0 != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(HANG, posting).await.unwrap();
    let cached = get(&alice, MESSAGES_OF_TOPIC).await;
    assert_eq!(payloads(&cached), ["aGk="], "there once it is answered");
    let posts = get(&alice, "/relay/v1/posts").await;
    let waiting = |post: &&Value| post["state"] == "waiting";
    let post = posts.as_array().unwrap().iter().find(waiting).unwrap();
    let post = format!("/relay/v1/posts/{}", post["id"]);
    let stored = |page: &Value| {
        page["messages"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    };
    let page = until(&alice, "/store/v3/messages?includeData=true", stored).await;

    // As long as the router knows the message, it would refuse to deliver it again.
    if more.iter().any(|(key, _)| *key == "gossip.seen-ttl-s") {
        tokio::time::sleep(Duration::from_secs(8)).await;
    }
    let bob = assemble(&bobs.config(&[], &flags)).await.unwrap();
    let mut heard = bob.node.handle.messages(10);
    let address = alice.node.addresses[0].clone();
    bob.node.handle.connect(address).await.unwrap();
    let sent = until(&alice, &post, |post| post["state"] == "sent").await;
    let heard = tokio::time::timeout(HANG, heard.recv()).await.unwrap();
    let heard = heard.unwrap();
    assert_eq!(&heard.message.payload[..], b"hi");
    assert_eq!(
        sent["messageHash"], page["messages"][0]["messageHash"],
        "the same message"
    );
    assert_eq!(sent["messageHash"], heard.hash().to_string());
    assert_eq!(
        get(&alice, MESSAGES_OF_TOPIC).await,
        json!([]),
        "not delivered twice"
    );
    let page = get(&alice, "/store/v3/messages?includeData=true").await;
    assert_eq!(page["messages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_message_that_waits_for_a_peer_reaches_the_nodes_own_readers_at_once() {
    waits_and_is_sent(&[("rln", "false")]).await;
}

#[tokio::test]
async fn a_message_that_waits_for_long_is_not_delivered_twice() {
    waits_and_is_sent(&[("rln", "false"), ("gossip.seen-ttl-s", "1")]).await;
}

#[tokio::test]
async fn a_proved_message_that_waits_for_a_peer_is_sent_as_it_was_kept() {
    waits_and_is_sent(&[]).await;
}

/// Sink that takes its time.
#[derive(Default)]
struct Slow(AtomicUsize);

impl MessageSink for Slow {
    fn deliver(&self, _: &Delivery) -> bool {
        std::thread::sleep(Duration::from_millis(200));
        self.0.fetch_add(1, Ordering::SeqCst);
        true
    }
}

#[tokio::test]
async fn the_answer_to_a_publication_comes_after_its_delivery() {
    let place = Place::new();
    let flags = [("shards", "3"), ("rln", "false")];
    let node = assemble(&place.config(&[], &flags)).await.unwrap();
    let slow = Arc::new(Slow::default());
    node.node.handle.add_sink(slow.clone());
    let message = |text: &'static str| WakuMessage::new(text.as_bytes(), TOPIC);
    // Nobody is there to send it to.
    node.node
        .handle
        .publish(shard(), message("named"))
        .await
        .unwrap_err();
    assert_eq!(slow.0.load(Ordering::SeqCst), 1);
    node.node
        .handle
        .post(shard(), message("posted"), true)
        .await
        .unwrap();
    assert_eq!(slow.0.load(Ordering::SeqCst), 2);
}
