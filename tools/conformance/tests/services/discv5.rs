//! Nodes of ours and one of another implementation of discv5 find each other, each through the other's answers.
//! `tools/conformance/js/discv5/README.md` describes the others.

use std::net::Ipv4Addr;
use std::path::Path;

use serde_json::{Value, json};
use undertone_attacks::node::Node;
use undertone_conformance::{PeerCommand, programs};
use undertone_node_process::free_port;

use crate::client::Client;
use crate::relay_node::{self, DISCV5, PATIENCE, record, wait_mesh};

/// Value of `rs` in a record: cluster 66, one shard, which is 0.
const SHARD_0: &str = "0042010000";

/// Value of `waku2` in a record: relay.
const RELAY: &str = "01";

/// Value of `waku2` in a record: relay and filter.
const RELAY_AND_FILTER: &str = "05";

fn at(network: Ipv4Addr, last: u8) -> Ipv4Addr {
    let [first, second, third, _] = network.octets();
    Ipv4Addr::new(first, second, third, last)
}

async fn ours(folder: &Path, name: &str, ip: Ipv4Addr, bootstrap: &str) -> Node {
    let bootstrap = format!("--discv5-bootstrap-node={bootstrap}");
    let mut flags = vec!["--peer-exchange=false", "--rendezvous=false"];
    flags.extend(["--filter=true", "--lightpush=false"]);
    flags.extend(DISCV5);
    if !bootstrap.ends_with('=') {
        flags.push(&bootstrap);
    }
    relay_node::start(folder, name, ip, &flags).await
}

/// A node of another implementation that is told of one node.
async fn other(
    command: &PeerCommand,
    folder: &Path,
    ip: Ipv4Addr,
    bootstrap: &str,
    id: &str,
) -> Client {
    let command = command
        .clone()
        .labelled(format!("other-{id}"))
        .option("ip", ip)
        .option("port", free_port().unwrap())
        .option("bootstrap", bootstrap)
        .option("rs", SHARD_0)
        .option("waku2", RELAY)
        .option("protocol-id", id);
    Client::start(&command, folder).await
}

/// Record of one node among those that the other implementation has found.
fn of(found: &Value, node: &Node) -> Option<Value> {
    let socket = node.socket();
    let tcp = format!("/ip4/{}/tcp/{}", socket.ip(), socket.port());
    let mut records = found["records"].as_array().unwrap().iter();
    records
        .find(|record| record["tcp"] == tcp.as_str())
        .cloned()
}

#[tokio::test]
async fn chainsafes_discv5_and_ours_find_each_other() {
    let network = Ipv4Addr::new(127, 0, 11, 0);
    find_each_other(&programs::js_discv5().unwrap(), network).await;
}

/// Has nodes of ours find those of another implementation, and be found. `network` is where they are, a /24.
pub(crate) async fn find_each_other(program: &PeerCommand, network: Ipv4Addr) {
    let ip = |last| at(network, last);
    let folder = tempfile::tempdir().unwrap();
    let first = ours(folder.path(), "first", ip(1), "").await;
    let begin = record(&first).await;
    let mut theirs = other(program, folder.path(), ip(9), &begin, "d5waku").await;
    let ready = theirs.event("start", "ready", |_| true).await;

    // What it reads is what came from the node, not what it was told at its start.
    let ask = json!({"cmd": "ask", "record": begin});
    let answer = theirs.must("ask for the record", ask.clone()).await;
    let read = of(&answer, &first).unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(read["record"], record(&first).await.as_str());
    assert_eq!(
        (&read["rs"], &read["waku2"]),
        (&SHARD_0.into(), &RELAY_AND_FILTER.into())
    );

    // With the id of Ethereum's network the same question gets no answer.
    let mut foreign = other(program, folder.path(), ip(8), &begin, "discv5").await;
    let refused = foreign.ask("ask with another id", ask).await;
    assert!(refused.is_err(), "{refused:?}");
    foreign.quit().await;

    // Told of the first node, the second one hears of the other implementation's from there, and dials it.
    let second = ours(folder.path(), "second", ip(2), &begin).await;
    // Nodes dial from the port on which they listen.
    let from = second.socket().port();
    let is_it = |event: &Value| event["port"] == from;
    let dial = theirs.event_within(PATIENCE, "a dial by the second node", 0, "dialled", is_it);
    dial.await;

    // And the other way round.
    let mut found = Value::Null;
    let looking = tokio::time::timeout(PATIENCE, async {
        loop {
            let result = theirs.must("find nodes", json!({"cmd": "find"})).await;
            if let Some(record) = of(&result, &second) {
                found = record;
                return;
            }
        }
    });
    assert!(looking.await.is_ok(), "the second node was not found");
    assert_eq!(found["record"], record(&second).await.as_str());
    assert_eq!(
        (&found["rs"], &found["waku2"]),
        (&SHARD_0.into(), &RELAY_AND_FILTER.into())
    );

    // Told of the other implementation's node alone, the third one hears of the others from there.
    let third = ours(
        folder.path(),
        "third",
        ip(3),
        ready["record"].as_str().unwrap(),
    )
    .await;
    wait_mesh(&third, &first).await;
    wait_mesh(&third, &second).await;
    theirs.quit().await;
}
