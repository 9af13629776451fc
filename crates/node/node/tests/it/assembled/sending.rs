//! Messages that whole nodes answer for: what becomes of them with a store, without a peer, without a budget, over a
//! restart, and through a light client's peer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::handle::{Delivery, MessageSink};
use undertone_node::services::{SendFailure, SendId, SendStep};

use crate::support::{HANG, Place, ask, metrics, metrics_until};

pub(crate) const CONTENT_TOPIC: &str = "/test/1/a/proto";

pub(crate) fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

pub(crate) fn message(text: &str) -> WakuMessage {
    WakuMessage::new(text.as_bytes().to_vec(), CONTENT_TOPIC)
}

/// Payloads of messages that a node was given, each as often as it was: by relay, or by lightpush, as a node that has just
/// started may send.
pub(crate) struct Heard(Mutex<Vec<String>>);

impl Heard {
    pub(crate) fn of(node: &Assembled) -> Arc<Self> {
        let heard = Arc::new(Self(Mutex::default()));
        node.node.handle.add_sink(heard.clone());
        heard
    }

    pub(crate) fn texts(&self) -> Vec<String> {
        self.0.lock().clone()
    }

    /// Waits until the node was given `count` messages, and returns them. What has left the sender may still be checked
    /// by the node.
    pub(crate) async fn texts_once(&self, count: usize) -> Vec<String> {
        let wait = async {
            while self.0.lock().len() < count {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(HANG, wait).await;
        let texts = self.texts();
        assert!(
            waited.is_ok(),
            "{count} messages, and only these came: {texts:?}"
        );
        texts
    }
}

impl MessageSink for Heard {
    fn deliver(&self, delivery: &Delivery) -> bool {
        let text = String::from_utf8(delivery.message.payload.to_vec()).unwrap();
        self.0.lock().push(text);
        true
    }
}

pub(crate) async fn send(node: &Assembled, text: &str) -> SendId {
    let sender = node.services.handle.sender();
    sender.send(Some(topic()), message(text)).await.unwrap()
}

async fn steps(node: &Assembled, id: SendId) -> Vec<SendStep> {
    let reports = node.services.handle.sender().reports(Some(id)).await;
    reports.unwrap().iter().map(|report| report.step).collect()
}

/// Waits until a message has its end.
async fn ended(node: &Assembled, id: SendId) -> Vec<SendStep> {
    steps_until(node, id, |step| step.is_end()).await
}

/// Waits until the last step of a message is `wanted`.
async fn steps_until(
    node: &Assembled,
    id: SendId,
    wanted: impl Fn(&SendStep) -> bool,
) -> Vec<SendStep> {
    let mut last = Vec::new();
    let wait = async {
        loop {
            last = steps(node, id).await;
            if last.last().is_some_and(&wanted) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(HANG, wait).await;
    assert!(waited.is_ok(), "no end: {last:?}");
    last
}

const ALL_STEPS: [SendStep; 4] = [
    SendStep::Queued,
    SendStep::Sent,
    SendStep::Propagated,
    SendStep::Stored,
];

/// Flags of nodes without a rate limit, on one shard.
const FREE: [(&str, &str); 2] = [("rln", "false"), ("shards", "0")];

/// Address by which a configuration names the store whose word is enough.
fn named(store: &Assembled) -> String {
    format!("{}/p2p/{}", store.node.addresses[0], store.node.peer_id)
}

async fn store(place: &Place, peers: &[String]) -> Assembled {
    let flags = [&FREE[..], &[("store", "true")]].concat();
    assemble(&place.config(peers, &flags)).await.unwrap()
}

#[tokio::test]
async fn a_message_is_propagated_and_stored_and_rest_says_so() {
    let (place, other) = (Place::new(), Place::new());
    let store = store(&other, &[]).await;
    let heard = Heard::of(&store);
    let peers = [store.node.addresses[0].to_string()];
    let named = named(&store);
    let flags = [&FREE[..], &[("storenode", &named)]].concat();
    let node = assemble(&place.config(&peers, &flags)).await.unwrap();
    let id = send(&node, "hello").await;
    assert_eq!(ended(&node, id).await, ALL_STEPS);
    assert_eq!(heard.texts_once(1).await, ["hello"]);
    assert_eq!(node.services.handle.sender().waiting().await, Ok(0));

    let rest = node.rest.unwrap();
    let (_, events) = ask(
        rest,
        "GET",
        &format!("/messaging/v1/events/send/{:016x}", id.0),
        "",
    )
    .await;
    let kinds = ["queued", "propagated", "sent"].map(|kind| format!("\"kind\":\"{kind}\""));
    assert!(kinds.iter().all(|kind| events.contains(kind)), "{events}");
    let body = r#"{"payload":"aGk=","contentTopic":"/test/1/a/proto"}"#;
    let accepted = async {
        loop {
            let answer = ask(rest, "POST", "/messaging/v1/messages", body).await;
            // A disk that other tests keep busy may need longer than a request may take.
            match answer.1.contains("Send failed: timed out") {
                true => continue,
                false => break answer,
            }
        }
    };
    let (status, answer) = tokio::time::timeout(HANG, accepted).await.unwrap();
    assert_eq!(status, 200, "{answer}");
    let (_, rest_id) = answer.split_once("{\"requestId\":\"").unwrap();
    let rest_id = SendId(u64::from_str_radix(&rest_id[..16], 16).unwrap());
    assert!(rest_id > id);
    let topics = format!("[\"{CONTENT_TOPIC}\"]");
    let other_rest = store.rest.unwrap();
    let (status, said) = ask(other_rest, "POST", "/messaging/v1/subscriptions", &topics).await;
    assert_eq!(status, 200, "{said}");
    for node in [node, store] {
        node.stop().await;
    }
}

#[tokio::test]
async fn without_a_peer_a_message_waits_and_goes_when_one_comes() {
    let (place, other) = (Place::new(), Place::new());
    let node = assemble(&place.config(&[], &FREE)).await.unwrap();
    let id = send(&node, "patient").await;
    // Several looks for a way find none.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(steps(&node, id).await, [SendStep::Queued]);
    let store = store(&other, &[node.node.addresses[0].to_string()]).await;
    // The word of a stranger that was given the message is no end.
    let steps = steps_until(&node, id, |step| *step == SendStep::Propagated).await;
    assert_eq!(steps, ALL_STEPS[..3]);
    for node in [node, store] {
        node.stop().await;
    }
}

#[tokio::test]
async fn a_restart_goes_on_with_the_queue_and_numbers_are_not_repeated() {
    let (place, other) = (Place::new(), Place::new());
    let node = assemble(&place.config(&[], &FREE)).await.unwrap();
    let id = send(&node, "over a restart").await;
    node.stop().await;
    let store = store(&other, &[]).await;
    let heard = Heard::of(&store);
    let peers = [store.node.addresses[0].to_string()];
    let named = named(&store);
    let flags = [&FREE[..], &[("storenode", &named)]].concat();
    let node = assemble(&place.config(&peers, &flags)).await.unwrap();
    assert_eq!(ended(&node, id).await, ALL_STEPS);
    assert_eq!(heard.texts_once(1).await, ["over a restart"]);
    assert!(send(&node, "next").await > id);
    for node in [node, store] {
        node.stop().await;
    }
}

#[tokio::test]
async fn what_others_would_refuse_is_not_accepted() {
    let place = Place::new();
    let node = assemble(&place.config(&[], &FREE)).await.unwrap();
    let sender = node.services.handle.sender();
    let long = message(&"x".repeat(1024 * 1024));
    let refused = sender.send(Some(topic()), long).await.unwrap_err();
    assert!(matches!(refused, SendFailure::Message(_)), "{refused}");
    let nowhere = WakuMessage::new(b"hi".to_vec(), "nonsense");
    let refused = sender.send(None, nowhere).await.unwrap_err();
    assert!(matches!(refused, SendFailure::Topic(_)), "{refused}");
    assert_eq!(sender.waiting().await, Ok(0));
    node.stop().await;
}

/// Flags of nodes with a rate limit of two messages in four seconds.
const NARROW: [(&str, &str); 3] = [
    ("shards", "0"),
    ("rln-epoch-s", "4"),
    ("rln-message-limit", "2"),
];

#[tokio::test]
async fn beyond_the_rate_limit_messages_wait_for_the_next_epochs() {
    let place = Place::new();
    place.join(b"sender");
    let other = Place::with_registry_of(&place);
    let neighbour = assemble(&other.config(&[], &NARROW)).await.unwrap();
    let heard = Heard::of(&neighbour);
    let peers = [neighbour.node.addresses[0].to_string()];
    let node = assemble(&place.config(&peers, &NARROW)).await.unwrap();
    let texts: BTreeSet<String> = (0..7).map(|n| format!("message {n}")).collect();
    let mut ids = Vec::new();
    for text in &texts {
        ids.push(send(&node, text).await);
    }
    for id in ids {
        // Whether there is a store shows after a minute only.
        steps_until(&node, id, |step| *step == SendStep::Propagated).await;
    }
    let arrived = heard.texts_once(texts.len()).await;
    assert_eq!(arrived.len(), texts.len(), "each once: {arrived:?}");
    assert_eq!(arrived.into_iter().collect::<BTreeSet<_>>(), texts);
    assert_no_spam(&neighbour).await;
    for node in [node, neighbour] {
        node.stop().await;
    }
}

/// Asserts that a neighbour has seen no message id of the rate limit twice, and nothing else to refuse.
pub(crate) async fn assert_no_spam(neighbour: &Assembled) {
    let now = metrics(neighbour.rest.unwrap()).await;
    assert_eq!(now["undertone_spammers_exposed_total"], 0.0);
    let rejected = now
        .iter()
        .filter(|(series, _)| series.starts_with("undertone_messages_rejected_total"));
    for (series, count) in rejected {
        assert_eq!(*count, 0.0, "{series}");
    }
}

#[tokio::test]
async fn a_node_that_does_not_relay_sends_through_a_lightpush_peer() {
    let (place, other) = (Place::new(), Place::new());
    let store = store(&other, &[]).await;
    let third = Place::new();
    let peers = [store.node.addresses[0].to_string()];
    let relay = assemble(&third.config(&peers, &FREE)).await.unwrap();
    let mesh = format!("undertone_mesh_peers{{topic=\"{}\"}}", topic());
    metrics_until(&relay, |now| now[&mesh] >= 1.0).await;
    let heard = Heard::of(&store);
    let named = named(&store);
    let light = [&FREE[..], &[("relay", "false"), ("storenode", &named)]].concat();
    let peers = [
        relay.node.addresses[0].to_string(),
        store.node.addresses[0].to_string(),
    ];
    let node = assemble(&place.config(&peers, &light)).await.unwrap();
    let id = send(&node, "through another").await;
    assert_eq!(ended(&node, id).await, ALL_STEPS);
    assert_eq!(heard.texts_once(1).await, ["through another"]);
    for node in [node, relay, store] {
        node.stop().await;
    }
}

/// Flags of nodes that send messages of more than 1,000 bytes in fragments, six in four seconds.
const SPLITTING: [(&str, &str); 4] = [
    ("shards", "0"),
    ("rln-epoch-s", "4"),
    ("rln-message-limit", "6"),
    ("gossip.fragment-bytes", "1000"),
];

#[tokio::test]
async fn a_message_in_fragments_arrives_once_though_its_sender_is_restarted_between_them() {
    let place = Place::new();
    place.join(b"sender");
    let other = Place::with_registry_of(&place);
    let flags = [&SPLITTING[..], &[("store", "true")]].concat();
    let neighbour = assemble(&other.config(&[], &flags)).await.unwrap();
    let heard = Heard::of(&neighbour);
    let peers = [neighbour.node.addresses[0].to_string()];
    let named = named(&neighbour);
    let splitting = [&SPLITTING[..], &[("storenode", &named)]].concat();
    let node = assemble(&place.config(&peers, &splitting)).await.unwrap();
    // Ten fragments, of which one epoch lets six out at most.
    let text = "0123456789".repeat(995);
    let id = send(&node, &text).await;
    let kept = |now: &BTreeMap<String, f64>| now["undertone_messages_delivered_total"];
    metrics_until(&neighbour, |now| kept(now) >= 1.0).await;
    node.stop().await;
    assert_eq!(heard.texts(), [""; 0], "the message is not complete");
    let node = assemble(&place.config(&peers, &splitting)).await.unwrap();
    let steps = ended(&node, id).await;
    assert_eq!(steps, ALL_STEPS);
    assert_eq!(heard.texts_once(1).await, [text]);
    let now = metrics(neighbour.rest.unwrap()).await;
    assert_eq!(kept(&now), 10.0, "each fragment was sent once");
    assert_no_spam(&neighbour).await;
    for node in [node, neighbour] {
        node.stop().await;
    }
}
