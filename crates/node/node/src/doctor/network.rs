//! Checks of what the node starts from: its peers, lists of nodes in DNS, and records.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use tokio::net::TcpStream;
use tokio::time::timeout;
use undertone_discovery::discv5::{source_v4, source_v6};
use undertone_discovery::dns::{self, DnsConfig};
use undertone_discovery::record::WakuRecord;

use super::diagnosis::{CheckOutcome, Diagnosis};
use crate::config::NodeConfig;
use undertone_network::swarm::is_quic;

/// Time limit for a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// Time limit for the first node of a list.
const FIRST_NODE: Duration = Duration::from_secs(15);

/// Connects to every peer named in the configuration.
pub(super) async fn peers(config: &NodeConfig) -> Vec<Diagnosis> {
    let services = &config.services;
    let named = [
        ("static-peers", &config.static_peers),
        ("storenode", &services.store_peers),
        ("filternode", &services.filter_peers),
        ("lightpushnode", &services.lightpush_peers),
    ];
    let named = named
        .into_iter()
        .flat_map(|(key, addresses)| addresses.iter().map(move |address| (key, address)));
    let asked = named.map(|(key, address)| async move {
        if is_quic(address) {
            let says = format!("{address} is an address of QUIC, which only a node dials");
            return Diagnosis::other(key, CheckOutcome::NotChecked, says, "start the node");
        }
        match connect(address).await {
            Ok(how) => Diagnosis::good(key, format!("{address} accepts connections {how}")),
            Err(error) => unreachable_peer(key, address, &error.to_string()),
        }
    });
    futures::future::join_all(asked).await
}

fn unreachable_peer(key: &str, address: &Multiaddr, reason: &str) -> Diagnosis {
    Diagnosis::other(
        key,
        CheckOutcome::Warning,
        format!("{address} cannot be reached: {reason}"),
        "check the address, and that the peer runs and its firewall lets you in",
    )
}

/// Connects to an address over each IP family it has; returns the families that worked.
async fn connect(address: &Multiaddr) -> std::io::Result<String> {
    let (mut host, mut port, mut family) = (None, None, None);
    for part in address.iter() {
        match part {
            Protocol::Ip4(ip) => host = Some(IpAddr::from(ip).to_string()),
            Protocol::Ip6(ip) => host = Some(IpAddr::from(ip).to_string()),
            Protocol::Dns(name) => host = Some(name.into_owned()),
            Protocol::Dns4(name) => (host, family) = (Some(name.into_owned()), Some("IPv4")),
            Protocol::Dns6(name) => (host, family) = (Some(name.into_owned()), Some("IPv6")),
            Protocol::Tcp(number) => port = Some(number),
            _ => {}
        }
    }
    let (Some(host), Some(port)) = (host, port) else {
        return Err(std::io::Error::other("no host with a TCP port"));
    };
    let silent = |_| std::io::Error::other("no answer within 5 s");
    let looked_up = timeout(CONNECT, tokio::net::lookup_host((host, port)));
    let addresses: Vec<SocketAddr> = looked_up.await.map_err(silent)??.collect();
    let (mut reached, mut failed) = (Vec::new(), Vec::new());
    for (name, is_v4) in [("IPv4", true), ("IPv6", false)] {
        let of_family = addresses.iter().filter(|socket| socket.is_ipv4() == is_v4);
        let of_family: Vec<_> = of_family.copied().collect();
        if of_family.is_empty() || family.is_some_and(|family| family != name) {
            continue;
        }
        let connected = timeout(CONNECT, TcpStream::connect(&of_family[..])).await;
        match connected.map_err(silent).flatten() {
            Ok(_) => reached.push(name),
            Err(error) => failed.push((name, error)),
        }
    }
    let how = format!("over {}", reached.join(" and "));
    match (reached.is_empty(), failed.pop()) {
        (true, Some((_, error))) => Err(error),
        (true, None) => Err(std::io::Error::other(
            "the name has no address of this kind",
        )),
        (false, Some((name, error))) => Ok(format!("{how}, but not over {name}: {error}")),
        (false, None) => Ok(how),
    }
}

/// Reports over which IP families this machine has a route to the Internet, among those that the node listens on.
/// Nothing is sent, so obstacles on the path are not noticed.
pub(super) fn families(config: &NodeConfig) -> Option<Diagnosis> {
    judged_families(&config.listen_addresses, source_v4(), source_v6())
}

