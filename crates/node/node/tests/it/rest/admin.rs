use axum::http::StatusCode;
use serde_json::{Value, json};
use undertone_node::command::{Connectedness, PeerOrigin, PeerSnapshot};

use crate::rest::support::{Api, PEER_A, PEER_B, Script, answer_ok, bad_request, config, shard};

const RELAY: &str = "/vac/waku/relay/2.0.0";
const STORE: &str = "/vac/waku/store-query/3.0.0";

/// A is connected and in the mesh of shard 0; B was seen once.
fn peers() -> Vec<PeerSnapshot> {
    let a = PeerSnapshot {
        peer_id: PEER_A.parse().unwrap(),
        multiaddr: Some("/ip4/10.0.0.1/tcp/60000".parse().unwrap()),
        protocols: vec!["/ipfs/ping/1.0.0".into(), STORE.into(), RELAY.into()],
        shards: vec![0, 1],
        connected: Connectedness::Connected,
        is_inbound: false,
        transport: Some("tcp"),
        agent: "nwaku-v0.38".into(),
        origin: PeerOrigin::Static,
        score: 1.5,
        topics: vec![shard(0), shard(1)],
        in_mesh: vec![shard(0)],
    };
    let b = PeerSnapshot {
        peer_id: PEER_B.parse().unwrap(),
        multiaddr: None,
        protocols: vec![],
        shards: vec![0],
        connected: Connectedness::NotConnected,
        is_inbound: false,
        transport: None,
        agent: String::new(),
        origin: PeerOrigin::Discv5,
        score: 0.0,
        topics: vec![shard(0)],
        in_mesh: vec![],
    };
    vec![a, b]
}

fn peer_a(score: Value) -> Value {
    let mut peer = json!({
        "multiaddr": format!("/ip4/10.0.0.1/tcp/60000/p2p/{PEER_A}"),
        "protocols": ["/ipfs/ping/1.0.0", STORE, RELAY],
        "shards": [0, 1],
        "connected": "Connected",
        "agent": "nwaku-v0.38",
        "origin": "Static",
    });
    if !score.is_null() {
        peer["score"] = score;
    }
    peer
}

fn peer_b() -> Value {
    json!({
        "multiaddr": "", "protocols": [], "shards": [0], "connected": "NotConnected", "agent": "",
        "origin": "Discv5",
    })
}

