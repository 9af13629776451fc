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

/// Waits until no message is on its way. Nothing is told of those that only wait for a peer.
async fn until_sent(node: &Assembled) {
    let sender = node.services.handle.sender();
    let waits = async {
        while sender.waiting().await != Ok(0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANG, waits).await.unwrap();
    assert_eq!(sender.reports(None).await, Ok(Vec::new()));
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
    let sender = alice.services.handle.sender();
    assert_eq!(sender.waiting().await, Ok(1));
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
    let heard = tokio::time::timeout(HANG, heard.recv()).await.unwrap();
    let heard = heard.unwrap();
    assert_eq!(&heard.message.payload[..], b"hi");
    let stored = &page["messages"][0]["messageHash"];
    assert_eq!(*stored, heard.hash().to_string(), "the same message");
    until_sent(&alice).await;
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

/// Neither node is subscribed to the shard at first, and there is no peer when the message is posted.
#[tokio::test]
async fn a_message_posted_without_subscription_or_peers_goes_out_when_a_peer_comes() {
    let places = [Place::new(), Place::new()];
    let flags = |shard| [("rln", "false"), ("shards", shard)];
    let alice = assemble(&places[0].config(&[], &flags("0"))).await.unwrap();
    let rest = alice.rest.unwrap();
    let message = json!({"payload": "aGk=", "contentTopic": TOPIC}).to_string();
    let (status, body) = ask(rest, "POST", MESSAGES, &message).await;
    assert_eq!((status, &*body), (200, "OK"));
    assert_eq!(alice.services.handle.sender().waiting().await, Ok(1));
    let peers = [alice.node.addresses[0].to_string()];
    let bob = assemble(&places[1].config(&peers, &flags("3")))
        .await
        .unwrap();
    let mut heard = bob.node.handle.messages(10);
    let came = tokio::time::timeout(HANG, heard.recv()).await.unwrap();
    assert_eq!(&came.unwrap().message.payload[..], b"hi");
    until_sent(&alice).await;
    // It was never joined here, so that nothing came of it here.
    assert_eq!(ask(rest, "GET", MESSAGES_OF_TOPIC, "").await.0, 404);
    let strict = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F3";
    let (status, text) = ask(rest, "POST", strict, &message).await;
    assert_eq!(status, 400, "{text}");
}

#[tokio::test]
async fn at_most_64_messages_wait_and_a_further_one_is_refused() {
    let place = Place::new();
    let flags = [("rln", "false"), ("shards", "3")];
    let node = assemble(&place.config(&[], &flags)).await.unwrap();
    let post = async |n: u32| {
        let message = json!({"payload": "aGk=", "contentTopic": TOPIC, "timestamp": n});
        ask(node.rest.unwrap(), "POST", MESSAGES, &message.to_string()).await
    };
    for n in 1..=64 {
        assert_eq!(post(n).await, (200, "OK".to_owned()), "{n}");
    }
    let text = "Failed to publish: publish failed in relay: NoPeersToPublish";
    assert_eq!(post(65).await, (400, text.to_owned()));
    assert_eq!(node.services.handle.sender().waiting().await, Ok(64));
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
    let posted = json!({"payload": "aGk=", "contentTopic": TOPIC}).to_string();
    let (status, text) = ask(node.rest.unwrap(), "POST", MESSAGES, &posted).await;
    assert_eq!(status, 200, "{text}");
    assert_eq!(slow.0.load(Ordering::SeqCst), 2);
}
