//! The API before real nodes on loopback.

use std::time::Duration;

use axum::{
    Router,
    body::{Body, to_bytes},
    http::{Request, StatusCode},
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::ServiceExt as _;
use undertone_message::{NetworkPreset, PubsubTopic};
use undertone_node::Multiaddr;
use undertone_node::driver::{
    ConnectionLimits, NodeEvent, NodeOptions, RunningNode, TimedEvent, start,
};
use undertone_node::rest::{RestConfig, router};
use undertone_relay::RelayConfig;

use crate::rest::support::{PEER_A, config, shard};

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(120);

/// Carried by shard 3 of 8.
const TOPIC: &str = "/toychat/2/huilong/proto";

/// A node without RLN and its API.
struct Live {
    running: RunningNode,
    api: Router,
    events: mpsc::UnboundedReceiver<TimedEvent>,
}

/// What is different from a usual node.
#[derive(Default)]
struct Different {
    topics: Vec<PubsubTopic>,
    static_peers: Vec<Multiaddr>,
    relay: Option<fn(&mut RelayConfig)>,
    /// Whether the node offers no pubsub protocol.
    is_light: bool,
}

async fn live(different: Different) -> Live {
    let preset = NetworkPreset::by_name("local").unwrap();
    let mut relay = RelayConfig::for_network(&preset);
    relay.rln = None;
    relay.publish_unjoined = true;
    if let Some(change) = different.relay {
        change(&mut relay);
    }
    let (sender, events) = mpsc::unbounded_channel();
    let options = NodeOptions::for_network(&preset)
        .listen(["/ip4/127.0.0.1/tcp/0".parse().unwrap()])
        .relay(relay)
        .topics(different.topics.iter().cloned())
        .static_peers(different.static_peers)
        .connections(ConnectionLimits::with_total(10))
        .events(sender);
    let options = match different.is_light {
        true => options.protocols(Vec::<String>::new()),
        false => options,
    };
    let running = start(options).await.unwrap();
    let config = RestConfig {
        subscriptions: different.topics,
        ..config()
    };
    let api = router(running.handle.clone(), config);
    Live {
        running,
        api,
        events,
    }
}

impl Live {
    async fn ask(&self, method: &str, path: &str, body: &Value) -> (StatusCode, Value) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(match body {
                Value::Null => Body::empty(),
                body => Body::from(body.to_string()),
            })
            .unwrap();
        let response = self.api.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = to_bytes(response.into_body(), 1 << 20).await.unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let value = serde_json::from_str(&text);
        (status, value.unwrap_or(Value::String(text)))
    }

    async fn get(&self, path: &str) -> Value {
        self.ask("GET", path, &Value::Null).await.1
    }

    /// Asks again until the answer is as wanted.
    async fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        let wait = async {
            loop {
                last = self.get(path).await;
                if wanted(&last) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(HANG, wait).await;
        assert!(waited.is_ok(), "{path}: {last:#}");
        last
    }
}

fn relay_health(health: &Value) -> &Value {
    &health["protocolsHealth"][0]["Relay"]
}

#[tokio::test]
async fn the_same_message_twice_is_no_failure() {
    let alice = live(Different {
        topics: vec![shard(3)],
        ..Different::default()
    })
    .await;
    let bob = live(Different {
        topics: vec![shard(3)],
        static_peers: alice.running.addresses.clone(),
        ..Different::default()
    })
    .await;
    let is_ready = |health: &Value| relay_health(health) == "READY";
    alice.until("/health", is_ready).await;
    let message = json!({"payload": "aGk=", "contentTopic": TOPIC, "timestamp": 5});
    let strict = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F3";
    for path in [strict, strict, "/relay/v1/auto/messages"] {
        let (status, text) = alice.ask("POST", path, &message).await;
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
    }
    alice.running.stop().await;
    bob.running.stop().await;
}

#[tokio::test]
async fn a_node_is_ready_before_it_has_peers_and_idle_connections_are_none() {
    let alice = live(Different {
        topics: vec![shard(0)],
        ..Different::default()
    })
    .await;
    let health = alice.get("/health").await;
    assert_eq!(health["nodeHealth"], "READY");
    assert_eq!(health["connectionStatus"], "Disconnected");
    assert_eq!(relay_health(&health), "NOT_READY");
    let (status, why) = alice.ask("GET", "/readyz", &Value::Null).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(why, "Relay: No connected peers");
    assert_eq!(health["protocolsHealth"].as_array().unwrap().len(), 15);
    assert_eq!(health["protocolsHealth"][5]["Store"], "NOT_MOUNTED");
    // Connected, but takes part in nothing that we take part in.
    let idle = live(Different {
        static_peers: alice.running.addresses.clone(),
        ..Different::default()
    })
    .await;
    let known = |peers: &Value| peers[0]["agent"].as_str().is_some_and(|a| !a.is_empty());
    alice.until("/admin/v1/peers/connected", known).await;
    let health = alice.get("/health").await;
    assert_eq!(health["connectionStatus"], "Disconnected");
    assert_eq!(relay_health(&health), "NOT_READY");
    let subscribe = json!(["/waku/2/rs/66/0"]);
    idle.ask("POST", "/relay/v1/subscriptions", &subscribe)
        .await;
    let partly = |health: &Value| health["connectionStatus"] == "PartiallyConnected";
    alice.until("/health", partly).await;
    let is_ready = |health: &Value| relay_health(health) == "READY";
    alice.until("/health", is_ready).await;
    let (status, _) = alice.ask("GET", "/readyz", &Value::Null).await;
    assert_eq!(status, StatusCode::OK);
    alice.running.stop().await;
    idle.running.stop().await;
}

#[tokio::test]
async fn peers_are_listed_with_addresses_that_others_can_dial() {
    let alice = live(Different::default()).await;
    let bob = live(Different {
        static_peers: alice.running.addresses.clone(),
        ..Different::default()
    })
    .await;
    let listens = bob.running.addresses[0].to_string();
    let dialable = |peers: &Value| peers[0]["multiaddr"] == listens;
    let peers = alice.until("/admin/v1/peers", dialable).await;
    assert!(peers[0].get("score").is_none(), "{peers}");
    alice.running.stop().await;
    bob.running.stop().await;
}

#[tokio::test]
async fn a_peer_that_was_dialled_in_vain_is_listed_as_such() {
    let alice = live(Different::default()).await;
    // A port that was free a moment ago, at which nobody listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = format!("/ip4/127.0.0.1/tcp/{port}/p2p/{PEER_A}");
    let (status, _) = alice
        .ask("POST", "/admin/v1/peers", &json!([address]))
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let path = format!("/admin/v1/peer/{PEER_A}");
    let (status, peer) = alice.ask("GET", &path, &Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{peer}");
    assert_eq!(peer["connected"], "CannotConnect");
    assert_eq!(peer["multiaddr"], address);
    alice.running.stop().await;
}

#[tokio::test]
async fn info_has_a_signed_record() {
    let alice = live(Different {
        topics: vec![shard(0)],
        ..Different::default()
    })
    .await;
    let info = alice.get("/info").await;
    let uri = info["enrUri"].as_str().unwrap();
    assert!(uri.starts_with("enr:-"), "{uri}");
    assert_eq!(alice.get("/info").await["enrUri"], uri);
    let topics = json!(["/waku/2/rs/66/1"]);
    alice.ask("POST", "/relay/v1/subscriptions", &topics).await;
    assert_ne!(
        alice.get("/info").await["enrUri"],
        uri,
        "it has another shard"
    );
    alice.running.stop().await;
}

/// One neighbour relays, and hears of subscriptions; the other hears of shards by metadata only.
#[tokio::test]
async fn neighbours_hear_of_shards_that_a_node_joins_and_leaves() {
    let alice = live(Different {
        topics: vec![shard(0)],
        ..Different::default()
    })
    .await;
    let mut neighbours = Vec::new();
    for is_light in [false, true] {
        let neighbour = live(Different {
            static_peers: alice.running.addresses.clone(),
            is_light,
            ..Different::default()
        });
        neighbours.push(neighbour.await);
    }
    let topics = json!(["/waku/2/rs/66/5"]);
    for (change, shards) in [
        (None, json!([0])),
        (Some("POST"), json!([0, 5])),
        (Some("DELETE"), json!([0])),
    ] {
        if let Some(method) = change {
            let (status, answer) = alice.ask(method, "/relay/v1/subscriptions", &topics).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
        }
        for neighbour in &neighbours {
            let path = "/admin/v1/peers/connected";
            neighbour
                .until(path, |peers| peers[0]["shards"] == shards)
                .await;
        }
    }
    alice.running.stop().await;
    for neighbour in neighbours {
        neighbour.running.stop().await;
    }
}

/// Parameters by which every peer that is charged for its address is below the threshold from the first moment.
fn no_second_peer(relay: &mut RelayConfig) {
    let thresholds = &mut relay.gossip.thresholds;
    (thresholds.gossip, thresholds.publish) = (-1.0, -1.0);
    thresholds.graylist = -1.0;
    let score = relay.gossip.score.as_mut().unwrap();
    score.ip_colocation_threshold = 0;
}

#[tokio::test]
async fn a_static_peer_is_not_charged_for_its_address() {
    let peer = live(Different {
        topics: vec![shard(0)],
        ..Different::default()
    })
    .await;
    let strict = live(Different {
        topics: vec![shard(0)],
        relay: Some(no_second_peer),
        static_peers: peer.running.addresses.clone(),
        ..Different::default()
    })
    .await;
    strict
        .until("/health", |health| relay_health(health) == "READY")
        .await;
    let metrics = strict.running.handle.metrics().await.unwrap();
    assert_eq!(metrics.totals.graylisted, 0);
    strict.running.stop().await;
    peer.running.stop().await;
}

/// Every peer is below the threshold from the first moment, and its node dials again and again.
#[tokio::test]
async fn a_peer_that_comes_back_while_it_is_graylisted_counts_once() {
    let mut strict = live(Different {
        topics: vec![shard(0)],
        relay: Some(no_second_peer),
        ..Different::default()
    })
    .await;
    let peer = live(Different {
        topics: vec![shard(0)],
        static_peers: strict.running.addresses.clone(),
        ..Different::default()
    })
    .await;
    let mut refused = 0;
    while refused < 3 {
        let event = tokio::time::timeout(HANG, strict.events.recv()).await;
        let event = event.expect("it is refused again").unwrap().event;
        refused += usize::from(matches!(event, NodeEvent::Graylisted { .. }));
    }
    let metrics = strict.running.handle.metrics().await.unwrap();
    assert_eq!(metrics.totals.graylisted, 1);
    // It has done nothing but share an address.
    assert!(metrics.totals.graylisted_for_address >= 3);
    strict.running.stop().await;
    peer.running.stop().await;
}

/// Each of two connected nodes tells of the other and of the shard that they share.
#[tokio::test]
async fn the_status_shows_mesh_peers_and_direction() {
    let one = live(Different {
        topics: vec![shard(0)],
        ..Different::default()
    })
    .await;
    let info = one.get("/debug/v1/info").await;
    let address = info["listenAddresses"][0].as_str().unwrap();
    let two = live(Different {
        topics: vec![shard(0)],
        static_peers: vec![address.parse().unwrap()],
        ..Different::default()
    })
    .await;
    // An answer is put together from several questions to the node, between which the mesh may form.
    let is_settled = |status: &Value| {
        status["peers"][0]["inMesh"] == json!(["/waku/2/rs/66/0"])
            && status["shards"][0]["mesh"] == 1
            && relay_health(&status["health"]) == "READY"
    };
    for (node, direction) in [(&one, "in"), (&two, "out")] {
        let status = node.until("/admin/v1/status", is_settled).await;
        let peer = &status["peers"][0];
        assert_eq!(
            (&peer["direction"], &peer["transport"]),
            (&json!(direction), &json!("tcp"))
        );
        let expected = json!({
            "pubsubTopic": "/waku/2/rs/66/0", "mesh": 1, "subscribers": 1, "receivedBytes": 0, "sentBytes": 0,
            "dropped": 0, "trouble": null,
        });
        assert_eq!(status["shards"], json!([expected]));
        assert_eq!(
            (&status["connectedPeers"], &status["peersLeftOut"]),
            (&json!(1), &json!(0))
        );
        assert_eq!(
            (&status["rln"], &status["validation"]),
            (&Value::Null, &Value::Null)
        );
        assert!(status["totals"]["receivedBytes"].as_u64().unwrap() > 0);
    }
    let message = json!({"payload": "aGVsbG8=", "contentTopic": TOPIC});
    let path = "/relay/v1/messages/%2Fwaku%2F2%2Frs%2F66%2F0";
    let (status, answer) = two.ask("POST", path, &message).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    // The one is counted before the other.
    let is_delivered = |status: &Value| status["totals"]["delivered"] == 1;
    let status = one.until("/admin/v1/status", is_delivered).await;
    assert_eq!(status["validation"]["messages"], 1);
    two.running.handle.shutdown().await;
    let is_alone = |status: &Value| status["peers"] == json!([]);
    let status = one.until("/admin/v1/status", is_alone).await;
    assert_eq!(
        status["shards"][0]["trouble"],
        "no connected peer is subscribed"
    );
}
