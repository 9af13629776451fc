//! Keys of the transports beside TCP.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{flag_error, load_file, load_flags};
use undertone_network::driver::{MappingMethod, NatOptions, RelayClient};

/// Keys that are valid only together.
pub(super) const SECURE: [(&str, &str); 3] = [
    ("websocket-secure-support", "true"),
    ("websocket-secure-cert-path", "fullchain.pem"),
    ("websocket-secure-key-path", "privkey.pem"),
];

#[test]
fn a_node_listens_on_one_address_or_several_and_by_default_on_both_families() {
    let by_file = |text: &str| load_file(text).unwrap().listen_addresses;
    let by_flag =
        |text: &str| load_flags(&[("listen-address", text)]).map(|config| config.listen_addresses);
    let (loopback_v4, loopback_v6) = (
        IpAddr::from(Ipv4Addr::LOCALHOST),
        IpAddr::from(Ipv6Addr::LOCALHOST),
    );
    assert_eq!(by_flag("127.0.0.1").unwrap(), [loopback_v4]);
    assert_eq!(by_file("listen-address = \"127.0.0.1\""), [loopback_v4]);
    let both = [loopback_v4, loopback_v6];
    assert_eq!(by_flag("127.0.0.1, ::1, 127.0.0.1").unwrap(), both);
    assert_eq!(by_file("listen-address = [\"127.0.0.1\", \"::1\"]"), both);
    let any_v6 = IpAddr::from(Ipv6Addr::UNSPECIFIED);
    assert_eq!(by_flag("::").unwrap(), [any_v6], "asked for by itself");
    let has_v6 = std::net::UdpSocket::bind((loopback_v6, 0)).is_ok();
    let mut expected = vec![IpAddr::from(Ipv4Addr::UNSPECIFIED)];
    expected.extend(has_v6.then_some(any_v6));
    assert_eq!(load_flags(&[]).unwrap().listen_addresses, expected);
    for bad in ["", "::1,here"] {
        let error = by_flag(bad).unwrap_err().to_string();
        assert!(
            error.contains("expected an IP address, or a list of them"),
            "{error}"
        );
    }
}

#[test]
fn a_certificate_needs_its_key_and_is_on_the_websocket_port() {
    let config = load_flags(&SECURE).unwrap();
    assert_eq!(config.websocket_port, Some(8_000));
    let files = config.websocket_certificate.unwrap();
    assert_eq!(files.chain.to_str(), Some("fullchain.pem"));
    assert_eq!(files.key.to_str(), Some("privkey.pem"));
    for (left_out, remedy) in [
        (1, "name one with websocket-secure-cert-path"),
        (2, "name it with websocket-secure-key-path"),
    ] {
        let mut some = SECURE.to_vec();
        some.remove(left_out);
        let error = load_flags(&some).unwrap_err().to_string();
        assert!(error.contains(remedy), "{error}");
    }
    let error = flag_error("websocket-secure-cert-path", "fullchain.pem");
    assert!(error.contains("websocket-secure-support"), "{error}");
}

#[test]
fn announced_addresses_come_from_the_keys_of_nwaku() {
    let announced = |flags: &[(&str, &str)]| load_flags(flags).unwrap().announced;
    assert_eq!(announced(&[]), Default::default());
    let flags = [
        ("nat", "extip:203.0.113.7"),
        ("dns4-domain-name", "node.example"),
        ("ext-multiaddr", "/dns4/proxy.example/tcp/443/wss"),
    ];
    let all = announced(&flags);
    assert_eq!(all.ip, Some([203, 0, 113, 7].into()));
    assert_eq!(all.name.as_deref(), Some("node.example"));
    assert_eq!((all.more.len(), all.only_more), (1, false));
    for (key, value, remedy) in [
        ("nat", "igd", "any, upnp or pmp"),
        ("nat", "extip:0.0.0.0", "public IP address"),
        ("nat", "203.0.113.7", "extip:"),
        (
            "dns4-domain-name",
            "https://node.example",
            "without protocol",
        ),
        ("ext-multiaddr", "node.example", "multiaddresses"),
        ("ext-multiaddr-only", "true", "ext-multiaddr"),
    ] {
        let error = flag_error(key, value);
        assert!(error.contains(remedy), "{key} = {value}: {error}");
    }
}

#[test]
fn a_router_is_asked_for_ports_only_if_nat_says_so() {
    let asked = |nat| load_flags(&[("nat", nat)]).unwrap().port_mapping;
    assert_eq!(load_flags(&[]).unwrap().port_mapping, None);
    assert_eq!(asked("none"), None);
    assert_eq!(asked("extip:203.0.113.7"), None);
    assert_eq!(asked("any"), Some(MappingMethod::Any));
    assert_eq!(asked("UPnP"), Some(MappingMethod::Upnp));
    assert_eq!(asked("pmp"), Some(MappingMethod::Pmp));
}

#[test]
fn nat_traversal_is_on_by_default_and_bounded_by_keys() {
    let nat = |flags: &[(&str, &str)]| load_flags(flags).unwrap().nat;
    assert_eq!(nat(&[]), NatOptions::default());
    let changed = nat(&[
        ("autonat", "false"),
        ("relay-client", "true"),
        ("circuit-relay-reservations", "7"),
        ("circuit-relay-circuits", "40"),
        ("circuit-relay-s", "60"),
        ("circuit-relay-bytes", "2048"),
    ]);
    assert!(!changed.autonat);
    assert_eq!(changed.relay_client, RelayClient::Always);
    let limits = changed.circuits.unwrap();
    assert_eq!((limits.reservations_max, limits.circuits_max), (7, 40));
    assert_eq!(limits.circuits_per_peer_max, 10);
    assert_eq!(
        (limits.circuit.as_secs(), limits.circuit_bytes_max),
        (60, 2_048)
    );
    let off = nat(&[("circuit-relay", "false"), ("relay-client", "false")]);
    assert_eq!((off.circuits, off.relay_client), (None, RelayClient::Never));
    let error = flag_error("relay-client", "perhaps");
    assert!(error.contains("auto, true or false"), "{error}");
}
