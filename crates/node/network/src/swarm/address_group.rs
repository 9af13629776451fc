//! Groups of addresses that count as one, because one host or customer controls all of them.

use std::net::IpAddr;

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use undertone_peers::AddressRules;
use undertone_services::trust::Network;

/// Group of an address: its IPv4 address, the /64 of its IPv6 address, or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AddressGroup {
    V4([u8; 4]),
    V6([u8; 8]),
    /// An address without an IP address; does not occur on TCP and QUIC connections.
    Other,
}

impl AddressGroup {
    pub(crate) fn of(address: &Multiaddr) -> Self {
        let ip = address.iter().find_map(|part| match part {
            Protocol::Ip4(ip) => Some(IpAddr::from(ip)),
            Protocol::Ip6(ip) => Some(IpAddr::from(ip)),
            _ => None,
        });
        match ip.map(|ip| ip.to_canonical()) {
            Some(IpAddr::V4(ip)) => Self::V4(ip.octets()),
            Some(IpAddr::V6(ip)) => {
                let [a, b, c, d, e, f, g, h, ..] = ip.octets();
                Self::V6([a, b, c, d, e, f, g, h])
            }
            None => Self::Other,
        }
    }

    /// Returns the network of a public address; `None` for addresses of a host, a cluster or an office, where many
    /// nodes legitimately share a network.
    pub(crate) fn network(self) -> Option<Network> {
        let ip = match self {
            Self::V4(octets) => IpAddr::from(octets),
            Self::V6([a, b, c, d, e, f, g, h]) => {
                IpAddr::from([a, b, c, d, e, f, g, h, 0, 0, 0, 0, 0, 0, 0, 0])
            }
            Self::Other => return None,
        };
        let is_global = AddressRules::default().accepts_ip(ip);
        is_global.then(|| Network::of(ip))
    }

    /// Whether the address is this host's own loopback: other nodes of a test network, or a proxy in front of
    /// this node. `::1` shares its /64 with no other host.
    pub(crate) fn is_loopback(self) -> bool {
        match self {
            Self::V4([first, ..]) => first == 127,
            Self::V6(prefix) => prefix == [0; 8],
            Self::Other => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(address: &str) -> AddressGroup {
        AddressGroup::of(&address.parse().expect("a constant"))
    }

    #[test]
    fn an_ipv4_address_stands_alone_and_a_64_for_all_that_it_holds() {
        assert_ne!(group("/ip4/10.0.0.1/tcp/1"), group("/ip4/10.0.0.2/tcp/1"));
        assert_eq!(group("/ip4/10.0.0.1/tcp/1"), group("/ip4/10.0.0.1/tcp/2"));
        let (one, other) = ("/ip6/2001:db8::1/tcp/1", "/ip6/2001:db8::ffff:2/tcp/1");
        assert_eq!(group(one), group(other));
        assert_ne!(group(one), group("/ip6/2001:db8:0:1::1/tcp/1"));
        let mapped = group("/ip6/::ffff:10.0.0.1/tcp/1");
        assert_eq!(mapped, group("/ip4/10.0.0.1/tcp/1"));
    }

    #[test]
    fn networks_are_a_24_or_a_48_of_the_internet() {
        let network = |address| group(address).network();
        let (one, other) = ("/ip4/20.1.2.3/tcp/1", "/ip4/20.1.2.200/tcp/1");
        assert_eq!(network(one), network(other));
        assert_ne!(network(one), network("/ip4/20.1.3.3/tcp/1"));
        let (one, other) = ("/ip6/2600:1:2:3::1/tcp/1", "/ip6/2600:1:2:ffff::1/tcp/1");
        assert_eq!(network(one), network(other));
        assert_ne!(network(one), network("/ip6/2600:1:3::1/tcp/1"));
        for private in [
            "/ip4/10.1.2.3/tcp/1",
            "/ip4/127.0.0.1/tcp/1",
            "/ip6/fd00::1/tcp/1",
        ] {
            assert_eq!(network(private), None, "{private}");
        }
    }

    #[test]
    fn loopback_is_known_in_both_versions() {
        assert!(group("/ip4/127.0.0.5/tcp/1").is_loopback());
        assert!(group("/ip6/::1/tcp/1").is_loopback());
        assert!(!group("/ip4/128.0.0.1/tcp/1").is_loopback());
        assert!(!group("/ip6/2001:db8::1/tcp/1").is_loopback());
        assert!(!group("/memory/1").is_loopback());
    }
}
