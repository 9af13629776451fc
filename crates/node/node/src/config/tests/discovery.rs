//! Keys of discovery.

use super::load_flags;

/// The list of the example of EIP-1459.
pub(super) const LIST: &str =
    "enrtree://AM5FCQLWIZX2QFPNJAP7VUERCCRNGRHWZG3YYHIUV7BVDQ5FDPRT2@nodes.example.org";

#[test]
fn discovery_begins_where_the_network_or_the_operator_says() {
    let discovery = |flags: &[(&str, &str)]| {
        let flags = [flags, &[("rln", "false")]].concat();
        load_flags(&flags).unwrap().discovery
    };
    assert_eq!(discovery(&[]), None, "network local names nobody");
    let network = discovery(&[("network", "twn")]).unwrap();
    assert_eq!(network.node_lists.len(), 1);
    assert_eq!(network.udp_port, Some(9_000));
    let other = [("network", "twn"), ("cluster-id", "7")];
    assert_eq!(
        discovery(&other),
        None,
        "another cluster is another network"
    );
    let shifted = discovery(&[("network", "twn"), ("ports-shift", "2")]).unwrap();
    assert_eq!(shifted.udp_port, Some(9_002));
    let quiet = [
        ("network", "twn"),
        ("dns-discovery", "false"),
        ("discv5-discovery", "false"),
    ];
    assert_eq!(discovery(&quiet), None);
    let servers = discovery(&[
        ("dns-discovery-url", LIST),
        ("dns-discovery-name-server", "10.0.0.1,[::1]:5353"),
    ]);
    let servers = servers.unwrap().name_servers;
    assert_eq!(
        servers,
        [
            "10.0.0.1:53".parse().unwrap(),
            "[::1]:5353".parse().unwrap()
        ]
    );
}

#[test]
fn rendezvous_is_used_beside_other_discovery_and_alone_where_it_is_asked_for() {
    let uses = |flags: &[(&str, &str)]| {
        let discovery = load_flags(flags).unwrap().discovery;
        discovery.map(|discovery| discovery.rendezvous)
    };
    assert_eq!(uses(&[]), None, "nobody to begin with");
    assert_eq!(uses(&[("rendezvous", "true")]), Some(true));
    assert_eq!(
        uses(&[("rendezvous", "true"), ("relay", "false")]),
        Some(true)
    );
    assert_eq!(uses(&[("discv5-discovery", "true")]), Some(true));
    let without = [("discv5-discovery", "true"), ("rendezvous", "false")];
    assert_eq!(uses(&without), Some(false));
    let alone = load_flags(&[("rendezvous", "true")]).unwrap();
    assert_eq!(alone.discovery.unwrap().udp_port, None);
}

#[test]
fn bad_values_of_discovery_are_named() {
    for (flags, wanted) in [
        (
            vec![("dns-discovery-url", "nodes.example.org")],
            "enrtree://KEY@DOMAIN",
        ),
        (
            vec![("dns-discovery-name-server", "dns.example")],
            "\"dns.example\" is none",
        ),
        (
            vec![("dns-discovery", "true")],
            "name one with dns-discovery-url",
        ),
    ] {
        let error = load_flags(&flags).unwrap_err().to_string();
        assert!(
            error.contains(flags[0].0) && error.contains(wanted),
            "{error}"
        );
    }
}
