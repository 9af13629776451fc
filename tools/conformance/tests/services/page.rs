//! The same light client in a page of headless Chromium: it sends, receives and reads history, by plain and by secure
//! WebSocket.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;
use undertone_conformance::{PeerCommand, programs};

use crate::client::{Client, Message};
use crate::test_network::{At, Sharding, TOPIC, TestNetwork};

/// Variable with the path of the browser's program.
const CHROMIUM: &str = "UNDERTONE_CHROMIUM";

/// Time limit for the store to have all messages.
const STORED: Duration = Duration::from_secs(30);

fn page() -> PeerCommand {
    let chromium = std::env::var_os(CHROMIUM).map(PathBuf::from);
    let chromium = chromium.unwrap_or_else(|| panic!("set {CHROMIUM} to the path of the browser"));
    programs::js_light_page(&chromium).unwrap().labelled("page")
}

#[tokio::test]
#[ignore = "needs Chromium; cargo xtask test --only browser"]
async fn a_page_sends_receives_and_reads_history() {
    sends_receives_and_reads_history(&TestNetwork::start(Sharding::Automatic).await, page()).await;
}

/// As a page on the Internet does, which may open no other WebSocket. The browser trusts the certificate by its key.
#[tokio::test]
#[ignore = "needs Chromium; cargo xtask test --only browser"]
async fn a_page_sends_receives_and_reads_history_by_secure_websocket() {
    let stage = TestNetwork::start_secure(Sharding::Automatic).await;
    let page = page().arg("--only-secure");
    let page = page.option("trust-spki", stage.edge_key());
    sends_receives_and_reads_history(&stage, page).await;
}

async fn sends_receives_and_reads_history(stage: &TestNetwork, page: PeerCommand) {
    let mut other = stage.client(At::Far, "other").await;
    other.subscribe(TOPIC).await;
    let mut page = stage.start_client(&stage.at(At::Edge, page)).await;
    page.wait_peers().await;
    page.subscribe(TOPIC).await;

    page.lightpush(TOPIC, "from the page").await;
    other
        .message("receive from the page", "from the page")
        .await;
    other.lightpush(TOPIC, "to the page").await;
    page.message("receive in the page", "to the page").await;
    stage.publish(At::Far, TOPIC, "by relay to the page").await;
    page.message("receive in the page", "by relay to the page")
        .await;

    let sent = ["by relay to the page", "from the page", "to the page"];
    // A store writes what it hears a little later.
    let until = Instant::now() + STORED;
    while history(&mut page, true).await.len() < sent.len() && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    for is_forward in [true, false] {
        let found = history(&mut page, is_forward).await;
        assert_eq!(found, sent, "forward {is_forward}");
    }
    page.quit().await;
    other.quit().await;
}

/// Texts of the messages that the store has, in the order of the alphabet.
async fn history(page: &mut Client, is_forward: bool) -> Vec<String> {
    let command = json!({"cmd": "query", "topics": [TOPIC], "forward": is_forward, "page_size": 2});
    let result = page.must("read history in the page", command).await;
    let pages = result["pages"].as_array().unwrap().iter();
    let messages = pages
        .flat_map(|page| page.as_array().unwrap())
        .map(Message::read);
    let mut found: Vec<_> = messages.filter_map(|message| message.text).collect();
    found.sort();
    found
}
