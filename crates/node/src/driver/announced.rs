//! Addresses at which others reach the node, as its operator says.

use std::net::IpAddr;

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;

/// Addresses that the operator announces, because the node cannot know them: those before a router, a proxy or a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnnouncedAddresses {
    /// Public IP address, at which the ports are the ones that the node listens on.
    pub ip: Option<IpAddr>,
    /// Host name of the node, at which the ports are the same too.
    pub name: Option<String>,
    /// Further addresses, without identity.
    pub more: Vec<Multiaddr>,
    /// Whether only the further addresses are announced.
    pub only_more: bool,
}

impl AnnouncedAddresses {
    /// Whether peers are not told of the addresses that the node listens on.
    pub(crate) fn hides_listening(&self) -> bool {
        self.ip.is_some() || self.name.is_some() || self.only_more
    }

    /// Addresses to announce beside, or in place of, those that the node listens on.
    pub(crate) fn over(&self, listening: &[Multiaddr]) -> Vec<Multiaddr> {
        let mut all = Vec::new();
        if !self.only_more {
            let ip = self.ip.map(Protocol::from);
            let name = self.name.clone().map(|name| Protocol::Dns4(name.into()));
            for host in ip.into_iter().chain(name) {
                all.extend(listening.iter().map(|address| at_host(address, &host)));
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

/// An address with another host, and without the identity at its end.
fn at_host(address: &Multiaddr, host: &Protocol<'_>) -> Multiaddr {
    let parts = address.iter().skip(1);
    let parts = parts.filter(|part| !matches!(part, Protocol::P2p(_)));
    let mut changed = Multiaddr::empty().with(host.clone());
    parts.for_each(|part| changed.push(part));
    changed
}

#[cfg(test)]
mod tests;
