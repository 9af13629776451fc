//! Stores that catch up: by resume after they were away, and by synchronisation.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use undertone_archive::{Archive, ArchiveOptions, ArchiveUrl};
use undertone_message::{PubsubTopic, Shard, WakuMessage};
use undertone_node::assemble::{Assembled, assemble};
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryData, HistoryQuery, PageDirection, StoredMessage,
};

use crate::support::{HANG, Place, metrics, metrics_until};

const MINUTE_NS: i64 = 60_000_000_000;

fn topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_nanos()).unwrap()
}

fn address(node: &Assembled) -> String {
    node.node.addresses[0].to_string()
}

/// Gives a node that has not started yet an archive with messages, each of so many minutes before a time.
async fn keep(place: &Place, now_ns: i64, messages: &[(&str, i64)]) {
    let url = ArchiveUrl::sqlite(place.path("store.sqlite"));
    let archive = Archive::open(&url, ArchiveOptions::default()).await;
    let message = |(text, minutes): &(&str, i64)| {
        let payload = (*text).to_owned().into_bytes();
        let mut message = WakuMessage::new(payload, "/test/1/a/proto");
        message.timestamp = Some(now_ns - minutes * MINUTE_NS);
        StoredMessage::new(topic().to_string(), message)
    };
    let messages = messages.iter().map(message).collect();
    archive.unwrap().insert(messages).await.unwrap();
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

const STORE: [(&str, &str); 3] = [("rln", "false"), ("shards", "0"), ("store", "true")];

async fn start(place: &Place, peers: &[String], more: &[(&str, &str)]) -> Assembled {
    assemble(&place.config(peers, more)).await.unwrap()
}

#[tokio::test]
async fn a_store_asks_for_what_was_published_while_it_was_away() {
    let places = [Place::new(), Place::new(), Place::new()];
    let kept = [
        ("day before", 7 * 60),
        ("long ago", 120),
        ("away", 60),
        ("new", 1),
    ];
    keep(&places[0], now_ns(), &kept).await;
    let stays = start(&places[0], &[], &STORE).await;
    let storenode = format!("{}/p2p/{}", address(&stays), stays.node.peer_id);
    let resume = [("store-resume", "true"), ("storenode", storenode.as_str())];
    let resume = [&STORE[..], &resume].concat();

    // The node was connected last an hour and a half ago.
    let marker = places[1].path("store-online");
    let left_ns = now_ns() - 90 * MINUTE_NS;
    fs::write(&marker, left_ns.to_string()).unwrap();
    let back = start(&places[1], &[], &resume).await;
    has(&back, &["away", "new"]).await;
    let noted = async {
        let read = || fs::read_to_string(&marker).unwrap().trim().parse::<i64>();
        while read().unwrap() < left_ns + 80 * MINUTE_NS {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANG, noted).await.unwrap();

    // A node that was never connected asks for six hours.
    let new = start(&places[2], &[], &resume).await;
    has(&new, &["long ago", "away", "new"]).await;
}

#[tokio::test]
async fn two_stores_are_made_equal_by_synchronisation() {
    let places = [Place::new(), Place::new()];
    let now_ns = now_ns();
    let of_one = [("too old", 90), ("common", 30), ("of one", 20)];
    keep(&places[0], now_ns, &of_one).await;
    let of_other = [("common", 30), ("of the other", 10)];
    keep(&places[1], now_ns, &of_other).await;
    let sync = [("store-sync", "true"), ("store-sync-interval", "1")];
    let sync = [&STORE[..], &sync].concat();
    let one = start(&places[0], &[], &sync).await;
    let other = start(&places[1], &[address(&one)], &sync).await;
    has(&one, &["too old", "common", "of one", "of the other"]).await;
    has(&other, &["common", "of one", "of the other"]).await;

    // A session that begins before what an earlier one found is stored finds it again, and it is sent again: on a busy machine
    // both counts are greater. What comes twice is kept once.
    let now = metrics_until(&other, |now| now["reconciliation_differences_sum"] >= 2.0).await;
    assert_eq!(now["total_messages_cached"], 3.0);
    assert_eq!(now["logos_delivery_total_messages_cached"], 3.0);
    let transferred = "total_transfer_messages_exchanged_total";
    for direction in ["receive", "sent"] {
        let labels = format!("{{direction=\"{direction}\"}}");
        assert!(now[&format!("{transferred}{labels}")] >= 1.0);
        for protocol in ["reconciliation", "transfer"] {
            let labels = format!("{{protocol=\"{protocol}\",direction=\"{direction}\"}}");
            assert!(now[&format!("total_bytes_exchanged_total{labels}")] > 0.0);
        }
    }
    let of_one = metrics(one.rest.unwrap()).await;
    for now in [&now, &of_one] {
        assert_eq!(now["undertone_sync_messages_kept_total"], 1.0);
    }
    assert!(now["reconciliation_roundtrips_count"] >= 1.0);
}

/// On a network with rate limiting, a stranger's history is taken if its proofs are valid.
#[tokio::test]
async fn proofs_come_with_synchronised_messages_and_are_checked() {
    let alices = Place::new();
    alices.join(b"alice");
    let relays = Place::with_registry_of(&alices);
    let bobs = Place::with_registry_of(&alices);
    // Without gossip, a peer that comes later does not hear of a message by relay.
    let sync = [
        ("shards", "0"),
        ("gossip.d-lazy", "0"),
        ("gossip.gossip-factor", "0"),
        ("store", "true"),
        ("store-sync", "true"),
        ("store-sync-interval", "1"),
        ("store-sync-relay-jitter", "0"),
    ];
    let relay = start(&relays, &[], &[("shards", "0")]).await;
    let alice = start(&alices, &[address(&relay)], &sync).await;
    let mesh = format!("undertone_mesh_peers{{topic=\"{}\"}}", topic());
    metrics_until(&alice, |now| now[&mesh] >= 1.0).await;
    let message = WakuMessage::new(b"proved".to_vec(), "/test/1/a/proto");
    alice.node.handle.publish(topic(), message).await.unwrap();
    has(&alice, &["proved"]).await;
    let of_alice = archive(&alice).await.remove(0);
    assert!(of_alice.message.rate_limit_proof.is_some());

    let bob = start(&bobs, &[address(&alice)], &sync).await;
    has(&bob, &["proved"]).await;
    assert_eq!(archive(&bob).await, [of_alice]);
    let now = metrics(bob.rest.unwrap()).await;
    assert_eq!(now["undertone_sync_messages_kept_total"], 1.0);
}

/// A node without relay gets its archive by synchronisation, serves it, and checks the proofs of what it gets.
#[tokio::test]
async fn a_store_without_relay_is_a_replica() {
    let places = [Place::new(), Place::new(), Place::new()];
    keep(&places[0], now_ns(), &[("kept", 20)]).await;
    let sync = [("store-sync", "true"), ("store-sync-interval", "1")];
    let sync = [&STORE[..], &sync].concat();
    let relay = start(&places[0], &[], &sync).await;
    let light = [&sync[..], &[("relay", "false"), ("filter", "true")]].concat();
    let replica = start(&places[1], &[address(&relay)], &light).await;
    has(&replica, &["kept"]).await;
    let storenode = address(&replica);
    let asks = [
        ("rln", "false"),
        ("relay", "false"),
        ("storenode", storenode.as_str()),
    ];
    let client = start(&places[2], &[], &asks).await;
    has(&client, &["kept"]).await;

    // With rate limiting, a stranger's message without a proof is refused.
    let member = Place::new();
    member.join(b"other");
    let checking = Place::with_registry_of(&member);
    let limited = [&sync[1..], &[("relay", "false")]].concat();
    let limited = start(&checking, &[address(&relay)], &limited).await;
    let refused = "undertone_sync_messages_refused_total{reason=\"no_proof\"}";
    metrics_until(&limited, |now| now.get(refused).is_some_and(|n| *n >= 1.0)).await;
    assert!(texts(&limited).await.is_empty());
}

/// A partner that was connected to by hand is dialled again when it is back.
#[tokio::test]
async fn a_partner_that_was_gone_is_dialled_again() {
    let places = [Place::new(), Place::new()];
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    drop(listener);
    let sync = [("store-sync", "true"), ("store-sync-interval", "1")];
    let sync = [&STORE[..], &sync].concat();
    let at_port = [&sync[..], &[("tcp-port", port.as_str())]].concat();
    keep(&places[0], now_ns(), &[("before", 20)]).await;
    let partner = start(&places[0], &[], &at_port).await;
    let light = [&sync[..], &[("relay", "false")]].concat();
    let replica = start(&places[1], &[], &light).await;
    let named = address(&partner).parse().unwrap();
    replica.node.handle.connect(named).await.unwrap();
    has(&replica, &["before"]).await;
    partner.stop().await;
    keep(&places[0], now_ns(), &[("away", 10)]).await;
    let _partner = start(&places[0], &[], &at_port).await;
    has(&replica, &["before", "away"]).await;
}
