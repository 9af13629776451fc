//! Nodes behind NATs: who reaches whom through routers that translate addresses, and by which means.
//!
//! Every host is a network namespace. Routers are Linux with nftables, in the two kinds that decide whether holes can be
//! punched: those that keep a connection's port whatever its destination (cone), and those that choose a new one for each
//! (symmetric). Neither lets anything in that was not asked for. One more router opens ports by UPnP and NAT-PMP
//! (miniupnpd).

mod net;
mod node;

use std::time::{Duration, Instant};

use net::{Internet, Wall};
use node::Node;

/// Time for nodes to learn that they are not reached, and to be given places at a relay.
const SETTLING: Duration = Duration::from_secs(180);

/// Time for one node to reach another, by whatever means.
const REACHING: Duration = Duration::from_secs(20);

/// Time after a connection for a direct one to replace it: three attempts, each of ten seconds at most.
const PUNCHING: Duration = Duration::from_secs(30);

const POLL: Duration = Duration::from_millis(250);

/// Hosts, and what stands before each.
const HOSTS: [(&str, Wall); 7] = [
    ("public", Wall::None),
    ("cone-1", Wall::Cone),
    ("cone-2", Wall::Cone),
    ("symmetric-1", Wall::Symmetric),
    ("symmetric-2", Wall::Symmetric),
    ("upnp", Wall::Upnp),
    ("pmp", Wall::Pmp),
];

/// Pairs to be tried, the dialling host first. Each pair of hosts stands once, because a connection serves both.
const PAIRS: [(&str, &str); 14] = [
    ("public", "cone-1"),
    ("cone-2", "public"),
    ("public", "symmetric-1"),
    ("symmetric-2", "public"),
    ("public", "upnp"),
    ("pmp", "public"),
    ("cone-1", "cone-2"),
    ("cone-1", "symmetric-1"),
    ("symmetric-2", "cone-2"),
    ("symmetric-1", "symmetric-2"),
    ("cone-1", "upnp"),
    ("symmetric-1", "upnp"),
    ("upnp", "cone-2"),
    ("pmp", "symmetric-2"),
];

#[test]
#[ignore = "network namespaces, nftables and miniupnpd, minutes; cargo xtask campaign --only nat"]
fn nodes_behind_nats_reach_each_other() {
    let internet = Internet::new();
    let host = internet.host("relay", Wall::None);
    let relay = Node::start(&host, &["--nat=extip:45.1.0.2"], &[]);
    let known = [relay.addresses().remove(0)];
    let nodes: Vec<_> = HOSTS
        .iter()
        .map(|(name, wall)| Node::start(&internet.host(name, *wall), wall.flags(), &known))
        .collect();
    let of = |name: &str| nodes.iter().find(|node| node.name == name).expect(name);
    let start = Instant::now();
    println!(
        "\n| host | reachable, as peers say | announced | after, s |\n| --- | --- | --- | ---: |"
    );
    for ((name, wall), node) in HOSTS.iter().zip(&nodes) {
        let settled = wait(SETTLING, || node.is_settled(*wall));
        let announced = node.announced();
        let after = start.elapsed().as_secs();
        println!(
            "| {name} | {} | {} | {after} |",
            node.reachable(),
            announced.join(", ")
        );
        assert!(settled, "{name} has not found its way: {}", node.log());
    }
    println!(
        "\n| from | to | connected | in the end | after, ms |\n| --- | --- | --- | --- | ---: |"
    );
    let mut lost = Vec::new();
    for (from, to) in PAIRS {
        let (dialling, dialled) = (of(from), of(to));
        let begun = Instant::now();
        let addresses = dialled.announced();
        dialling.connect(&addresses);
        let mut first = None;
        wait(REACHING, || {
            first = dialling.connected_by(dialled);
            first.is_some()
        });
        let after = begun.elapsed().as_millis();
        let Some(first) = first else {
            println!("| {from} | {to} | not at all | | {after} |");
            lost.push((from, to));
            continue;
        };
        if first == "relayed" {
            wait(PUNCHING, || {
                dialling.connected_by(dialled) == Some("direct")
            });
        }
        let last = match (first, dialling.connected_by(dialled)) {
            ("relayed", Some("direct")) => "hole punched",
            (_, Some(means)) => means,
            (_, None) => "closed",
        };
        println!("| {from} | {to} | {first} | {last} | {after} |");
    }
    println!(
        "\nHoles: {}",
        of("cone-1").metric("undertone_holes_punched")
    );
    assert!(lost.is_empty(), "not reached: {lost:?}");
    for node in nodes.into_iter().chain([relay]) {
        node.stop();
    }
    assert_eq!(
        internet.open_ports(),
        "",
        "the routers' ports are closed again"
    );
}

fn wait(limit: Duration, mut is_met: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    while Instant::now() < end {
        if is_met() {
            return true;
        }
        std::thread::sleep(POLL);
    }
    is_met()
}
