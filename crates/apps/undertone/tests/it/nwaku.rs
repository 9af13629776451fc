//! The reference node (nwaku) in one network with ours, with rate limiting by a contract on a chain of its own: it finds our nodes by
//! discv5 and by peer exchange, over TCP, and dials and is dialled over WebSocket. `UNDERTONE_NWAKU` is the path of its program.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy takes for other code"
)]

mod world;

use serde_json::Value;
use undertone_node_process::free_port;

use crate::nwaku::world::{Reference, World};
use crate::support::process::{Node, Rest};

/// Content topic of the messages; on the local network it is on one of the eight shards.
const TOPIC: &str = "/nwaku-campaign/1/test/proto";

/// Agent of the reference node, under either of its names, in lower case.
const AGENTS: [&str; 2] = ["nwaku", "logos"];

#[test]
#[ignore = "needs the reference node; cargo xtask campaign --only nwaku"]
fn the_reference_node_is_a_node_among_ours() {
    let world = World::new();
    println!("| the reference node and ours | s until connected | ours to it | its to ours |");
    println!("| --- | ---: | --- | --- |");

    // It knows a record of ours, and nothing else.
    let ours = world.node(
        "by-discv5",
        &["--discv5-discovery=true", "--discv5-udp-port=0"],
    );
    let info = ours.rest.until("/info", |info| info["enrUri"].is_string());
    let record = info["enrUri"].as_str().unwrap();
    let discv5 = format!("--discv5-udp-port={}", free_port().unwrap());
    let bootstrap = format!("--discv5-bootstrap-node={record}");
    let flags = ["--discv5-discovery=true", &discv5, &bootstrap];
    let reference = world.reference("nwaku-discv5", &flags);
    meet("discv5, TCP", &[&ours], &reference, "tcp");
    drop((reference, ours));

    // It knows one of ours, and asks it for others: the second one of ours is found, or dials it.
    let known = world.node("known", &["--discv5-discovery=true", "--discv5-udp-port=0"]);
    let info = known.rest.until("/info", |info| info["enrUri"].is_string());
    let bootstrap = format!(
        "--discv5-bootstrap-node={}",
        info["enrUri"].as_str().unwrap()
    );
    let other = world.node("other", &["--discv5-udp-port=0", &bootstrap]);
    let asked = format!("--peer-exchange-node={}", known.address);
    let flags = ["--discv5-discovery=false", "--peer-exchange=true", &asked];
    let reference = world.reference("nwaku-exchange", &flags);
    meet("peer exchange, TCP", &[&known, &other], &reference, "tcp");
    drop((reference, known, other));

    // It dials ours over WebSocket.
    let ours = world.node("dialled", &["--websocket=true", "--ws-port=0"]);
    let info = ours
        .rest
        .until("/info", |info| info["listenAddresses"].is_array());
    let addresses = info["listenAddresses"].as_array().unwrap();
    let address = addresses.iter().filter_map(Value::as_str);
    let address = address.clone().find(|address| address.contains("/ws"));
    let dialled = format!(
        "--staticnode={}",
        address.expect("it listens for WebSocket")
    );
    let flags = [
        "--discv5-discovery=false",
        "--websocket-support=true",
        &dialled,
    ];
    let port = format!("--websocket-port={}", free_port().unwrap());
    let reference = world.reference("nwaku-dials", &[&flags[..], &[&port]].concat());
    meet("it dials, WebSocket", &[&ours], &reference, "ws");
    drop((reference, ours));

    // It is dialled by ours over WebSocket.
    let port = free_port().unwrap();
    let listens = format!("--websocket-port={port}");
    let flags = [
        "--discv5-discovery=false",
        "--websocket-support=true",
        &listens,
    ];
    let reference = world.reference("nwaku-dialled", &flags);
    let dials = format!("--static-peers=/ip4/127.0.0.1/tcp/{port}/ws");
    let ours = world.node("dials", &[&dials]);
    meet("ours dials, WebSocket", &[&ours], &reference, "ws");
}

/// Waits until the reference node is connected to each of our nodes, exchanges a message with proof in both directions, and prints a row.
fn meet(how: &str, ours: &[&Node], reference: &Reference, transport: &str) {
    for node in ours {
        node.rest.until("/admin/v1/status", |status| {
            let mut peers = status["peers"].as_array().into_iter().flatten();
            peers.any(|peer| is_reference(peer, transport))
        });
    }
    let connected_s = reference.begun.elapsed().as_secs_f64();
    let all: Vec<&Rest> = ours.iter().map(|node| &node.rest).collect();
    for rest in all.iter().copied().chain([&reference.rest]) {
        rest.subscribe(TOPIC);
        rest.until("/health", is_relaying);
    }
    let member = |rln: &Value| rln["mayPublish"] == true;
    all[0].until("/debug/v1/rln", member);
    all[0].publish(TOPIC, "b3Vycw==");
    reference.rest.receives(TOPIC, "b3Vycw==");
    reference.rest.publish(TOPIC, "dGhlaXJz");
    for rest in all {
        rest.receives(TOPIC, "dGhlaXJz");
    }
    println!("| {how} | {connected_s:.1} | arrived | arrived |");
}

fn is_reference(peer: &Value, transport: &str) -> bool {
    let agent = peer["agent"].as_str().unwrap_or_default().to_lowercase();
    let is_of_its_kind = AGENTS.iter().any(|name| agent.contains(name));
    is_of_its_kind && peer["transport"] == transport
}

/// Whether the node has a mesh and knows the members.
fn is_relaying(health: &Value) -> bool {
    let parts = health["protocolsHealth"].as_array();
    let is_ready = |name: &str| {
        let mut parts = parts.into_iter().flatten();
        parts.any(|part| part[name] == "READY")
    };
    is_ready("Relay") && is_ready("Rln Relay")
}
