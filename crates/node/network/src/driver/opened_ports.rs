//! Ports opened by the router in front of the node, and the external addresses that result.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;

use super::addresses::ip_of;
use crate::portmap::{LocalPort, Mapper, MappingMethod, PortKind, PortNews, RouterSearch};
use crate::swarm::NodeSwarm;

/// Ports requested from the router, and the addresses announced for those that it opened.
#[derive(Debug, Default)]
pub(crate) struct OpenedPorts {
    mapper: Option<Mapper>,
    announced: BTreeMap<LocalPort, Vec<Multiaddr>>,
}

impl OpenedPorts {
    /// Starts to ask the router for the ports that the node listens on, and for that of discv5. The ports come from
    /// `configured`, because not all addresses of a port that listens on all interfaces are known at the start.
    pub(crate) fn ask(
        method: MappingMethod,
        configured: &[Multiaddr],
        listening: &[Multiaddr],
        discv5_port: Option<u16>,
    ) -> Self {
        let mut ports = asked_for(configured, listening);
        let discv5 = discv5_port.filter(|_| !ports.is_empty());
        ports.extend(discv5.map(|number| LocalPort {
            kind: PortKind::Udp,
            number,
        }));
        if ports.is_empty() {
            tracing::warn!(
                "the router is asked for no port, because the node listens on no address of IPv4 that it could lead to"
            );
            return Self::default();
        }
        let search = RouterSearch::new(method);
        Self {
            mapper: Some(Mapper::start(search, ports.into_iter().collect())),
            announced: BTreeMap::new(),
        }
    }

    /// Whether the router forwards any address to the node.
    pub(crate) fn is_any_open(&self) -> bool {
        self.announced
            .values()
            .any(|addresses| !addresses.is_empty())
    }

    /// Waits for news of a port; forever if the router was not asked.
    pub(crate) async fn next(&mut self) -> PortNews {
        Mapper::next(self.mapper.as_mut()).await
    }

    /// Has the router close the ports; takes a bounded time.
    pub(crate) async fn give_back(&mut self) {
        if let Some(mapper) = self.mapper.take() {
            mapper.stop().await;
        }
    }

    /// Announces the addresses of an opened port, or withdraws those of a lost one.
    pub(super) fn on_news(&mut self, news: PortNews, swarm: &mut NodeSwarm) {
        match news {
            PortNews::Opened { port, at } => {
                let listening = swarm.listeners();
                let addresses: BTreeSet<_> = listening
                    .filter(|address| port_of(address) == Some(port))
                    .map(|address| seen_at(address, at))
                    .collect();
                for address in &addresses {
                    swarm.add_external_address(address.clone());
                }
                let addresses = addresses.into_iter().collect();
                self.announced.insert(port, addresses);
            }
            PortNews::Lost { port, at } => {
                tracing::warn!(port = port.number, %at, "the router does not lead this address to the node any more");
                for address in self.announced.remove(&port).unwrap_or_default() {
                    swarm.remove_external_address(&address);
                }
            }
        }
    }
}

/// Returns the ports to ask for. Ports chosen by the system are taken from the addresses that the node listens on.
fn asked_for(configured: &[Multiaddr], listening: &[Multiaddr]) -> BTreeSet<LocalPort> {
    let of_v4 = |address: &&Multiaddr| ip_of(address).is_some_and(|ip| ip.is_ipv4());
    let chosen = listening.iter().filter(of_v4).filter_map(number_of);
    let chosen: Vec<_> = chosen.collect();
    let wanted = configured.iter().filter_map(port_of);
    let numbered = wanted.flat_map(|port| match port.number {
        0 => chosen
            .iter()
            .copied()
            .filter(|chosen| chosen.kind == port.kind)
            .collect(),
        _ => vec![port],
    });
    numbered.collect()
}

/// Returns the port of an address that a router can forward to: an IPv4 address that is not loopback.
fn port_of(address: &Multiaddr) -> Option<LocalPort> {
    match ip_of(address)? {
        IpAddr::V4(ip) if !ip.is_loopback() => number_of(address),
        _ => None,
    }
}

fn number_of(address: &Multiaddr) -> Option<LocalPort> {
    address.iter().find_map(|part| {
        let (kind, number) = match part {
            Protocol::Tcp(number) => (PortKind::Tcp, number),
            Protocol::Udp(number) => (PortKind::Udp, number),
            _ => return None,
        };
        Some(LocalPort { kind, number })
    })
}

/// Returns an address with another IP address and port, and without the peer id.
fn seen_at(address: &Multiaddr, at: SocketAddr) -> Multiaddr {
    let changed = address.iter().filter_map(|part| match part {
        Protocol::Ip4(_) | Protocol::Ip6(_) => Some(at.ip().into()),
        Protocol::Tcp(_) => Some(Protocol::Tcp(at.port())),
        Protocol::Udp(_) => Some(Protocol::Udp(at.port())),
        Protocol::P2p(_) => None,
        other => Some(other),
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Multiaddr {
        text.parse().expect("a constant")
    }

    #[test]
    fn ports_of_other_hosts_view_only_are_asked_for() {
        let port = |text| port_of(&address(text));
        let tcp = |number| LocalPort {
            kind: PortKind::Tcp,
            number,
        };
        assert_eq!(port("/ip4/192.168.1.2/tcp/60000"), Some(tcp(60_000)));
        assert_eq!(port("/ip4/192.168.1.2/tcp/8000/ws"), Some(tcp(8_000)));
        let udp = LocalPort {
            kind: PortKind::Udp,
            ..tcp(60_000)
        };
        assert_eq!(port("/ip4/192.168.1.2/udp/60000/quic-v1"), Some(udp));
        assert_eq!(port("/ip4/127.0.0.1/tcp/60000"), None);
        assert_eq!(port("/ip6/fd00::2/tcp/60000"), None);
        assert_eq!(port("/dns4/node.example/tcp/60000"), None);
    }

    #[test]
    fn a_port_on_all_interfaces_is_asked_for_whichever_of_them_is_known_first() {
        let known = [address("/ip4/127.0.0.1/tcp/60000")];
        let asked = asked_for(&[address("/ip4/0.0.0.0/tcp/60000")], &known);
        let tcp = LocalPort {
            kind: PortKind::Tcp,
            number: 60_000,
        };
        assert_eq!(Vec::from_iter(asked), [tcp]);
        let known = [known[0].clone(), address("/ip6/::1/tcp/60001")];
        let any = ["/ip4/0.0.0.0/tcp/0", "/ip6/::/tcp/0"].map(address);
        let asked = asked_for(&any, &known);
        assert_eq!(
            Vec::from_iter(asked),
            [tcp],
            "the one that the system chose"
        );
        assert!(asked_for(&[address("/ip4/127.0.0.1/tcp/0")], &known).is_empty());
    }

    #[test]
    fn an_opened_port_is_announced_with_all_that_follows_it() {
        let at = "203.0.113.7:4000".parse().unwrap();
        let quic = seen_at(&address("/ip4/192.168.1.2/udp/60000/quic-v1"), at);
        assert_eq!(quic, address("/ip4/203.0.113.7/udp/4000/quic-v1"));
        let ws = seen_at(&address("/ip4/192.168.1.2/tcp/8000/ws"), at);
        assert_eq!(ws, address("/ip4/203.0.113.7/tcp/4000/ws"));
    }
}
