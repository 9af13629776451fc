//! A light client that knows one node finds another one by peer exchange, and reads its record.

use std::net::Ipv4Addr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use undertone_conformance::programs;

use crate::client::Client;
use crate::relay_node::{DISCV5, PATIENCE, record, start_for_clients, wait_mesh};

#[tokio::test]
async fn a_client_that_knows_one_node_finds_another_by_peer_exchange() {
    let folder = tempfile::tempdir().unwrap();
    let at = |last| Ipv4Addr::new(127, 0, 12, last);
    let (asked, address) = start_for_clients(folder.path(), "asked", at(1), &DISCV5).await;
    let bootstrap = format!("--discv5-bootstrap-node={}", record(&asked).await);
    let flags = [DISCV5[0], DISCV5[1], &bootstrap];
    let (told, told_address) = start_for_clients(folder.path(), "told", at(2), &flags).await;
    wait_mesh(&asked, &told).await;

    let command = programs::js_light_client().unwrap();
    let command = command
        .option("bootstrap", &address)
        .option("shard", 0)
        .arg("--peer-exchange")
        // The node has to look for nodes before it can answer.
        .option("ask-again-s", 2);
    let mut client = Client::start(&command, folder.path()).await;
    let text = record(&told).await;
    let rlp = URL_SAFE_NO_PAD.decode(text.trim_start_matches("enr:"));
    let rlp = hex::encode(rlp.unwrap());
    let has_it = |event: &Value| {
        let mut records = event["records"].as_array().into_iter().flatten();
        event["kind"] == "peer-exchange" && records.any(|record| *record == *rlp)
    };
    let wait_for_ihave = client.event_within(PATIENCE, "hear of the node", 0, "answer", has_it);
    wait_for_ihave.await;

    let id = told.peer_id().to_string();
    let is_told = |event: &Value| event["peer"] == id.as_str();
    client
        .event("connect to the node", "connected", is_told)
        .await;
    let identified = client.event("use the node", "identified", is_told).await;
    let protocols = identified["protocols"].as_array().unwrap();
    let pushes = protocols
        .iter()
        .any(|id| *id == "/vac/waku/lightpush/3.0.0");
    assert!(pushes, "{identified}");

    let command = json!({"cmd": "describe_record", "record": rlp});
    let described = client.must("read the record", command).await;
    assert_eq!(described["peer"], id.as_str());
    assert_eq!(
        (&described["cluster"], &described["shards"]),
        (&json!(66), &json!([0]))
    );
    let services = described["services"].as_array().unwrap();
    let offered = ["relay", "filter", "lightPush"];
    assert!(
        offered.iter().all(|name| services.contains(&json!(name))),
        "{described}"
    );
    assert!(!services.contains(&json!("store")), "{described}");
    let addresses = described["addrs"].as_array().unwrap();
    assert!(addresses.contains(&json!(told_address)), "{described}");
    client.quit().await;
}
