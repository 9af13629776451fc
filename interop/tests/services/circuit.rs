//! Circuits through a relay of js-libp2p.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use undertone_interop::PeerProcess;
use undertone_interop::hostile::node::{Node, NodeSpec};
use undertone_interop::hostile::stage::pubsub_topic;
use undertone_interop::programs;

use crate::stage::program;

/// Longest time for what a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

async fn node(folder: &Path, name: &str, ip: Ipv4Addr, relay: &str) -> Node {
    let flags = [
        "--network=local",
        "--cluster-id=66",
        "--rln=false",
        "--shards=0",
        "--relay-client=true",
        &format!("--static-peers={relay}"),
    ];
    let spec = NodeSpec {
        program: program(),
        name: name.to_owned(),
        folder: folder.to_owned(),
        ip,
        flags: flags.map(str::to_owned).into(),
    };
    Node::start(spec).await.unwrap()
}

async fn until(what: &str, nodes: &[&Node], mut holds: impl AsyncFnMut() -> bool) {
    let waits = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, waits).await.is_err() {
        let mut states = Vec::new();
        for node in nodes {
            states.push(node.state().await);
        }
        panic!("{what}: not within {PATIENCE:?}; {}", states.join("\n"));
    }
}

/// Addresses of a node that lead through the relay.
async fn circuits(node: &Node, relay: &str) -> Vec<String> {
    let (_, body) = node.ask("GET", "/info", None).await.unwrap();
    let info: serde_json::Value = serde_json::from_str(&body).unwrap();
    let addresses = info["listenAddresses"].as_array().into_iter().flatten();
    let addresses = addresses.filter_map(|address| address.as_str());
    let through =
        addresses.filter(|address| address.starts_with(relay) && address.contains("/p2p-circuit"));
    through.map(str::to_owned).collect()
}

#[tokio::test]
async fn a_relay_of_js_libp2p_leads_from_node_to_node() {
    let folder = tempfile::tempdir().unwrap();
    let relay = PeerProcess::spawn(&programs::js_circuit_relay().unwrap())
        .await
        .unwrap();
    let address = relay.addr().to_owned();
    let hidden = node(
        folder.path(),
        "hidden",
        Ipv4Addr::new(127, 0, 10, 1),
        &address,
    )
    .await;
    let caller = node(
        folder.path(),
        "caller",
        Ipv4Addr::new(127, 0, 10, 2),
        &address,
    )
    .await;
    until("an address through the relay", &[&hidden], async || {
        !circuits(&hidden, &address).await.is_empty()
    })
    .await;
    let circuit = circuits(&hidden, &address).await.remove(0);
    assert!(
        caller.connect(&circuit.parse().unwrap()).await,
        "{}",
        caller.state().await
    );
    until("a mesh", &[&caller, &hidden], async || {
        let view = caller.peer(hidden.peer_id()).await.unwrap();
        view.is_some_and(|view| view.meshes == 1)
    })
    .await;
    let topic = pubsub_topic(0);
    assert!(
        caller
            .publish(&topic, "/circuit/1/test/proto", b"through js-libp2p")
            .await
    );
    until("the message", &[&caller, &hidden], async || {
        hidden.delivered().contains_key("/circuit/1/test/proto")
    })
    .await;
    relay.quit().await.unwrap();
}
