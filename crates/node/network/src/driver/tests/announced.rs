use super::*;

fn addresses(texts: &[&str]) -> Vec<Multiaddr> {
    let parse = |text: &&str| text.parse().expect("a constant");
    texts.iter().map(parse).collect()
}

fn listening() -> Vec<Multiaddr> {
    addresses(&[
        "/ip4/192.168.0.2/tcp/60000",
        "/ip4/127.0.0.1/tcp/60000",
        "/ip4/192.168.0.2/tcp/8000/wss",
        "/ip4/192.168.0.2/udp/60000/quic-v1",
    ])
}

#[test]
fn a_public_ip_and_a_name_stand_for_the_host_of_each_port_once() {
    let announced = AnnouncedAddresses {
        ip: Some(IpAddr::from([203, 0, 113, 7])),
        name: Some("node.example".to_owned()),
        ..AnnouncedAddresses::default()
    };
    let expected = addresses(&[
        "/ip4/203.0.113.7/tcp/60000",
        "/ip4/203.0.113.7/tcp/8000/wss",
        "/ip4/203.0.113.7/udp/60000/quic-v1",
        "/dns4/node.example/tcp/60000",
        "/dns4/node.example/tcp/8000/wss",
        "/dns4/node.example/udp/60000/quic-v1",
    ]);
    assert_eq!(announced.over(&listening()), expected);
    assert!(announced.hides_listening());
}

#[test]
fn with_both_families_an_ip_stands_for_the_ports_of_its_own_and_the_name_for_those_of_ipv4() {
    let announced = |ip: IpAddr| AnnouncedAddresses {
        ip: Some(ip),
        name: Some("node.example".to_owned()),
        ..AnnouncedAddresses::default()
    };
    let (v4, v6) = ("/ip4/0.0.0.0/tcp/40000", "/ip6/::/tcp/60000");
    let both = announced([203, 0, 113, 7].into()).over(&addresses(&[v4, v6]));
    let name = "/dns4/node.example/tcp/40000";
    assert_eq!(both, addresses(&["/ip4/203.0.113.7/tcp/40000", name]));
    let public: IpAddr = "2001:db8::7".parse().expect("a constant");
    let both = announced(public).over(&addresses(&[v4, v6]));
    assert_eq!(both, addresses(&["/ip6/2001:db8::7/tcp/60000", name]));
    let alone = announced(public).over(&addresses(&[v6]));
    let name = "/dns6/node.example/tcp/60000";
    assert_eq!(alone, addresses(&["/ip6/2001:db8::7/tcp/60000", name]));
}

#[test]
fn further_addresses_are_told_beside_the_others_or_alone() {
    let more = addresses(&["/dns4/proxy.example/tcp/443/wss"]);
    let beside = AnnouncedAddresses {
        more: more.clone(),
        ..AnnouncedAddresses::default()
    };
    assert_eq!(beside.over(&listening()), more);
    assert!(!beside.hides_listening());
    let alone = AnnouncedAddresses {
        ip: Some(IpAddr::from([203, 0, 113, 7])),
        only_more: true,
        ..beside
    };
    assert_eq!(alone.over(&listening()), more);
    assert!(alone.hides_listening());
}
