//! Stores that catch up: by resume after they were away, and by synchronisation.

use std::time::Duration;

use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::{Assembled, assemble};
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryData, HistoryQuery, PageDirection,
};

use crate::support::{HANG, Place, metrics, metrics_until};

fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

fn address(node: &Assembled) -> String {
    node.node.addresses[0].to_string()
}

fn address_with_peer(node: &Assembled) -> String {
    format!("{}/p2p/{}", address(node), node.node.peer_id)
}

/// Messages of a node's own archive, the oldest first.
async fn archive(node: &Assembled) -> Vec<HistoryData> {
    let query = HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(ContentCriteria::default()),
        cursor: None,
        direction: PageDirection::Forward,
        limit: 100,
    };
    let page = node.services.handle.query_store(None, query).await.unwrap();
    let data = page.page.entries.into_iter().filter_map(|one| one.data);
    data.collect()
}

async fn texts(node: &Assembled) -> Vec<String> {
    let text = |data: &HistoryData| String::from_utf8_lossy(&data.message.payload).into_owned();
    archive(node).await.iter().map(text).collect()
}

async fn has(node: &Assembled, expected: &[&str]) {
    let arrives = async {
        while texts(node).await != expected {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let arrived = tokio::time::timeout(HANG, arrives).await;
    assert!(arrived.is_ok(), "{:?}, not {expected:?}", texts(node).await);
}

async fn publish(node: &Assembled, text: &str) {
    let message = WakuMessage::new(text.to_owned().into_bytes(), "/test/1/a/proto");
    node.node.handle.publish(topic(), message).await.unwrap();
}

/// Waits until a node has so many peers in its mesh.
async fn meshed(node: &Assembled, peers: f64) {
    let mesh = format!("undertone_mesh_peers{{topic=\"{}\"}}", topic());
    metrics_until(node, |now| now[&mesh] >= peers).await;
}

const COMMON: [(&str, &str); 2] = [("rln", "false"), ("shards", "0")];

/// Without relaying, nothing comes by gossip that these tests expect to come otherwise.
const NO_RELAY: (&str, &str) = ("relay", "false");

async fn start(place: &Place, peers: &[String], more: &[(&str, &str)]) -> Assembled {
    assemble(&place.config(peers, more)).await.unwrap()
}

#[tokio::test]
async fn a_store_asks_for_what_was_published_while_it_was_away() {
    let places = [Place::new(), Place::new(), Place::new()];
    let relay = start(&places[0], &[], &COMMON).await;
    let store = [&COMMON[..], &[("store", "true")]].concat();
    let stays = start(&places[1], &[address(&relay)], &store).await;
    let storenode = address_with_peer(&stays);
    let resumes = [("store-resume", "true"), ("storenode", &storenode)];
    let resumes = [&store[..], &resumes, &[NO_RELAY]].concat();

    // A new store gets what was there before it.
    meshed(&stays, 1.0).await;
    meshed(&relay, 1.0).await;
    publish(&relay, "before").await;
    has(&stays, &["before"]).await;
    let leaves = start(&places[2], &[], &resumes).await;
    has(&leaves, &["before"]).await;
    let marker = places[2].path("store-online");
    let noted = async {
        while !marker.exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANG, noted).await.unwrap();

    leaves.stop().await;
    publish(&relay, "meanwhile").await;
    publish(&relay, "still away").await;
    has(&stays, &["before", "meanwhile", "still away"]).await;
    let back = start(&places[2], &[], &resumes).await;
    has(&back, &["before", "meanwhile", "still away"]).await;
}

#[tokio::test]
async fn a_store_that_was_away_is_made_equal_by_synchronisation() {
    let places = [Place::new(), Place::new(), Place::new()];
    let relay = start(&places[0], &[], &COMMON).await;
    let sync = [
        &COMMON[..],
        &[
            ("store", "true"),
            ("store-sync", "true"),
            ("store-sync-interval", "1"),
            ("store-sync-relay-jitter", "0"),
        ],
    ]
    .concat();
    let stays = start(&places[1], &[address(&relay)], &sync).await;
    let peers = [address(&relay), address(&stays)];
    let leaves = start(&places[2], &peers, &sync).await;
    meshed(&relay, 2.0).await;
    publish(&relay, "before").await;
    has(&leaves, &["before"]).await;
    leaves.stop().await;
    meshed(&stays, 1.0).await;
    publish(&relay, "meanwhile").await;
    has(&stays, &["before", "meanwhile"]).await;
    let alone = [&sync[..], &[NO_RELAY]].concat();
    let back = start(&places[2], &peers[1..], &alone).await;
    has(&back, &["before", "meanwhile"]).await;

    let differs = "reconciliation_differences_sum";
    let now = metrics_until(&back, |now| now[differs] == 1.0).await;
    assert_eq!(now["total_messages_cached"], 2.0);
    assert_eq!(
        now["total_transfer_messages_exchanged_total{direction=\"receive\"}"],
        1.0
    );
    assert_eq!(now["undertone_sync_messages_kept_total"], 1.0);
    assert!(now["reconciliation_roundtrips_count"] >= 1.0);
    let bytes = |protocol: &str, direction: &str| {
        let labels = format!("{{protocol=\"{protocol}\",direction=\"{direction}\"}}");
        now[&format!("total_bytes_exchanged_total{labels}")]
    };
    assert!(bytes("reconciliation", "sent") > 0.0);
    assert!(bytes("transfer", "receive") > 0.0);
    assert_eq!(bytes("transfer", "sent"), 0.0);
    let other = metrics(stays.rest.unwrap()).await;
    assert_eq!(
        other["total_transfer_messages_exchanged_total{direction=\"sent\"}"],
        1.0
    );
}

/// On a network with rate limiting, a stranger's history is taken if its proofs are valid.
#[tokio::test]
async fn proofs_come_with_synchronised_messages_and_are_checked() {
    let alices = Place::new();
    alices.join(b"alice");
    let relays = Place::with_registry_of(&alices);
    let bobs = Place::with_registry_of(&alices);
    let sync = [
        ("shards", "0"),
        ("store", "true"),
        ("store-sync", "true"),
        ("store-sync-interval", "1"),
        ("store-sync-relay-jitter", "0"),
    ];
    let relay = start(&relays, &[], &[("shards", "0")]).await;
    let alice = start(&alices, &[address(&relay)], &sync).await;
    meshed(&alice, 1.0).await;
    publish(&alice, "proved").await;
    has(&alice, &["proved"]).await;
    let of_alice = archive(&alice).await.remove(0);
    assert!(of_alice.message.rate_limit_proof.is_some());

    let alone = [&sync[..], &[NO_RELAY]].concat();
    let bob = start(&bobs, &[address(&alice)], &alone).await;
    has(&bob, &["proved"]).await;
    assert_eq!(archive(&bob).await, [of_alice]);
    let now = metrics(bob.rest.unwrap()).await;
    assert_eq!(now["undertone_sync_messages_kept_total"], 1.0);
}
