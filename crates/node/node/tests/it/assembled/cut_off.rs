//! Shards on which nothing is relayed: the node names them in `/health` and in the metrics.

use std::time::{Duration, Instant};

use serde_json::Value;
use undertone_node::assemble::{Assembled, assemble};

use crate::support::{Place, ask, metrics, metrics_until};

/// Time within which a node says that nothing is relayed on a shard.
const TOLD_WITHIN: Duration = Duration::from_secs(30);

fn name(shard: u16) -> String {
    format!("/waku/2/rs/66/{shard}")
}

/// Node without rate limit on some shards, connected to others.
async fn node(place: &Place, shards: &str, peers: &[&Assembled]) -> Assembled {
    let peers = peers.iter().map(|peer| peer.node.addresses[0].to_string());
    let flags = [("rln", "false"), ("shards", shards)];
    let config = place.config(&peers.collect::<Vec<_>>(), &flags);
    assemble(&config).await.unwrap()
}

/// What `/health` answers.
async fn health(node: &Assembled) -> Value {
    let (_, body) = ask(node.rest.unwrap(), "GET", "/health", "").await;
    serde_json::from_str(&body).unwrap()
}

/// State of relaying as `/health` tells it, with its reason.
async fn relaying(node: &Assembled) -> (String, String) {
    let health = health(node).await;
    let protocols = health["protocolsHealth"].as_array().unwrap();
    let relay = protocols.iter().find(|entry| entry.get("Relay").is_some());
    let text = |key| relay.unwrap()[key].as_str().unwrap_or_default().to_owned();
    (text("Relay"), text("desc"))
}

/// Waits until exactly these of the shards 0 and 1 are told to be cut off, by health and metrics.
async fn told(node: &Assembled, cut_off: &[u16], within: Duration) -> String {
    let began = Instant::now();
    loop {
        let (status, desc) = relaying(node).await;
        let page = metrics(node.rest.unwrap()).await;
        let is_told = [0, 1].into_iter().all(|shard| {
            let gauge = format!("undertone_shard_cut_off{{topic=\"{}\"}}", name(shard));
            let is_cut_off = cut_off.contains(&shard);
            desc.contains(&name(shard)) == is_cut_off && page[&gauge] == f64::from(is_cut_off)
        });
        if is_told && (status == "READY") == cut_off.is_empty() {
            return desc;
        }
        assert!(
            began.elapsed() < within,
            "after {within:?}: {status}, {desc:?}, not {cut_off:?}"
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn a_shard_whose_only_peer_has_gone_is_named_within_30_s() {
    let [on_0, on_1, on_both] = [Place::new(), Place::new(), Place::new()];
    let first = node(&on_0, "0", &[]).await;
    let second = node(&on_1, "1", &[]).await;
    let watched = node(&on_both, "0,1", &[&first, &second]).await;
    let mesh = |shard| format!("undertone_mesh_peers{{topic=\"{}\"}}", name(shard));
    metrics_until(&watched, |page| {
        page[&mesh(0)] == 1.0 && page[&mesh(1)] == 1.0
    })
    .await;
    told(&watched, &[], TOLD_WITHIN).await;

    first.stop().await;
    let desc = told(&watched, &[0], TOLD_WITHIN).await;
    assert_eq!(
        desc,
        "nothing is relayed on /waku/2/rs/66/0: no peer in its mesh answers"
    );
    let shards = health(&watched).await["shardsHealth"].clone();
    let health_of = |shard: usize| shards[shard]["health"].as_str();
    assert_eq!(health_of(0), Some("NOT_READY"), "{shards}");
    assert_eq!(health_of(1), Some("READY"), "{shards}");
    second.stop().await;
    let desc = told(&watched, &[0, 1], TOLD_WITHIN).await;
    assert_eq!(
        desc,
        "No connected peers; nothing is relayed on /waku/2/rs/66/0, /waku/2/rs/66/1"
    );

    // It is told as long as it lasts.
    let back = Place::new();
    let back = node(&back, "0,1", &[&watched]).await;
    told(&watched, &[], TOLD_WITHIN).await;
    back.stop().await;
    watched.stop().await;
}