async fn get_json(path: &str) -> Value {
    let api = Api::start(Script {
        peers: peers(),
        ..Script::default()
    });
    let (status, body) = api.get(path).await;
    assert_eq!(status, StatusCode::OK, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

#[tokio::test]
async fn peers_are_listed_and_filtered() {
    let a = peer_a(Value::Null);
    assert_eq!(get_json("/admin/v1/peers").await, json!([a, peer_b()]));
    assert_eq!(get_json("/admin/v1/peers/connected").await, json!([a]));
    assert_eq!(get_json("/admin/v1/peers/connected/on/1").await, json!([a]));
    assert_eq!(get_json("/admin/v1/peers/connected/on/2").await, json!([]));
    assert_eq!(
        get_json(&format!("/admin/v1/peer/{PEER_B}")).await,
        peer_b()
    );
}

#[tokio::test]
async fn services_are_listed_in_their_order() {
    let mut expected = peer_a(Value::Null);
    expected["protocols"] = json!([RELAY, STORE]);
    assert_eq!(get_json("/admin/v1/peers/service").await, json!([expected]));
}

#[tokio::test]
async fn gossip_peers_are_grouped_by_shard_and_have_scores() {
    let a = peer_a(json!(1.5));
    assert_eq!(
        get_json("/admin/v1/peers/relay").await,
        json!([{"shard": 0, "peers": [a]}, {"shard": 1, "peers": [a]}])
    );
    assert_eq!(
        get_json("/admin/v1/peers/mesh").await,
        json!([{"shard": 0, "peers": [a]}, {"shard": 1, "peers": []}])
    );
    assert_eq!(
        get_json("/admin/v1/peers/relay/on/1").await,
        json!({"shard": 1, "peers": [a]})
    );
    assert_eq!(
        get_json("/admin/v1/peers/mesh/on/1").await,
        json!({"shard": 1, "peers": []})
    );
}

#[tokio::test]
async fn statistics_count_in_their_order() {
    let api = Api::start(Script {
        peers: peers(),
        ..Script::default()
    });
    let (status, body) = api.get("/admin/v1/peers/stats").await;
    assert_eq!(status, StatusCode::OK);
    let expected = [
        r#"{"Sum":{"Total peers":2},"#,
        r#""By Connectedness":{"Connected":1,"NotConnected":1,"CannotConnect":0,"CanConnect":0},"#,
        r#""Relay peers":{"0":1,"1":1,"Total relay peers":2},"#,
        r#""Mesh peers":{"0":1,"1":0,"Total mesh peers":1},"#,
        r#""By Protocols":{"/vac/waku/relay/2.0.0":1,"#,
    ];
    assert!(body.starts_with(&expected.concat()), "{body}");
}

#[tokio::test]
async fn peers_are_connected_until_one_cannot_be() {
    let good = format!("/ip4/10.0.0.1/tcp/1/p2p/{PEER_A}");
    let bad = format!("/ip4/10.0.0.2/tcp/1/p2p/{PEER_B}");
    let script = Script {
        unreachable: vec![bad.parse().unwrap()],
        ..Script::default()
    };
    let api = Api::start(script);
    assert_eq!(
        api.post("/admin/v1/peers", &json!([good]).to_string())
            .await,
        answer_ok()
    );
    let body = json!([good, bad, good]).to_string();
    assert_eq!(
        api.post("/admin/v1/peers", &body).await,
        bad_request(&format!("Failed to connect to peer at index: 1 - {bad}"))
    );
    assert_eq!(api.asked().len(), 3, "nothing is tried after a failure");
    let (status, text) = api.post("/admin/v1/peers", r#"["nowhere"]"#).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(
        text.starts_with("Couldn't parse remote peer info: MultiAddress.init ["),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_not_there_or_not_valid_is_said() {
    let api = Api::start(Script::default());
    assert_eq!(
        api.get(&format!("/admin/v1/peer/{PEER_A}")).await,
        (
            StatusCode::NOT_FOUND,
            format!("Peer with ID {PEER_A} not found")
        )
    );
    let (status, text) = api.get("/admin/v1/peer/x").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(text.starts_with("Invalid argument:"), "{text}");
    for path in ["connected/on/x", "relay/on/-1", "mesh/on/65536"] {
        let (status, text) = api.get(&format!("/admin/v1/peers/{path}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(text.starts_with("Invalid shardId: "), "{text}");
    }
    assert_eq!(
        api.get("/admin/v1/filter/subscriptions").await,
        bad_request("Error: Filter Protocol is not mounted to the node")
    );
}

#[tokio::test]
async fn without_relay_there_are_no_gossip_peers() {
    let api = Api::with_config(
        Script::default(),
        undertone_node::rest::RestConfig {
            relay: false,
            ..config()
        },
    );
    for path in ["relay", "mesh", "relay/on/0", "mesh/on/0"] {
        assert_eq!(
            api.get(&format!("/admin/v1/peers/{path}")).await,
            (
                StatusCode::SERVICE_UNAVAILABLE,
                "Error: Relay Protocol is not mounted to the node".into()
            )
        );
    }
}

#[tokio::test]
async fn the_log_level_is_set_by_its_name() {
    use tracing::Level;
    let api = Api::with_config(
        Script::default(),
        undertone_node::rest::RestConfig {
            log_level: Some(|level| level != Level::TRACE),
            ..config()
        },
    );
    for level in ["DEBUG", "info", "NOTICE", "WARN", "ERROR", "FATAL"] {
        let path = format!("/admin/v1/log-level/{level}");
        let request = axum::http::Request::post(path);
        let request = request.body(axum::body::Body::empty()).unwrap();
        assert_eq!(api.send(request).await, answer_ok(), "{level}");
    }
    for (level, status) in [("LOUD", 400), ("TRACE", 500)] {
        let path = format!("/admin/v1/log-level/{level}");
        assert_eq!(api.post(&path, "").await.0.as_u16(), status, "{level}");
    }
}
