//! Nodes without relay: what they get from filter peers and stores, what they publish, what they say of themselves.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::command::{PublishFailure, SubscribeFailure};
use undertone_node::handle::{Delivery, MessageSink};
use undertone_node::services::{LightpushVersion, ServiceFailure};

use crate::support::{HANG, Place, ask, metrics_until};

const CONTENT_TOPIC: &str = "/test/1/a/proto";
const NO_RLN: [(&str, &str); 2] = [("rln", "false"), ("shards", "0")];

fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

/// A message of now.
fn message(text: &str) -> WakuMessage {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap();
    WakuMessage {
        timestamp: Some(i64::try_from(since.as_nanos()).unwrap()),
        ..WakuMessage::new(text.to_owned().into_bytes(), CONTENT_TOPIC)
    }
}

/// A port that was free a moment ago, for a node that is to come back at its address.
fn port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

async fn relay(place: &Place, peers: &[String], more: &[(&str, &str)]) -> Assembled {
    let flags = [&NO_RLN[..], more].concat();
    assemble(&place.config(peers, &flags)).await.unwrap()
}

/// Waits until a relay has peers in its mesh.
async fn meshed(node: &Assembled, peers: f64) {
    let mesh = format!("undertone_mesh_peers{{topic=\"{}\"}}", topic());
    metrics_until(node, |now| now.get(&mesh).is_some_and(|n| *n >= peers)).await;
}

async fn publish(relay: &Assembled, text: &str) {
    let published = relay.node.handle.publish(topic(), message(text)).await;
    published.unwrap();
}

fn address(node: &Assembled) -> String {
    node.node.addresses[0].to_string()
}

/// A node without relay that knows service peers, and what it was given.
struct Light {
    node: Assembled,
    delivered: mpsc::UnboundedReceiver<String>,
    /// How often each text came.
    counts: BTreeMap<String, u32>,
    _place: Place,
}

struct Texts(mpsc::UnboundedSender<String>);

impl MessageSink for Texts {
    fn deliver(&self, delivery: &Delivery) -> bool {
        let text = String::from_utf8_lossy(&delivery.message.payload).into_owned();
        self.0.send(text).is_ok()
    }
}

impl Light {
    async fn start(filters: &[String], stores: &[String], pushers: &[String]) -> Self {
        let place = Place::new();
        let (filters, stores, pushers) = (filters.join(","), stores.join(","), pushers.join(","));
        let mut flags = vec![("relay", "false"), ("shards", "0")];
        let named = [
            ("filternode", &filters),
            ("storenode", &stores),
            ("lightpushnode", &pushers),
        ];
        flags.extend(
            named
                .iter()
                .filter(|(_, peers)| !peers.is_empty())
                .map(|(key, peers)| (*key, peers.as_str())),
        );
        let node = assemble(&place.config(&[], &flags)).await.unwrap();
        let (sender, delivered) = mpsc::unbounded_channel();
        node.services.handle.add_sink(Arc::new(Texts(sender)));
        Self {
            node,
            delivered,
            counts: BTreeMap::new(),
            _place: place,
        }
    }

    async fn subscribe(&self) {
        let topics = vec![CONTENT_TOPIC.to_owned()];
        let services = &self.node.services.handle;
        let kept = services.keep_subscribed(Some(topic()), topics, None).await;
        kept.unwrap();
    }

    /// Waits until a number of filter peers hold the subscription.
    async fn held_by(&self, peers: usize) {
        until("filter peers hold the subscription", async || {
            let status = self.node.services.handle.light_status();
            status.filter_peers.values().all(|now| *now == peers)
        })
        .await;
    }

    /// Waits for a text.
    async fn gets(&mut self, text: &str) {
        let comes = async {
            while !self.counts.contains_key(text) {
                let text = self.delivered.recv().await.unwrap();
                *self.counts.entry(text).or_default() += 1;
            }
        };
        let came = tokio::time::timeout(HANG, comes).await;
        assert!(came.is_ok(), "never came: {text}; came: {:?}", self.counts);
    }

