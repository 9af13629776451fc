//! Many whole nodes behind one loopback address, as on a developer's machine or behind a proxy.

use undertone_node::assemble::{Assembled, assemble};

use crate::assembled::sending::{Heard, send, topic};
use crate::support::{Place, metrics_until};

/// Far more than share an address (P6) without a penalty, which is five.
const NODES: usize = 16;

const FLAGS: [(&str, &str); 2] = [("rln", "false"), ("shards", "0")];

#[tokio::test]
async fn many_nodes_on_one_machine_hear_each_other() {
    let places: Vec<Place> = (0..NODES).map(|_| Place::new()).collect();
    let mut nodes: Vec<Assembled> = Vec::new();
    let mut peers: Vec<String> = Vec::new();
    for place in &places {
        let node = assemble(&place.config(&peers, &FLAGS)).await.unwrap();
        peers.push(node.node.addresses[0].to_string());
        nodes.push(node);
    }
    let heard: Vec<_> = nodes.iter().map(Heard::of).collect();
    let known = format!("undertone_topic_peers{{topic=\"{}\"}}", topic());
    for node in &nodes {
        metrics_until(node, |now| {
            now.get(&known)
                .is_some_and(|peers| *peers >= (NODES - 1) as f64)
        })
        .await;
    }
    let mut texts: Vec<String> = (0..NODES).map(|n| format!("from {n}")).collect();
    for (node, text) in nodes.iter().zip(&texts) {
        send(node, text).await;
    }
    texts.sort();
    for (n, heard) in heard.iter().enumerate() {
        // A sink hears own messages, too.
        let mut all = heard.texts_once(NODES).await;
        all.sort();
        assert_eq!(all, texts, "at node {n}");
    }
    for node in nodes {
        node.stop().await;
    }
}
