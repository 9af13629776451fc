//! Nodes of a test that relay one shard, each at an address of its own.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use undertone_attacks::node::{Node, NodeSpec};
use undertone_node_process::free_port;

use crate::test_network::program;

/// Longest time for what a test waits for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Flags of a node that uses discv5 at a port that the system chooses.
pub(crate) const DISCV5: [&str; 2] = ["--discv5-discovery=true", "--discv5-udp-port=0"];

/// Starts a node of cluster 66 that relays shard 0, with further flags.
pub(crate) async fn start(folder: &Path, name: &str, ip: Ipv4Addr, more: &[&str]) -> Node {
    let flags = [
        "--network=local",
        "--cluster-id=66",
        "--rln=false",
        "--shards=0",
    ];
    let spec = NodeSpec {
        program: program(),
        name: name.to_owned(),
        folder: folder.to_owned(),
        ip,
        flags: flags.iter().chain(more).map(ToString::to_string).collect(),
    };
    Node::start(spec).await.unwrap()
}

/// Node that clients in pages can use, and its address for them.
pub(crate) async fn start_for_clients(
    folder: &Path,
    name: &str,
    ip: Ipv4Addr,
    more: &[&str],
) -> (Node, String) {
    let port = free_port().unwrap();
    let websocket = format!("--ws-port={port}");
    let mut flags = vec!["--websocket=true", &websocket];
    flags.extend(["--filter=true", "--lightpush=true", "--peer-exchange=true"]);
    flags.extend(more);
    let node = start(folder, name, ip, &flags).await;
    let address = format!("/ip4/{ip}/tcp/{port}/ws/p2p/{}", node.peer_id());
    (node, address)
}

/// Returns what a node tells of itself.
pub(crate) async fn info(node: &Node) -> serde_json::Value {
    let (_, body) = node.ask("GET", "/info", None).await.unwrap();
    serde_json::from_str(&body).unwrap()
}

/// Returns the node's record, `enr:…`.
pub(crate) async fn record(node: &Node) -> String {
    let record = info(node).await["enrUri"].as_str().map(str::to_owned);
    record.unwrap_or_else(|| panic!("{} has no record", node.name()))
}

/// Waits until one node has the other one in its mesh.
pub(crate) async fn wait_mesh(node: &Node, other: &Node) {
    let id = other.peer_id();
    let is_meshed = node.wait_peers(PATIENCE, |peers| {
        peers.get(&id).is_some_and(|peer| peer.meshes == 1)
    });
    assert!(
        is_meshed.await,
        "{} is not in the mesh of {}",
        other.name(),
        node.state().await
    );
}
