//! Measurement: two stores with 100,000 messages that differ in 1,000 are made equal.
//! A program of its own, because it is built with the profile `dist`, in which the other tests would take long to compile.

use std::path::Path;
use std::time::Duration;

use undertone_archive::{Archive, ArchiveOptions, ArchiveUrl};
use undertone_message::WakuMessage;
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::config::{NodeConfig, Sources};
use undertone_services::history::StoredMessage;

/// Messages of each store.
const MESSAGES: u64 = 100_000;

/// Messages that only one of them has, of each.
const OWN: u64 = 500;

/// Messages of both stores.
const TOTAL: u64 = MESSAGES + OWN;

/// Places from one message to the next, the golden section of all places: messages that are numbered one after the other
/// lie at about equal distances.
const STEP: u64 = 62_113;

/// Time of all messages, 50 minutes.
const SPAN_NS: u64 = 3_000_000_000_000;

/// Guards against hangs only.
const HANG: Duration = Duration::from_secs(300);

/// Number that has nothing to do with those of other arguments (SplitMix64).
fn scattered(number: u64) -> u64 {
    let mut z = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Times of messages within 50 minutes.
#[derive(Clone, Copy, Debug)]
enum Spread {
    Random,
    /// At about equal distances, also those that one store lacks.
    Even,
}

/// Message of the last hour, a number of 100 bytes.
fn message(number: u64, spread: Spread, now_ns: i64) -> StoredMessage {
    let place = match spread {
        Spread::Random => scattered(number),
        Spread::Even => number * STEP % TOTAL * (SPAN_NS / TOTAL),
    };
    let before_ns = place % SPAN_NS;
    let before_ns = i64::try_from(before_ns).expect("less than an hour") + 300_000_000_000;
    let mut payload = vec![0; 100];
    payload[..8].copy_from_slice(&number.to_be_bytes());
    let mut message = WakuMessage::new(payload, format!("/chat/1/{}/proto", number % 100));
    message.timestamp = Some(now_ns - before_ns);
    StoredMessage::new("/waku/2/rs/66/0", message)
}

async fn fill(folder: &Path, numbers: impl Iterator<Item = u64>, spread: Spread, now_ns: i64) {
    let url = ArchiveUrl::sqlite(folder.join("store.sqlite"));
    let archive = Archive::open(&url, ArchiveOptions::default()).await;
    let archive = archive.expect("an empty folder");
    let all: Vec<_> = numbers
        .map(|number| message(number, spread, now_ns))
        .collect();
    assert_eq!(all.len() as u64, MESSAGES);
    for batch in all.chunks(4_000) {
        let report = archive.insert(batch.to_vec()).await.expect("a disk");
        assert_eq!(report.inserted, batch.len());
    }
}

async fn start(folder: &Path, peers: &str) -> Assembled {
    let folder = folder.display().to_string();
    let mut flags = vec![
        ("data-dir", folder.as_str()),
        ("network", "local"),
        ("listen-address", "127.0.0.1"),
        ("tcp-port", "0"),
        ("rest", "false"),
        ("rln", "false"),
        ("store", "true"),
        ("store-sync", "true"),
        ("store-sync-interval", "0"),
    ];
    if !peers.is_empty() {
        flags.push(("static-peers", peers));
    }
    let flags = flags
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let config = NodeConfig::load(&Sources {
        flags: flags.collect(),
        ..Sources::default()
    });
    let config = config.expect("known keys");
    assemble(&config).await.expect("free ports")
}

async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    let waits = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(HANG, waits).await.expect("it comes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement of a minute; cargo xtask campaign --only sync"]
async fn a_hundred_thousand_messages_that_differ_in_a_thousand() {
    for spread in [Spread::Random, Spread::Even] {
        measure(spread).await;
    }
}

async fn measure(spread: Spread) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now_ns = i64::try_from(now.expect("after 1970").as_nanos()).expect("before 2262");
    let folders = [tempfile::tempdir(), tempfile::tempdir()].map(|one| one.expect("a disk"));
    let common = MESSAGES - OWN;
    fill(folders[0].path(), 0..MESSAGES, spread, now_ns).await;
    fill(
        folders[1].path(),
        (0..common).chain(MESSAGES..MESSAGES + OWN),
        spread,
        now_ns,
    )
    .await;
    let a = start(folders[0].path(), "").await;
    let b = start(folders[1].path(), &a.node.addresses[0].to_string()).await;
    let sync = |node: &Assembled| node.services.handle.sync().cloned().expect("it is on");
    let (of_a, of_b) = (sync(&a), sync(&b));
    until(async || {
        let peers = b.node.handle.peers().await.expect("the node runs");
        let is_connected = peers.iter().any(|peer| !peer.protocols.is_empty());
        let cached = [&of_a, &of_b].map(|sync| sync.totals().cached as u64);
        is_connected && cached == [MESSAGES; 2]
    })
    .await;
    let outcome = of_b.synchronise(a.node.peer_id).await.expect("a true peer");
    println!(
        "{spread:?}: reconciliation {:?} in {} rounds, {} bytes; {} messages sent, {} received; all {:?}",
        outcome.reconciling,
        outcome.roundtrips,
        outcome.reconciliation_bytes,
        outcome.sent,
        outcome.kept,
        outcome.whole,
    );
    assert_eq!((outcome.sent as u64, outcome.kept as u64), (OWN, OWN));
    assert!(outcome.reconciliation_bytes < 200_000, "{spread:?}");
    until(async || of_a.totals().kept == OWN && of_a.totals().sessions["done"] == 1).await;
    let again = of_a.synchronise(b.node.peer_id).await.expect("a true peer");
    assert_eq!(again.differences, 0);
    a.stop().await;
    b.stop().await;
}
