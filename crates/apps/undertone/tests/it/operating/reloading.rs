//! SIGHUP: a running node takes what can be changed from its file, says what needs a restart, and survives a bad file.

use std::fs;

use serde_json::{Value, json};
use undertone_node_process::Signal;

use super::support::Home;
use crate::support::process::{Node, until};

/// Topics that the node is subscribed to.
fn topics(node: &Node) -> Vec<String> {
    let status = node.json("/admin/v1/status");
    let shards = status["shards"].as_array().unwrap();
    let topics = shards.iter().map(|shard| shard["pubsubTopic"].as_str());
    topics.map(|topic| topic.unwrap().to_owned()).collect()
}

#[test]
fn a_node_takes_peers_shards_and_log_level_from_its_file_and_says_what_needs_a_restart() {
    let (home, elsewhere) = (Home::new(), Home::new());
    let file = home.path("node.toml");
    fs::write(&file, "shards = [0]\n").unwrap();
    let node = home.start(&["--config-file", file.to_str().unwrap()]);
    let neighbour = elsewhere.start(&[]);
    assert_eq!(topics(&node), ["/waku/2/rs/66/0"]);

    let peer = &neighbour.address;
    let changed =
        format!("shards = [1]\nstatic-peers = [{peer:?}]\nlog-level = \"debug\"\nstore = true\n");
    fs::write(&file, changed).unwrap();
    node.signal(Signal::HUP);
    node.says("restart the node to change: store");
    node.says("the configuration was read again; changed: ");
    until("the neighbour is connected", || {
        let peers = node.json("/admin/v1/peers/connected");
        (peers.as_array().unwrap().len() == 1).then_some(())
    });
    assert_eq!(topics(&node), ["/waku/2/rs/66/1"]);
    until("the neighbour knows of the shard", || {
        let on = neighbour.json("/admin/v1/peers/relay/on/1");
        (on["peers"].as_array()?.len() == 1).then_some(())
    });
    node.says("DBG ");

    // A peer that is named no more is not dialled again.
    fs::write(&file, "shards = [1]\nlog-level = \"debug\"\nstore = true\n").unwrap();
    node.signal(Signal::HUP);
    node.says("changed: static-peers");
    node.signal(Signal::TERM);
    assert_eq!(node.ended().code(), Some(0));
}

#[test]
fn a_file_with_an_error_changes_nothing_and_the_error_names_the_place() {
    let home = Home::new();
    let file = home.path("node.toml");
    fs::write(&file, "shards = [0]\n").unwrap();
    let node = home.start(&["--config-file", file.to_str().unwrap()]);
    fs::write(&file, "shards = [1]\nlog-level = \"loud\"\n").unwrap();
    node.signal(Signal::HUP);
    node.says("the configuration is not reloaded");
    let said = node.said();
    for part in [file.to_str().unwrap(), "2", "log-level", "loud"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(topics(&node), ["/waku/2/rs/66/0"]);
    fs::remove_file(&file).unwrap();
    node.signal(Signal::HUP);
    until("the missing file is told", || {
        (node
            .said()
            .matches("the configuration is not reloaded")
            .count()
            == 2)
            .then_some(())
    });
    let health: Value = node.json("/health");
    assert_ne!(health["nodeHealth"], json!("SHUTTING_DOWN"));
}