    /// Asserts that nothing came twice.
    fn got_each_once(&mut self) {
        while let Ok(text) = self.delivered.try_recv() {
            *self.counts.entry(text).or_default() += 1;
        }
        assert!(self.counts.values().all(|n| *n == 1), "{:?}", self.counts);
    }
}

async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let waits = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(HANG, waits).await;
    assert!(waited.is_ok(), "never: {what}");
}

#[tokio::test]
async fn a_light_node_gets_and_publishes_without_relaying() {
    let places = [Place::new(), Place::new()];
    let first = relay(&places[0], &[], &[]).await;
    let store = [("store", "true")];
    let second = relay(&places[1], &[address(&first)], &store).await;
    meshed(&first, 1.0).await;
    meshed(&second, 1.0).await;
    let both = [address(&first), address(&second)];
    let mut light = Light::start(&both, &both[1..], &both).await;

    // It is connected before it is asked for anything, and says what it is and is not.
    let rest = light.node.rest.unwrap();
    until("the light node has service peers", async || {
        let (_, health) = ask(rest, "GET", "/health", "").await;
        health.contains("\"connectionStatus\":\"Connected\"")
            && health.contains("\"Store Client\":\"READY\"")
    })
    .await;
    let (_, health) = ask(rest, "GET", "/health", "").await;
    for entry in [
        "\"nodeHealth\":\"READY\"",
        "\"Relay\":\"NOT_MOUNTED\"",
        "\"Rln Relay\":\"NOT_MOUNTED\"",
        "\"Filter\":\"NOT_MOUNTED\"",
        "\"Lightpush\":\"NOT_MOUNTED\"",
        "\"Filter Client\":\"READY\"",
        "\"Lightpush Client\":\"READY\"",
    ] {
        assert!(health.contains(entry), "{entry}: {health}");
    }
    let (status, refused) = ask(rest, "POST", "/relay/v1/auto/messages", "{}").await;
    let said = "/relay endpoints are not available. Please check your configuration: --relay";
    assert!(
        status == 404 && refused.contains(said),
        "{status} {refused}"
    );
    let us = light.node.node.peer_id;
    until("the peers know what the light node offers", async || {
        let peers = first.node.handle.peers().await.unwrap();
        let light = peers.into_iter().find(|peer| peer.peer_id == us);
        light.is_some_and(|light| !light.protocols.is_empty())
    })
    .await;
    let peers = first.node.handle.peers().await.unwrap();
    let known = peers.iter().find(|peer| peer.peer_id == us).unwrap();
    for protocol in [
        "/waku/relay/",
        "/meshsub/",
        "filter-subscribe",
        "lightpush",
        "store",
    ] {
        let offers = known.protocols.iter().any(|id| id.contains(protocol));
        assert!(!offers, "{protocol}: {:?}", known.protocols);
    }

    light.subscribe().await;
    light.held_by(2).await;
    let mut relayed = second.node.handle.messages(10);
    publish(&first, "relayed").await;
    light.gets("relayed").await;

    let services = &light.node.services.handle;
    let pushing = services.push(LightpushVersion::V3, Some(topic()), message("pushed"));
    assert_eq!(pushing.await, Ok(1));
    for text in ["relayed", "pushed"] {
        let heard = tokio::time::timeout(HANG, relayed.recv()).await.unwrap();
        assert_eq!(&heard.unwrap().message.payload[..], text.as_bytes());
    }
    light.gets("pushed").await;

    let handle = &light.node.node.handle;
    assert_eq!(
        handle.subscribe(topic()).await,
        Err(SubscribeFailure::NotRelaying)
    );
    let failure = handle.publish(topic(), message("no")).await.unwrap_err();
    assert_eq!(failure, PublishFailure::NotRelaying);
    light.got_each_once();
}

