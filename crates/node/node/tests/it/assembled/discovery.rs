//! Nodes that find each other: from one record, without the node that it belongs to, after a restart.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::handle::{Delivery, MessageSink};
use undertone_node::services::LightpushVersion;

use crate::support::{HANG, Place, metrics_until};

const CONTENT_TOPIC: &str = "/test/1/found/proto";

/// Nodes besides the first one.
const NODES: usize = 20;

fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

/// An address of this host's loopback that no other node of these tests has: many nodes at one address would count as
/// one attacker's (gossipsub v1.1, P6).
pub(crate) fn own_address() -> String {
    static NEXT: AtomicU8 = AtomicU8::new(2);
    let last = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("127.0.7.{last}")
}

/// Payloads that a node has delivered.
#[derive(Default)]
struct Inbox(Mutex<Vec<Vec<u8>>>);

impl Inbox {
    fn has(&self, payload: &[u8]) -> bool {
        let payloads = self.0.lock().unwrap();
        payloads.iter().any(|known| known == payload)
    }
}

impl MessageSink for Inbox {
    fn deliver(&self, delivery: &Delivery) -> bool {
        let payload = delivery.message.payload.to_vec();
        self.0.lock().unwrap().push(payload);
        true
    }
}

/// A node that looks for peers, from the records given, and what it delivers.
pub(crate) struct Finder {
    place: Place,
    pub(crate) node: Assembled,
    inbox: Arc<Inbox>,
}

impl Finder {
    pub(crate) async fn start(bootstrap: &str, more: &[(&str, &str)]) -> Self {
        Self::at(Place::new(), bootstrap, more).await
    }

    pub(crate) async fn at(place: Place, bootstrap: &str, more: &[(&str, &str)]) -> Self {
        let address = own_address();
        let mut flags = vec![
            ("listen-address", address.as_str()),
            ("rln", "false"),
            ("shards", "0"),
            ("discv5-discovery", "true"),
            ("discv5-udp-port", "0"),
        ];
        if !bootstrap.is_empty() {
            flags.push(("discv5-bootstrap-node", bootstrap));
        }
        flags.extend(more);
        let node = assemble(&place.config(&[], &flags)).await.unwrap();
        let inbox = Arc::new(Inbox::default());
        node.node.handle.add_sink(Arc::clone(&inbox) as _);
        Self { place, node, inbox }
    }

    pub(crate) async fn record(&self) -> String {
        let info = self.node.node.handle.info().await.unwrap();
        info.enr_uri.unwrap()
    }

    pub(crate) async fn has_mesh(&self, peers: f64) {
        let mesh = format!("undertone_mesh_peers{{topic=\"{}\"}}", topic());
        metrics_until(&self.node, |now| now[&mesh] >= peers).await;
    }

    pub(crate) async fn publish(&self, text: &str) {
        let message = WakuMessage::new(text.to_owned().into_bytes(), CONTENT_TOPIC);
        self.node
            .node
            .handle
            .publish(topic(), message)
            .await
            .unwrap();
    }

