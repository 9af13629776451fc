//! The development network of the compose file: what its containers run, in processes on loopback.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use undertone_contracts::{DevChain, DevChainOptions};
use undertone_migrate::yaml::{YamlNode, YamlValue};

use crate::support::process::Node;

const COMPOSE: &str = include_str!("../../../../../../deploy/docker/compose.yaml");
const NODES: [&str; 3] = ["first", "second", "third"];

/// Name of the first node in the compose file, as the others are told it.
const FIRST: &str = "/dns4/first/tcp/60000";
/// Ports that the containers have to themselves.
const PORTS: [&str; 5] = [
    "UNDERTONE_TCP_PORT",
    "UNDERTONE_WS_PORT",
    "UNDERTONE_QUIC_PORT",
    "UNDERTONE_REST_PORT",
    "UNDERTONE_METRICS_SERVER_PORT",
];

/// An entry of a service of the compose file.
fn entry(service: &str, key: &str) -> YamlValue {
    let root = YamlNode::read(COMPOSE).unwrap();
    let entry = root
        .get("services")
        .and_then(|all| all.get(service)?.get(key));
    entry
        .unwrap_or_else(|| panic!("{service} has no {key}"))
        .value
        .clone()
}

/// Variables of the program that a node's service sets.
fn of_node(name: &str) -> BTreeMap<String, String> {
    let YamlValue::Map(all) = entry(name, "environment") else {
        panic!("{name}: the environment is a map");
    };
    let texts = all
        .iter()
        .map(|(name, value)| (name.to_string(), value.text().unwrap().to_owned()));
    texts.collect()
}

/// Runs the script of the service `setup` with that service's arguments, but for chain and folder; returns what it printed.
fn set_up(chain: &str, folder: &Path) -> String {
    let YamlValue::List(words) = entry("setup", "command") else {
        panic!("setup: the command is a list");
    };
    let here = format!("{}/", folder.display());
    let words = words.iter().map(|word| {
        let word = word.text().unwrap().replace("http://chain:8545", chain);
        word.replace("/nodes/", &here)
    });
    let program = Path::new(env!("CARGO_BIN_EXE_undertone"));
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../deploy/docker/setup.sh"
        ))
        .args(words)
        .env(
            "PATH",
            format!("{}:{path}", program.parent().unwrap().display()),
        )
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn the_nodes_of_the_compose_file_find_each_other_and_publish() {
    let folder = tempfile::tempdir().unwrap();
    for name in NODES {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let chain = DevChain::start(&DevChainOptions::default()).unwrap();
    let printed = set_up(chain.endpoint(), folder.path());
    assert_eq!(printed.matches("transaction").count(), NODES.len());
    let again = set_up(chain.endpoint(), folder.path());
    assert_eq!(again, "", "what is there is left as it is");

    let mut nodes: Vec<Node> = Vec::new();
    for name in NODES {
        let mut command = undertone_node_process::command(env!("CARGO_BIN_EXE_undertone"));
        command.args(["node", "--json"]);
        for (variable, value) in of_node(name) {
            let value = value.replace("http://chain:8545", chain.endpoint());
            let value = value.replace("10.77.0.", "127.77.0.");
            let first = nodes.first().map_or("", |node| node.address.as_str());
            command.env(variable, value.replace(FIRST, first));
        }
        command.envs(PORTS.map(|port| (port, "0")));
        command.env("UNDERTONE_DATA_DIR", folder.path().join(name));
        nodes.push(Node::start(
            &mut command,
            &folder.path().join(format!("{name}.log")),
        ));
    }
    // The second and the third one are told of the first alone.
    for node in &nodes {
        node.rest.until("/admin/v1/peers/connected", |peers| {
            peers.as_array().is_some_and(|peers| peers.len() == 2)
        });
        let is_member = |rln: &Value| rln["mayPublish"] == true;
        node.rest.until("/debug/v1/rln", is_member);
    }
    let topic = "/compose/1/test/proto";
    for node in &nodes {
        node.rest.subscribe(topic);
    }
    for (speaker, payload) in ["Zmlyc3Q=", "c2Vjb25k", "dGhpcmQ="].iter().enumerate() {
        let ready = nodes[speaker].rest.ask("GET", "/readyz", "");
        assert_eq!(ready, Some((200, "ready".to_owned())));
        nodes[speaker].rest.publish(topic, payload);
        for node in &nodes {
            node.rest.receives(topic, payload);
        }
    }
    // The first one keeps them.
    let path = format!(
        "/store/v3/messages?contentTopics={}",
        topic.replace('/', "%2F")
    );
    nodes[0].rest.until(&path, |page| {
        page["messages"]
            .as_array()
            .is_some_and(|all| all.len() == 3)
    });
}
