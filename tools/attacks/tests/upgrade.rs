//! Nodes of an earlier version in one network with the present one, and a folder of theirs that the present one goes on with.
//! `UNDERTONE_EARLIER` is the path of the earlier program. A program of its own, because it is a campaign, and the step `hostile` runs
//! the rest of it after it has built the program `undertone`.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use undertone_attacks::node::{Node, NodeSpec, program, wait_until};

/// Variable with the path of the earlier program.
const EARLIER: &str = "UNDERTONE_EARLIER";

/// Longest time for what a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

const PUBSUB_TOPIC: &str = "/waku/2/rs/66/0";

/// Beginning of all content topics; the name of the sender follows.
const TOPIC: &str = "/upgrade/1/from-";

fn spec(program: &Path, folder: &Path, name: &str, last: u8, peers: &[&Node]) -> NodeSpec {
    let mut flags: Vec<String> = [
        "--network=local",
        "--cluster-id=66",
        "--rln=false",
        "--shards=0",
        "--store=true",
        "--filter=true",
        "--lightpush=true",
    ]
    .map(str::to_owned)
    .into();
    let peers: Vec<_> = peers.iter().map(|peer| peer.addr().to_string()).collect();
    if !peers.is_empty() {
        flags.push(format!("--static-peers={}", peers.join(",")));
    }
    NodeSpec {
        program: program.to_owned(),
        name: name.to_owned(),
        folder: folder.to_owned(),
        ip: Ipv4Addr::new(127, 0, 16, last),
        flags,
    }
}

/// Topic of the messages of one sender.
fn topic(sender: &str) -> String {
    format!("{TOPIC}{sender}/proto")
}

/// Has a node publish one message, and waits until every node has delivered it.
async fn crosses(sender: &str, from: &Node, all: &[&Node]) {
    let topic = topic(sender);
    let published = from.publish(PUBSUB_TOPIC, &topic, sender.as_bytes()).await;
    assert!(published, "{sender}: {}", from.state().await);
    for node in all {
        let arrives = wait_until(PATIENCE, || async { node.delivered().contains_key(&topic) });
        assert!(arrives.await, "{sender}: {}", node.state().await);
    }
}

/// Payloads that a node's store has, asked by another node, or its own without one.
async fn history(asker: &Node, store: Option<&Node>) -> Vec<String> {
    let mut path = "/store/v3/messages?includeData=true&pageSize=100".to_owned();
    if let Some(store) = store {
        let address = store.addr().to_string().replace('/', "%2F");
        path = format!("{path}&peerAddr={address}");
    }
    let (status, body) = asker.ask("GET", &path, None).await.unwrap();
    assert_eq!(status, 200, "{body}");
    let page: Value = serde_json::from_str(&body).unwrap();
    let messages = page["messages"].as_array().unwrap().iter();
    let mut payloads: Vec<_> = messages
        .map(|message| {
            let payload = message["message"]["payload"].as_str().unwrap();
            String::from_utf8(STANDARD.decode(payload).unwrap()).unwrap()
        })
        .collect();
    payloads.sort();
    payloads
}

async fn has_history(asker: &Node, store: Option<&Node>, expected: &[&str]) {
    let mut last = Vec::new();
    for _ in 0..100 {
        last = history(asker, store).await;
        if last == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{} finds {last:?}, not {expected:?}", asker.name());
}

/// Program of the present version.
fn present() -> PathBuf {
    program(Path::new(env!("CARGO_BIN_EXE_hostile")))
}

#[tokio::test]
async fn the_present_version_goes_on_in_its_own_folder() {
    upgrade(&present()).await;
}

#[tokio::test]
#[ignore = "needs a program of an earlier version; cargo xtask campaign --only upgrade"]
async fn nodes_of_an_earlier_version_and_the_present_one_are_one_network() {
    let earlier = std::env::var_os(EARLIER).map(PathBuf::from);
    let earlier = earlier.unwrap_or_else(|| {
        panic!("set {EARLIER} to the path of the program `undertone` of an earlier version")
    });
    upgrade(&earlier).await;
}

/// Has nodes of an earlier version in one network with the present one, and replaces the program of one of them.
async fn upgrade(earlier: &Path) {
    let present = present();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = spec(earlier, folder, "first", 1, &[]);
    let mut first = Node::start_earlier(first).await.unwrap();
    let second = spec(earlier, folder, "second", 2, &[&first]);
    let second = Node::start_earlier(second).await.unwrap();
    let third = spec(&present, folder, "third", 3, &[&first, &second]);
    let third = Node::start(third).await.unwrap();
    let meshed = third.wait_peers(PATIENCE, |peers| peers.len() == 2);
    assert!(meshed.await, "{}", third.state().await);

    for (sender, node) in [("first", &first), ("third", &third)] {
        crosses(sender, node, &[&first, &second, &third]).await;
    }
    has_history(&first, Some(&third), &["first", "third"]).await;
    has_history(&third, Some(&first), &["first", "third"]).await;

    // The present version goes on with the folder of the earlier one.
    let id = first.peer_id();
    first.terminate().await;
    first.upgrade(present);
    first.launch().await.unwrap();
    assert_eq!(first.peer_id(), id);
    has_history(&first, None, &["first", "third"]).await;
    let is_back = third.wait_peers(PATIENCE, |peers| peers.contains_key(&id));
    assert!(is_back.await, "{}", third.state().await);
    crosses("second", &second, &[&first, &second, &third]).await;
    crosses("upgraded", &first, &[&first, &second, &third]).await;
    let all = ["first", "second", "third", "upgraded"];
    has_history(&second, Some(&first), &all).await;
    has_history(&first, Some(&second), &all).await;
}