    pub(crate) async fn gets(&self, text: &str) {
        let arrives = async {
            while !self.inbox.has(text.as_bytes()) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let arrived = tokio::time::timeout(HANG, arrives).await;
        assert!(arrived.is_ok(), "{text:?} never arrived");
    }

    pub(crate) async fn stop(self) -> Place {
        self.node.stop().await;
        self.place
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_nodes_find_each_other_from_one_record_and_stay_when_its_node_is_gone() {
    let first = Finder::start("", &[]).await;
    let record = first.record().await;
    let started = Instant::now();
    let mut nodes = Vec::new();
    for _ in 0..NODES {
        nodes.push(Finder::start(&record, &[]).await);
    }
    let stranger = Finder::start(&record, &[("cluster-id", "67")]).await;
    for node in &nodes {
        node.has_mesh(4.0).await;
    }
    println!("{NODES} nodes have meshes after {:?}", started.elapsed());
    nodes[0].publish("to all").await;
    for node in &nodes[1..] {
        node.gets("to all").await;
    }
    let peers = stranger.node.node.handle.peers().await.unwrap();
    let meshes = peers.iter().filter(|peer| !peer.in_mesh.is_empty());
    assert_eq!(meshes.count(), 0, "it is of another cluster");
    stranger.stop().await;

    first.stop().await;
    // One that comes later begins with another node's record.
    let late = Finder::start(&nodes[7].record().await, &[]).await;
    // More peers would have to have a place left: twenty nodes that know each other may all have eight of them, take no
    // further one, and refuse it for a minute.
    late.has_mesh(1.0).await;
    late.publish("from a late one").await;
    for node in &nodes {
        node.gets("from a late one").await;
    }
    late.stop().await;
    for node in nodes {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_restarts_finds_the_peers_that_it_remembers() {
    let first = Finder::start("", &[]).await;
    let second = Finder::start(&first.record().await, &[]).await;
    first.has_mesh(1.0).await;
    second.has_mesh(1.0).await;
    let place = second.stop().await;
    // Nobody tells it of the first one this time.
    let again = Finder::at(place, "", &[]).await;
    again.has_mesh(1.0).await;
    first.publish("welcome back").await;
    again.gets("welcome back").await;
    again.stop().await;
    first.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_light_node_finds_nodes_that_serve_it() {
    let first = Finder::start("", &[("store", "true")]).await;
    let record = first.record().await;
    let mut nodes = vec![first];
    for _ in 0..3 {
        nodes.push(Finder::start(&record, &[]).await);
    }
    for node in &nodes {
        node.has_mesh(3.0).await;
    }
    let light = Finder::start(&record, &[("relay", "false")]).await;
    let pushed = Arc::new(Inbox::default());
    let services = &light.node.services.handle;
    services.add_sink(Arc::clone(&pushed) as _);
    let topics = vec![CONTENT_TOPIC.to_owned()];
    services
        .keep_subscribed(Some(topic()), topics, None)
        .await
        .unwrap();
    let mut number = 0;
    let gets = async {
        // The subscription takes a moment; what was sent before it comes from the store.
        while !pushed.has(b"to the light one 0") {
            nodes[2]
                .publish(&format!("to the light one {number}"))
                .await;
            number += 1;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let got = tokio::time::timeout(HANG, gets).await;
    assert!(got.is_ok(), "nothing was pushed to the light node");
    let message = WakuMessage::new(b"from the light one".to_vec(), CONTENT_TOPIC);
    let version = LightpushVersion::V3;
    services
        .push(version, Some(topic()), message)
        .await
        .unwrap();
    nodes[1].gets("from the light one").await;
    light.stop().await;
    for node in nodes {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_finds_its_network_by_peer_exchange_alone() {
    let first = Finder::start("", &[]).await;
    let record = first.record().await;
    let mut nodes = vec![first];
    for _ in 0..4 {
        nodes.push(Finder::start(&record, &[]).await);
    }
    for node in &nodes {
        node.has_mesh(3.0).await;
    }
    let address = nodes[2].node.node.addresses[0].to_string();
    let flags = [
        ("discv5-discovery", "false"),
        ("peer-exchange-node", address.as_str()),
    ];
    let late = Finder::start("", &flags).await;
    late.has_mesh(3.0).await;
    late.publish("by exchange").await;
    for node in &nodes {
        node.gets("by exchange").await;
    }
    late.stop().await;
    for node in nodes {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bootstrap_record_that_does_not_parse_is_passed_over() {
    let first = Finder::start("", &[]).await;
    let records = format!("enr:-nonsense,{}", first.record().await);
    let second = Finder::start(&records, &[]).await;
    second.has_mesh(1.0).await;
    second.stop().await;
    first.stop().await;
}

#[tokio::test]
async fn a_udp_port_in_use_is_named_with_its_key() {
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let place = Place::new();
    let flags = [
        ("rln", "false"),
        ("discv5-discovery", "true"),
        ("discv5-udp-port", port.as_str()),
    ];
    let refused = assemble(&place.config(&[], &flags)).await;
    let error = refused.err().expect("the port is in use").to_string();
    assert!(error.starts_with("discv5-udp-port: "), "{error}");
    assert!(error.contains(&port), "{error}");
}
