use super::*;

fn address(text: &str) -> Multiaddr {
    text.parse().expect("the test's address is valid")
}

fn rules() -> AddressRules {
    AddressRules::default()
}

#[test]
fn addresses_of_the_internet_are_accepted() {
    for text in [
        "/ip4/8.8.8.8/tcp/60000",
        "/ip4/8.8.8.8/tcp/8000/ws",
        "/ip6/2a00::1/tcp/60000",
        "/dns4/node.example.org/tcp/30303",
        "/dns4/node.example.org/tcp/443/wss",
        "/ip4/8.8.8.8/udp/60000/quic-v1",
    ] {
        assert!(rules().accepts(&address(text)), "{text}");
    }
}

#[test]
fn addresses_that_lead_nowhere_are_refused() {
    for text in [
        "/ip4/0.0.0.0/tcp/60000",
        "/ip4/224.0.0.1/tcp/60000",
        "/ip4/8.8.8.8/tcp/0",
        "/ip4/8.8.8.8",
        "/ip6/::/tcp/1",
        "/ip6/fe80::1/tcp/60000",
        "/memory/1",
    ] {
        let mut open = rules();
        open.allows_private = true;
        assert!(!open.accepts(&address(text)), "{text}");
    }
}

#[test]
fn private_addresses_are_accepted_only_in_test_networks() {
    let mut open = rules();
    open.allows_private = true;
    for text in [
        "/ip4/127.0.0.1/tcp/60000",
        "/ip4/10.1.2.3/tcp/60000",
        "/ip4/192.168.0.1/tcp/60000",
        "/ip4/172.16.0.1/tcp/60000",
        "/ip4/169.254.0.1/tcp/60000",
        "/ip4/100.64.0.1/tcp/60000",
        "/ip6/::1/tcp/60000",
        "/ip6/fd00::1/tcp/60000",
        "/ip6/::ffff:10.0.0.1/tcp/60000",
    ] {
        assert!(!rules().accepts(&address(text)), "{text}");
        assert!(open.accepts(&address(text)), "{text}");
    }
}

#[test]
fn own_addresses_are_refused_with_and_without_an_identity() {
    let mut rules = rules();
    rules.own.push(address("/ip4/8.8.8.8/tcp/60000"));
    assert!(!rules.accepts(&address("/ip4/8.8.8.8/tcp/60000")));
    let named = address("/ip4/8.8.8.8/tcp/60000").with(Protocol::P2p(crate::tests::peer(7)));
    assert!(!rules.accepts(&named));
    assert!(rules.accepts(&address("/ip4/8.8.8.8/tcp/60001")));
}

#[test]
fn long_addresses_are_refused() {
    let name = "a".repeat(300);
    assert!(!rules().accepts(&address(&format!("/dns4/{name}/tcp/1"))));
}

#[test]
fn a_relayed_address_is_that_of_one_relay_and_judged_like_it() {
    let (relay, peer) = (crate::tests::peer(7), crate::tests::peer(8));
    let through = |text: &str| {
        address(text)
            .with(Protocol::P2p(relay))
            .with(Protocol::P2pCircuit)
    };
    let good = through("/ip4/8.8.8.8/tcp/1");
    assert!(rules().accepts(&good));
    assert!(rules().accepts(&good.clone().with(Protocol::P2p(peer))));
    assert!(!rules().accepts(&through("/ip4/10.0.0.1/tcp/1")));
    // Without the relay's identity, with two relays, and with something behind the relay.
    let nameless = address("/ip4/8.8.8.8/tcp/1").with(Protocol::P2pCircuit);
    assert!(!rules().accepts(&nameless));
    let twice = good
        .clone()
        .with(Protocol::P2p(peer))
        .with(Protocol::P2pCircuit);
    assert!(!rules().accepts(&twice));
    assert!(!rules().accepts(&good.with(Protocol::Tcp(9))));
}

#[test]
fn a_network_is_a_slash_24_or_a_slash_48() {
    let network = |text: &str| AddressNetwork::of(&address(text)).expect("an address with a host");
    assert_eq!(network("/ip4/8.8.8.8/tcp/1"), network("/ip4/8.8.8.9/tcp/2"));
    assert_ne!(network("/ip4/8.8.8.8/tcp/1"), network("/ip4/8.8.9.8/tcp/1"));
    assert_eq!(
        network("/ip6/2a00::1/tcp/1"),
        network("/ip6/2a00:0:0:ffff::1/tcp/1")
    );
    assert_eq!(network("/ip4/127.0.0.1/tcp/1"), network("/ip6/::1/tcp/1"));
    assert_eq!(
        network("/ip6/::ffff:8.8.8.8/tcp/1"),
        network("/ip4/8.8.8.1/tcp/1")
    );
}

#[test]
fn names_that_lead_to_this_host_or_its_network_are_accepted_only_in_test_networks() {
    let mut open = rules();
    open.allows_private = true;
    for name in [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "printer.local",
        "vault.internal",
        "nas.lan",
        "nas.home.arpa",
        "home.arpa",
        "intranet",
        "127.0.0.1",
        "10.0.0.1",
    ] {
        let text = format!("/dns4/{name}/tcp/60000");
        assert!(!rules().accepts(&address(&text)), "{text}");
        assert!(open.accepts(&address(&text)), "{text}");
    }
}

#[test]
fn names_that_some_resolvers_read_as_numbers_are_refused() {
    for name in ["127.1", "0x7f.1", "1.2.3.4.5", "host.0x7f"] {
        let text = format!("/dns4/{name}/tcp/60000");
        assert!(!rules().accepts(&address(&text)), "{text}");
    }
    for name in ["8.8.8.8", "node.home.arpa.example.org", "notlocal.org"] {
        let text = format!("/dns4/{name}/tcp/60000");
        assert!(rules().accepts(&address(&text)), "{text}");
    }
}

#[test]
fn all_hosts_of_a_domain_are_one_network() {
    let network = |name: &str| AddressNetwork::of(&address(&format!("/dns4/{name}/tcp/1")));
    assert_eq!(network("a.example.org"), network("b.c.Example.org."));
    assert_ne!(network("a.example.org"), network("a.example.com"));
    assert_eq!(
        network("localhost"),
        Some(AddressNetwork::Named("localhost".into()))
    );
}

#[test]
fn an_address_with_a_second_host_is_refused_since_transports_dial_the_last() {
    let rules = AddressRules::default();
    for text in [
        "/ip4/20.0.0.1/ip4/10.0.0.1/tcp/80",
        "/ip4/20.0.0.1/dns4/example.org/tcp/80",
        "/dns4/example.org/ip4/127.0.0.1/tcp/80",
        "/ip4/20.0.0.1/tcp/80/ip6/::1/tcp/80",
    ] {
        let address: Multiaddr = text.parse().unwrap();
        assert_eq!(host_of(&address), None, "{text}");
        assert!(!rules.accepts(&address), "{text}");
    }
    assert!(rules.accepts(&"/ip4/20.0.0.1/tcp/80".parse().unwrap()));
}
