//! Nodes that find each other at a rendezvous point, without discv5 and peer exchange.

use std::time::Duration;

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use undertone_node::command::Connectedness;

use crate::assembled::discovery::{Finder, own_address};
use crate::support::{HANG, Place, metrics, metrics_until};

/// Flags of a node that finds others by rendezvous alone.
const ALONE: [(&str, &str); 3] = [
    ("discv5-discovery", "false"),
    ("peer-exchange", "false"),
    ("rendezvous", "true"),
];

/// Address of a node that is to be found at the same place after a restart.
struct Point {
    ip: String,
    port: String,
}

impl Point {
    async fn start(&self, place: Place) -> Finder {
        let mut flags = vec![
            ("listen-address", self.ip.as_str()),
            ("tcp-port", self.port.as_str()),
        ];
        flags.extend(ALONE);
        Finder::at(place, "", &flags).await
    }
}

/// A node that knows only the peer at an address.
async fn knows(point: &Multiaddr, more: &[(&str, &str)]) -> Finder {
    let point = point.to_string();
    let mut flags = vec![("static-peers", point.as_str())];
    flags.extend(ALONE);
    flags.extend(more);
    Finder::start("", &flags).await
}

/// Waits until a node is connected to others.
async fn connects(node: &Finder, others: &[&Finder]) {
    let waits = async {
        loop {
            let peers = node.node.node.handle.peers().await.unwrap();
            let is_connected = |other: &&Finder| {
                let mut peers = peers.iter();
                peers.any(|peer| {
                    peer.peer_id == other.node.node.peer_id
                        && peer.connected == Connectedness::Connected
                })
            };
            if others.iter().all(is_connected) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let connected = tokio::time::timeout(HANG, waits).await;
    assert!(connected.is_ok(), "they never found each other");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_that_know_only_a_rendezvous_point_find_each_other_there() {
    let point = Finder::start("", &ALONE).await;
    let address = point.node.node.addresses[0].clone();
    let one = knows(&address, &[]).await;
    let two = knows(&address, &[]).await;
    connects(&one, &[&point, &two]).await;
    one.has_mesh(2.0).await;
    two.has_mesh(2.0).await;
    let at_point = metrics_until(&point.node, |now| {
        now["libp2p_rendezvous_registered"] >= 2.0
    })
    .await;
    for requests in ["register", "discover"] {
        let total = at_point[&format!("libp2p_rendezvous_{requests}_total")];
        assert!(total >= 1.0, "{requests}: {total}");
    }
    // Each registers on each of its shards, which are the namespaces.
    let namespaces = at_point["libp2p_rendezvous_namespaces"];
    assert!(namespaces >= 1.0);
    assert_eq!(at_point["libp2p_rendezvous_registered"], 2.0 * namespaces);
    let found = metrics(one.node.rest.unwrap()).await["rendezvousPeerFoundTotal_total"]
        + metrics(two.node.rest.unwrap()).await["rendezvousPeerFoundTotal_total"];
    assert!(found >= 1.0, "neither found the other at the point");
    point.stop().await;
    one.publish("found at a point that is gone").await;
    two.gets("found at a point that is gone").await;
    one.stop().await;
    two.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_register_again_at_a_rendezvous_point_that_has_forgotten_them() {
    let ip = own_address();
    let first = Point {
        ip: ip.clone(),
        port: "0".to_owned(),
    };
    let first = first.start(Place::new()).await;
    let address = first.node.node.addresses[0].clone();
    let port = address.iter().find_map(|part| match part {
        Protocol::Tcp(port) => Some(port.to_string()),
        _ => None,
    });
    let same = Point {
        ip,
        port: port.unwrap(),
    };
    let one = knows(&address, &[]).await;
    let two = knows(&address, &[]).await;
    connects(&one, &[&first, &two]).await;

    let again = same.start(first.stop().await).await;
    connects(&again, &[&one, &two]).await;
    // Each of them knows two points, and registers at one of them every 20 s.
    tokio::time::sleep(Duration::from_secs(41)).await;
    // It relays nothing and is not registered itself: it finds them by asking, first the only one that it knows.
    let late = knows(&address, &[("relay", "false")]).await;
    connects(&late, &[&one, &two]).await;
    for node in [late, again, one, two] {
        node.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_with_rendezvous_switched_off_is_neither_registered_nor_a_point() {
    let point = Finder::start("", &ALONE).await;
    let address = point.node.node.addresses[0].clone();
    let hidden = knows(&address, &[("rendezvous", "false")]).await;
    hidden.has_mesh(1.0).await;
    let one = knows(&address, &[]).await;
    let two = knows(&address, &[]).await;
    connects(&one, &[&two]).await;
    let peers = one.node.node.handle.peers().await.unwrap();
    let hidden_peer = hidden.node.node.peer_id;
    assert!(peers.iter().all(|peer| peer.peer_id != hidden_peer));
    let known = point.node.node.handle.peers().await.unwrap();
    let known = known.iter().find(|peer| peer.peer_id == hidden_peer);
    let serves = |id: &String| id.contains("rendezvous");
    assert!(!known.unwrap().protocols.iter().any(serves));
    for node in [hidden, point, one, two] {
        node.stop().await;
    }
}