#[tokio::test]
async fn subscriptions_over_rest_get_what_is_pushed_and_what_was_missed_once() {
    let place = Place::new();
    let server = relay(&place, &[], &[("store", "true")]).await;
    // A relay takes no message without a peer.
    let (other, elsewhere) = (Place::new(), [address(&server)]);
    let peer = relay(&other, &elsewhere, &[]).await;
    meshed(&server, 1.0).await;
    meshed(&peer, 1.0).await;
    let light = Light::start(&elsewhere, &elsewhere, &elsewhere).await;
    let rest = light.node.rest.unwrap();
    // It is in the store before there is a subscription, and not older than what a subscription looks back on.
    publish(&peer, "a moment ago").await;
    until("the store has it", async || {
        let metrics = crate::support::metrics(server.rest.unwrap()).await;
        metrics["undertone_store_messages_total{outcome=\"kept\"}"] >= 1.0
    })
    .await;
    let body = format!(
        r#"{{"requestId":"1","contentFilters":["{CONTENT_TOPIC}"],"pubsubTopic":"{}"}}"#,
        topic()
    );
    until("the filter peer is there", async || {
        let answer = ask(rest, "POST", "/filter/v2/subscriptions", &body).await;
        answer.0 == 200
    })
    .await;
    publish(&peer, "now").await;
    let mut came = BTreeMap::<String, u32>::new();
    until("both messages come", async || {
        let path = format!("/filter/v2/messages/{}", CONTENT_TOPIC.replace('/', "%2F"));
        let (_, answer) = ask(rest, "GET", &path, "").await;
        for (text, payload) in [("a moment ago", "YSBtb21lbnQgYWdv"), ("now", "bm93")] {
            let count = answer.matches(&format!("\"{payload}\"")).count();
            *came.entry(text.to_owned()).or_default() += u32::try_from(count).unwrap();
        }
        came.values().all(|count| *count > 0)
    })
    .await;
    let expected = ["a moment ago", "now"].map(|text| (text.to_owned(), 1));
    assert_eq!(came, BTreeMap::from(expected));
}

/// The gap: a message that is published while no filter peer is there, and that another node's store has.
#[tokio::test]
async fn every_message_comes_once_although_filter_peers_vanish_and_return() {
    let places = [Place::new(), Place::new(), Place::new()];
    let keeper = relay(&places[0], &[], &[("store", "true"), ("filter", "false")]).await;
    let port = port();
    let fixed = [("tcp-port", port.as_str())];
    let one = relay(&places[1], &[address(&keeper)], &fixed).await;
    let two = relay(&places[2], &[address(&keeper)], &[]).await;
    meshed(&keeper, 2.0).await;
    let filters = [address(&one), address(&two)];
    let mut light = Light::start(&filters, &[address(&keeper)], &filters).await;
    light.subscribe().await;
    light.held_by(2).await;
    publish(&keeper, "by both").await;
    light.gets("by both").await;

    one.stop().await;
    light.held_by(1).await;
    publish(&keeper, "by the other").await;
    light.gets("by the other").await;

    let spare_place = Place::new();
    let spare = relay(&spare_place, &[address(&keeper)], &[("filter", "false")]).await;
    two.stop().await;
    light.held_by(0).await;
    let rest = light.node.rest.unwrap();
    let (_, health) = ask(rest, "GET", "/health", "").await;
    assert!(
        health.contains("\"Filter Client\":\"NOT_READY\""),
        "{health}"
    );
    meshed(&keeper, 1.0).await;
    publish(&keeper, "in the gap").await;

    let one = relay(&places[1], &[address(&keeper)], &fixed).await;
    light.held_by(1).await;
    light.gets("in the gap").await;
    meshed(&one, 1.0).await;
    publish(&spare, "after the gap").await;
    light.gets("after the gap").await;
    light.got_each_once();
    let status = light.node.services.handle.light_status();
    assert!(status.recovered >= 1, "{status:?}");
    assert_eq!(light.counts.len(), 4, "{:?}", light.counts);
}

