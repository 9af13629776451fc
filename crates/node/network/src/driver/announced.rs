//! Addresses at which others reach the node, as its operator configures them.

use std::net::IpAddr;

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;

use super::addresses::ip_of;

/// Addresses that the operator announces because the node cannot know them: those of a router, a proxy or a host name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnouncedAddresses {
    /// Public IP address. It is combined with the ports that the node listens on in the same address family.
    pub ip: Option<IpAddr>,
    /// Host name of the node. It is combined with the IPv4 ports (`dns4`), or with the IPv6 ports (`dns6`) if there are
    /// no others.
    pub name: Option<String>,
    /// Further addresses, without `/p2p`.
    pub more: Vec<Multiaddr>,
    /// Whether only the further addresses are announced.
    pub only_more: bool,
}

impl AnnouncedAddresses {
    /// Whether the addresses that the node listens on are kept from peers.
    pub(crate) fn hides_listening(&self) -> bool {
        self.ip.is_some() || self.name.is_some() || self.only_more
    }

    /// Returns the addresses to announce in addition to, or instead of, those that the node listens on.
    pub(crate) fn over(&self, listening: &[Multiaddr]) -> Vec<Multiaddr> {
        let mut all = Vec::new();
        if !self.only_more {
            let is_v4 = |address: &Multiaddr| ip_of(address).is_some_and(|ip| ip.is_ipv4());
            let has_v4 = listening.iter().any(is_v4);
            let has_v6 = !listening.iter().all(is_v4);
            let ip = self.ip.map(|ip| (Protocol::from(ip), ip.is_ipv4()));
            let name = self.name.clone().map(|name| match has_v4 {
                true => (Protocol::Dns4(name.into()), true),
                false => (Protocol::Dns6(name.into()), false),
            });
            for (host, wants_v4) in ip.into_iter().chain(name) {
                // With listeners of only one family, a router that translates between families leads to them.
                let is_wanted =
                    |address: &&Multiaddr| !(has_v4 && has_v6) || is_v4(address) == wants_v4;
                let at_ports = listening.iter().filter(is_wanted);
                all.extend(at_ports.map(|address| at_host(address, &host)));
            }
        }
        all.extend(self.more.iter().cloned());
        let mut unique = Vec::new();
        for address in all {
            if !unique.contains(&address) {
                unique.push(address);
            }
        }
        unique
    }
}

/// Returns an address with another host, and without the peer id at its end.
fn at_host(address: &Multiaddr, host: &Protocol<'_>) -> Multiaddr {
    let parts = address.iter().skip(1);
    let parts = parts.filter(|part| !matches!(part, Protocol::P2p(_)));
    let mut changed = Multiaddr::empty().with(host.clone());
    parts.for_each(|part| changed.push(part));
    changed
}

#[cfg(test)]
#[path = "tests/announced.rs"]
mod tests;
