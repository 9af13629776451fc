//! Circuits through a relay of js-libp2p.

use std::net::Ipv4Addr;
use std::path::Path;

use undertone_attacks::node::{Node, wait_until};
use undertone_attacks::test_network::pubsub_topic;
use undertone_conformance::PeerProcess;
use undertone_conformance::programs;

use crate::relay_node::{self, PATIENCE, wait_mesh};

async fn node(folder: &Path, name: &str, ip: Ipv4Addr, relay: &str) -> Node {
    let relay = format!("--static-peers={relay}");
    relay_node::start(folder, name, ip, &["--relay-client=true", &relay]).await
}

/// Addresses of a node that lead through the relay.
async fn circuits(node: &Node, relay: &str) -> Vec<String> {
    let info = relay_node::info(node).await;
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
    let at = |last| Ipv4Addr::new(127, 0, 10, last);
    let hidden = node(folder.path(), "hidden", at(1), &address).await;
    let caller = node(folder.path(), "caller", at(2), &address).await;
    let announced = wait_until(PATIENCE, || async {
        !circuits(&hidden, &address).await.is_empty()
    });
    assert!(announced.await, "{}", hidden.state().await);
    let circuit = circuits(&hidden, &address).await.remove(0);
    let connected = caller.connect(&circuit.parse().unwrap()).await;
    assert!(connected, "{}", caller.state().await);
    wait_mesh(&caller, &hidden).await;
    let (topic, content) = (pubsub_topic(0), "/circuit/1/test/proto");
    let published = caller.publish(&topic, content, b"through js-libp2p").await;
    assert!(published, "{}", caller.state().await);
    let arrived = wait_until(PATIENCE, || async {
        hidden.delivered().contains_key(content)
    });
    assert!(arrived.await, "{}", hidden.state().await);
    relay.quit().await.unwrap();
}