#[tokio::test]
async fn without_lightpush_peers_publishing_says_so() {
    let light = Light::start(&[], &[], &[]).await;
    let services = &light.node.services.handle;
    let pushing = services.push(LightpushVersion::V3, Some(topic()), message("no"));
    let service = "lightpush";
    assert_eq!(
        pushing.await.unwrap_err(),
        ServiceFailure::NoPeer { service }
    );
    let topics = vec![CONTENT_TOPIC.to_owned()];
    let subscribing = services.subscribe(Some(topic()), topics);
    let service = "filter";
    assert_eq!(
        subscribing.await.unwrap_err(),
        ServiceFailure::NoPeer { service }
    );
}

/// Relays of a network with rate limiting, which do not prove for others.
async fn proving_pair(place: &Place, other: &Place) -> [Assembled; 2] {
    let shard = [("shards", "0")];
    let first = assemble(&place.config(&[], &shard)).await.unwrap();
    let peers = [address(&first)];
    let second = assemble(&other.config(&peers, &shard)).await.unwrap();
    meshed(&first, 1.0).await;
    meshed(&second, 1.0).await;
    [first, second]
}

/// A node without relay on that network.
async fn light_member(place: &Place, pusher: &Assembled) -> Assembled {
    let pusher = address(pusher);
    let flags = [
        ("relay", "false"),
        ("shards", "0"),
        ("lightpushnode", pusher.as_str()),
    ];
    assemble(&place.config(&[], &flags)).await.unwrap()
}

#[tokio::test]
async fn a_light_member_proves_what_it_publishes_and_others_need_a_peer_that_does() {
    let places = [Place::new()];
    let other = Place::with_registry_of(&places[0]);
    let [first, second] = proving_pair(&places[0], &other).await;
    let place = Place::with_registry_of(&places[0]);
    place.join(b"light");
    let member = light_member(&place, &first).await;
    let mut relayed = second.node.handle.messages(10);
    let services = &member.services.handle;
    // The relays may learn of the new member a moment later.
    let push =
        |text: &'static str| services.push(LightpushVersion::V3, Some(topic()), message(text));
    until("the relay takes it", async || push("proved").await.is_ok()).await;
    let heard = tokio::time::timeout(HANG, relayed.recv()).await.unwrap();
    let heard = heard.unwrap().message;
    assert_eq!(&heard.payload[..], b"proved");
    let proof = heard.rate_limit_proof.unwrap_or_default();
    assert!(!proof.is_empty());

    // Without an identity, no registry is opened, and the peer would have to prove.
    let stranger_place = Place::new();
    let stranger = light_member(&stranger_place, &first).await;
    let services = &stranger.services.handle;
    let refused = services.push(LightpushVersion::V3, Some(topic()), message("unproved"));
    let refused = refused.await.unwrap_err();
    assert!(
        matches!(refused, ServiceFailure::Refused { status: 504, .. }),
        "{refused}"
    );
    assert!(!stranger_place.path("registry.sqlite").exists());
}

/// What a filter peer said of its shards when it was connected may be out of date; a named one is asked all the same.
#[tokio::test]
async fn a_named_filter_peer_is_asked_whatever_it_said_of_its_shards() {
    let (place, other) = (Place::new(), Place::new());
    let first = relay(&place, &[], &[]).await;
    let mut light = Light::start(&[address(&first)], &[], &[]).await;
    light.subscribe().await;
    light.held_by(1).await;
    let later = PubsubTopic::Static(Shard::new(66, 5).unwrap());
    let second = relay(&other, &[address(&first)], &[]).await;
    for node in [&first, &second] {
        node.node.handle.subscribe(later.clone()).await.unwrap();
    }
    let topics = vec!["far".to_owned()];
    let services = &light.node.services.handle;
    services
        .subscribe(Some(later.clone()), topics)
        .await
        .unwrap();
    let mesh = format!("undertone_mesh_peers{{topic=\"{later}\"}}");
    metrics_until(&second, |now| now.get(&mesh).is_some_and(|n| *n >= 1.0)).await;
    let sent = WakuMessage::new(b"of a later shard".to_vec(), "far");
    second.node.handle.publish(later, sent).await.unwrap();
    light.gets("of a later shard").await;
}