/// Same, for given source addresses; `None` for a family without a route.
pub(super) fn judged_families(
    listen: &[IpAddr],
    source_v4: Option<IpAddr>,
    source_v6: Option<IpAddr>,
) -> Option<Diagnosis> {
    let subject = "listen-address";
    if listen.iter().all(IpAddr::is_loopback) {
        return None;
    }
    let families = [
        ("IPv4", listen.iter().any(IpAddr::is_ipv4), source_v4),
        ("IPv6", listen.iter().any(IpAddr::is_ipv6), source_v6),
    ];
    let families = families.into_iter().filter(|(_, listens, _)| *listens);
    let (with, without): (Vec<_>, Vec<_>) = families.partition(|(_, _, source)| source.is_some());
    let with = with
        .into_iter()
        .filter_map(|(name, _, source)| Some(format!("{name} from {}", source?)));
    let with = with.collect::<Vec<_>>().join(" and ");
    let without: Vec<_> = without.into_iter().map(|(name, ..)| name).collect();
    Some(match (with.is_empty(), &without[..]) {
        (true, _) => Diagnosis::other(
            subject,
            CheckOutcome::Warning,
            "this machine has no way into the Internet",
            "check its addresses and routes, unless the network is a private one",
        ),
        (false, []) => Diagnosis::good(subject, format!("the Internet is reached by {with}")),
        (false, [name, ..]) => Diagnosis::good(
            subject,
            format!("the Internet is reached by {with}, not by {name}"),
        ),
    })
}

pub(super) fn shown_cluster(cluster: Option<u16>) -> String {
    match cluster {
        Some(cluster) => format!("cluster {cluster}"),
        None => "no cluster that its record names".to_owned(),
    }
}

/// Reads every list of nodes in DNS up to its first node.
pub(super) async fn lists(config: &NodeConfig) -> Vec<Diagnosis> {
    let Some(discovery) = &config.discovery else {
        return Vec::new();
    };
    let asked = discovery.node_lists.iter().map(|tree| async move {
        let started = dns::start(DnsConfig {
            trees: vec![tree.clone()],
            name_servers: discovery.name_servers.clone(),
            cluster: config.network.cluster_id,
            seed: [0; 32],
        });
        let (subject, domain) = ("dns-discovery-url", tree.domain());
        let mut nodes = match started {
            Ok(nodes) => nodes,
            Err(error) => {
                let remedy = "name a server with --dns-discovery-name-server";
                return Diagnosis::other(subject, CheckOutcome::Bad, error.to_string(), remedy);
            }
        };
        match timeout(FIRST_NODE, nodes.recv()).await {
            Ok(Some(node)) => Diagnosis::good(subject, format!("{domain} lists {}", node.peer())),
            _ => Diagnosis::other(
                subject,
                CheckOutcome::Warning,
                format!("{domain} gave no node of cluster {} within 15 s", config.network.cluster_id),
                "check the name, the network, and --dns-discovery-name-server; or name a node with --discv5-bootstrap-node",
            ),
        }
    });
    futures::future::join_all(asked).await
}

/// Parses every bootstrap record of discv5.
pub(super) async fn records(config: &NodeConfig) -> Vec<Diagnosis> {
    let discovery = config.discovery.iter();
    let texts = discovery.flat_map(|discovery| &discovery.bootstrap);
    let subject = "discv5-bootstrap-node";
    let read = texts.map(|text| match WakuRecord::parse(text) {
        Ok(record) => {
            let cluster = record.facts().cluster;
            match (record.udp(), cluster == Some(config.network.cluster_id)) {
                (Some(at), true) => {
                    Diagnosis::good(subject, format!("{} at UDP {at}", record.peer()))
                }
                (None, _) => Diagnosis::other(
                    subject,
                    CheckOutcome::Warning,
                    format!("the record of {} names no UDP address", record.peer()),
                    "ask its operator for a record of a node that runs discv5",
                ),
                (Some(_), false) => Diagnosis::other(
                    subject,
                    CheckOutcome::Warning,
                    format!("{} is of {}", record.peer(), shown_cluster(cluster)),
                    format!("this node is of cluster {}", config.network.cluster_id),
                ),
            }
        }
        Err(error) => Diagnosis::other(
            subject,
            CheckOutcome::Warning,
            format!("{text}: {error}"),
            "it is passed over; copy the whole record, from enr: on",
        ),
    });
    read.collect()
}
