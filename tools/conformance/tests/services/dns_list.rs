//! One signed list in DNS from which a node of ours and a js-waku light client find the same nodes.

use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::Value;
use tokio::process::Command;
use undertone_attacks::node::wait_until;
use undertone_conformance::programs;

use crate::client::Client;
use crate::relay_node::{self, PATIENCE, record, start_for_clients, wait_mesh};
use crate::test_network::{TOPIC, program};
use crate::zone::Zone;

/// Name at which the lists stand.
pub(crate) const DOMAIN: &str = "nodes.example.org";

#[tokio::test]
async fn a_node_and_a_js_waku_client_find_the_nodes_of_one_list() {
    find_listed(Ipv4Addr::new(127, 0, 13, 0), async |records| {
        Zone::signed(records, DOMAIN)
    })
    .await;
}

/// Has a node and a client find the nodes of the list that `sign` makes of their records. `network` is where the nodes are, a /24.
pub(crate) async fn find_listed(network: Ipv4Addr, sign: impl AsyncFnOnce(&[String]) -> Zone) {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c, _] = network.octets();
    let at = |last| Ipv4Addr::new(a, b, c, last);
    // The two listed ones know nobody.
    let (first, _) = start_for_clients(folder.path(), "first", at(1), &[]).await;
    let (second, _) = start_for_clients(folder.path(), "second", at(2), &[]).await;
    let records = [record(&first).await, record(&second).await];
    let zone = Arc::new(sign(&records).await);

    let list = format!("--dns-discovery-url={}", zone.url);
    let server = format!("--dns-discovery-name-server={}", zone.serve_udp().await);
    let ids = [first.peer_id(), second.peer_id()];
    diagnose(&[&list, &server], ids.map(|id| id.to_string())).await;
    let flags = [&list, &server, "--discv5-discovery=false"];
    let finder = relay_node::start(folder.path(), "finder", at(3), &flags).await;
    wait_mesh(&finder, &first).await;
    wait_mesh(&finder, &second).await;

    let command = programs::js_light_client().unwrap();
    let command = command
        .option("shard", 0)
        .option("dns-list", &zone.url)
        .option("dns-server", zone.serve_http().await);
    let mut client = Client::start(&command, folder.path()).await;
    for node in [&first, &second] {
        let id = node.peer_id().to_string();
        let is_it = |event: &Value| event["peer"] == id.as_str();
        client
            .event("find a listed node", "identified", is_it)
            .await;
    }
    client.lightpush(TOPIC, "by a list").await;
    let arrives = wait_until(PATIENCE, || async {
        finder.delivered().contains_key(TOPIC)
    });
    assert!(arrives.await, "{}", finder.state().await);
    client.quit().await;
}

/// Has `undertone doctor` read the list that the flags name, and name one of its nodes.
async fn diagnose(flags: &[&str], listed: [String; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let mut doctor = Command::new(program());
    doctor.args(["doctor", "--ntp-server=none", "--network=local"]);
    doctor.args(["--cluster-id=66", "--rln=false", "--tcp-port=0"]);
    doctor.args(["--rest-port=0", "--discv5-udp-port=0"]);
    doctor.arg("--data-dir").arg(folder.path()).args(flags);
    let output = doctor.output().await.unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let names = |id: &String| said.contains(&format!("{DOMAIN} lists {id}"));
    assert!(listed.iter().any(names), "{said}");
}
