use super::*;

fn chosen(told: &[&str]) -> RecordAddresses {
    let told: Vec<_> = told.iter().map(|text| text.parse().unwrap()).collect();
    RecordAddresses::of(&told)
}

fn others(told: &[&str]) -> Vec<String> {
    let others = chosen(told).others;
    others.iter().map(ToString::to_string).collect()
}

const RELAYED: &str =
    "/ip4/20.0.0.9/tcp/60000/p2p/16Uiu2HAmUatsDnowKJuZyJESEYxD5uYYHBJ7C7kQ9pQ2zVq3V9xK/p2p-circuit";

#[test]
fn of_each_family_the_address_of_widest_reach_is_named() {
    let told = [
        "/ip4/127.0.0.1/tcp/1",
        "/ip4/192.168.1.2/tcp/1",
        "/ip4/20.0.0.1/tcp/1",
        "/ip6/::1/tcp/2",
        "/ip6/fe80::1/tcp/2",
        "/ip6/fd00::2/tcp/2",
        "/ip6/2a01:4f8::2/tcp/2",
    ];
    let both = chosen(&told);
    assert_eq!(both.v4, Some((Ipv4Addr::new(20, 0, 0, 1), 1)));
    assert_eq!(both.v6, Some(("2a01:4f8::2".parse().unwrap(), 2)));
    // Private ones of both, as in a network of its own.
    let private = chosen(&[told[1], told[5]]);
    assert!(private.v4.is_some() && private.v6.is_some());
    let host = chosen(&[told[0], told[3]]);
    assert!(host.v4.is_some() && host.v6.is_some());
}

#[test]
fn an_address_of_the_link_or_of_narrower_reach_than_ipv4_is_not_named() {
    let link = chosen(&[
        "/ip6/fe80::1/tcp/2",
        "/ip6/fe80::1/tcp/3/ws",
        "/ip4/127.0.0.1/tcp/1",
    ]);
    assert_eq!(link.v6, None);
    assert!(link.others.is_empty());
    // Nodes that have both families would ask at the private address, and never at the other.
    let narrower = chosen(&["/ip4/20.0.0.1/tcp/1", "/ip6/fd00::2/tcp/2"]);
    assert_eq!(narrower.v6, None);
    let this_host = chosen(&["/ip4/127.0.0.1/tcp/1", "/ip6/2a01:4f8::2/tcp/2"]);
    assert_eq!(this_host.v4, None);
    assert!(this_host.v6.is_some());
    // A router may lead to the private address of IPv4.
    let behind = chosen(&["/ip4/192.168.1.2/tcp/1", "/ip6/2a01:4f8::2/tcp/2"]);
    assert!(behind.v4.is_some() && behind.v6.is_some());
}

#[test]
fn what_browsers_dial_comes_first_and_replaces_websocket_at_ip_addresses() {
    let told = [
        "/ip4/20.0.0.1/tcp/8000/wss",
        "/ip4/20.0.0.1/udp/60000/quic-v1",
        "/ip6/2a01:4f8::2/tcp/8000/wss",
        "/dns4/node.example/tcp/60000",
        RELAYED,
        "/dns4/node.example/tcp/8000/wss",
    ];
    assert_eq!(others(&told), [told[5], told[4], told[1], told[3]]);
    // Without such a name they are all that there is.
    assert_eq!(others(&[told[0], told[2]]), [told[0], told[2]]);
    let tls = "/dns6/node.example/tcp/443/tls/ws";
    assert_eq!(others(&[told[0], tls]), [tls]);
}

#[test]
fn those_of_this_host_are_named_where_there_is_nothing_else() {
    let (host, network) = ("/ip4/127.0.0.1/tcp/8000/ws", "/ip4/10.1.2.3/tcp/8000/ws");
    assert_eq!(others(&[host, network]), [network]);
    assert_eq!(others(&[host, "/dns/node.example/tcp/1"]).len(), 1);
    assert_eq!(others(&[host]), [host]);
}

#[test]
fn the_address_of_a_relay_is_not_taken_for_the_nodes_own() {
    let chosen = chosen(&[RELAYED, "/ip4/192.168.1.2/tcp/60000"]);
    assert_eq!(chosen.v4, Some((Ipv4Addr::new(192, 168, 1, 2), 60_000)));
    assert_eq!(chosen.others.len(), 1);
}
