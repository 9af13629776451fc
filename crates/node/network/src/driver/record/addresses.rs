//! Selection and order of the addresses in a record, whose length leaves no room for all of them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;

use crate::driver::addresses::{ip_of, without_peer_id};

/// Scope within which an IP address can be reached, the widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Internet,
    /// A private network.
    Network,
    /// This host only.
    Host,
}

/// Use of an address that `ip` and `tcp` cannot express, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// WebSocket with TLS at a host name, the only kind that a web page can dial.
    Browsers,
    /// Through a relay, for a node that others do not reach directly.
    Relayed,
    /// Another way to a place that `ip` and `tcp` lead to as well.
    Other,
}

/// Addresses that go into a record.
#[derive(Debug)]
pub(super) struct RecordAddresses {
    /// IPv4 address and TCP port, the keys `ip` and `tcp`.
    pub(super) v4: Option<(Ipv4Addr, u16)>,
    /// IPv6 address and TCP port, the keys `ip6` and `tcp6`.
    pub(super) v6: Option<(Ipv6Addr, u16)>,
    /// Addresses that these keys cannot express, without peer id, most important first.
    pub(super) others: Vec<Multiaddr>,
}

impl RecordAddresses {
    /// Selects from the addresses that others are told.
    ///
    /// Loopback addresses are included only if there are no others. If the families differ in scope, an IPv6 address of
    /// the narrower scope is left out, because nodes with both families dial and ask IPv6 first. A private IPv4 address
    /// stays, because routers forward to it. If a host name has secure WebSocket, WebSocket at IP addresses is left
    /// out, because no certificate is valid for these.
    pub(super) fn of(told: &[Multiaddr]) -> Self {
        let told: Vec<_> = told.iter().map(without_peer_id).collect();
        let told: Vec<_> = told
            .into_iter()
            .filter_map(|address| Some((reach(&address)?, address)))
            .collect();
        let widest = told.iter().map(|(reach, _)| *reach).min();
        let is_named = |reach: Reach| reach < Reach::Host || Some(reach) == widest;
        let (plain, others): (Vec<_>, Vec<_>) = told
            .into_iter()
            .filter(|(reach, _)| is_named(*reach))
            .partition(|(_, address)| plain_tcp(address).is_some());
        let of_family = |is_v4: bool| {
            let sockets = plain
                .iter()
                .filter_map(|(reach, address)| Some((*reach, plain_tcp(address)?)));
            let sockets = sockets.filter(|(_, (ip, _))| ip.is_ipv4() == is_v4);
            sockets.min_by_key(|(reach, _)| *reach)
        };
        let (v4, v6) = (of_family(true), of_family(false));
        let v6 = v6.filter(|(reach, _)| v4.is_none_or(|(other, _)| *reach <= other));
        let v4 = v4.map(|(_, socket)| socket);
        let v6 = v6.map(|(_, socket)| socket);
        let has_browsers = others
            .iter()
            .any(|(_, address)| use_of(address) == Use::Browsers);
        let is_replaced =
            |address: &Multiaddr| has_browsers && is_websocket(address) && ip_of(address).is_some();
        let mut others: Vec<_> = others
            .into_iter()
            .filter(|(_, address)| use_of(address) == Use::Relayed || !is_replaced(address))
            .collect();
        others.sort_by_key(|(reach, address)| (use_of(address), *reach));
        Self {
            v4: v4.and_then(|(ip, port)| match ip {
                IpAddr::V4(ip) => Some((ip, port)),
                IpAddr::V6(_) => None,
            }),
            v6: v6.and_then(|(ip, port)| match ip {
                IpAddr::V6(ip) => Some((ip, port)),
                IpAddr::V4(_) => None,
            }),
            others: others.into_iter().map(|(_, address)| address).collect(),
        }
    }
}

/// Whether web pages can dial an address.
pub(super) fn is_for_browsers(address: &Multiaddr) -> bool {
    use_of(address) == Use::Browsers
}

fn use_of(address: &Multiaddr) -> Use {
    let has = |wanted: fn(&Protocol<'_>) -> bool| address.iter().any(|part| wanted(&part));
    if has(|part| matches!(part, Protocol::P2pCircuit)) {
        return Use::Relayed;
    }
    let is_secure = has(|part| matches!(part, Protocol::Wss(_) | Protocol::Tls));
    match is_secure && is_websocket(address) && ip_of(address).is_none() {
        true => Use::Browsers,
        false => Use::Other,
    }
}

fn is_websocket(address: &Multiaddr) -> bool {
    address
        .iter()
        .any(|part| matches!(part, Protocol::Ws(_) | Protocol::Wss(_)))
}

/// Returns the IP address and port of an address that consists of only these.
fn plain_tcp(address: &Multiaddr) -> Option<(IpAddr, u16)> {
    let mut parts = address.iter();
    let ip = match parts.next()? {
        Protocol::Ip4(ip) => ip.into(),
        Protocol::Ip6(ip) => ip.into(),
        _ => return None,
    };
    match (parts.next()?, parts.next()) {
        (Protocol::Tcp(port), None) => Some((ip, port)),
        _ => None,
    }
}

/// Returns the scope within which an address can be reached; a host name counts as Internet. `None` for an IPv6
/// link-local address, which is useless without the name of the host's interface.
fn reach(address: &Multiaddr) -> Option<Reach> {
    let Some(ip) = ip_of(address) else {
        return Some(Reach::Internet);
    };
    if ip.is_loopback() || ip.is_unspecified() {
        return Some(Reach::Host);
    }
    let is_private = match ip {
        IpAddr::V6(ip) if ip.is_unicast_link_local() => return None,
        IpAddr::V6(ip) => ip.is_unique_local(),
        IpAddr::V4(ip) => {
            let is_shared = matches!(ip.octets(), [100, 64..=127, _, _]);
            ip.is_private() || ip.is_link_local() || is_shared || ip.octets()[0] == 0
        }
    };
    Some(match is_private {
        true => Reach::Network,
        false => Reach::Internet,
    })
}

#[cfg(test)]
#[path = "tests/addresses.rs"]
mod tests;
