//! Rules about addresses: which may be dialled, and which belong to one host or network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use multiaddr::{Multiaddr, Protocol};

#[cfg(test)]
#[path = "tests/address.rs"]
mod tests;

/// Top-level domains of names that lead to this host or its own network: reserved by RFC 6761, RFC 6762 and ICANN
/// (2024), or used by home routers.
const PRIVATE_DOMAINS: [&str; 5] = ["localhost", "local", "internal", "lan", "localdomain"];

/// Domain of home networks (RFC 8375).
const HOME_DOMAIN: &str = "home.arpa";

/// Rules for accepting addresses from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressRules {
    /// Whether addresses of private networks and of this host are accepted, as in a test network.
    pub allows_private: bool,
    /// Maximum number of addresses of one peer.
    pub per_peer_max: usize,
    /// Maximum length of an address, bytes.
    pub bytes_max: usize,
    /// This node's own addresses, which are never dialled.
    pub own: Vec<Multiaddr>,
}

impl Default for AddressRules {
    fn default() -> Self {
        Self {
            allows_private: false,
            per_peer_max: 8,
            bytes_max: 256,
            own: Vec::new(),
        }
    }
}

impl AddressRules {
    /// Whether an address received from others may be dialled.
    pub fn accepts(&self, address: &Multiaddr) -> bool {
        if address.len() > self.bytes_max || self.own.contains(&without_peer(address)) {
            return false;
        }
        let has_port = |part| match part {
            Protocol::Tcp(port) | Protocol::Udp(port) => port != 0,
            _ => false,
        };
        if !address.iter().any(has_port) {
            return false;
        }
        if is_relayed(address) && !names_one_relay(address) {
            return false;
        }
        match host_of(address) {
            Some(AddressHost::Ip(ip)) => self.accepts_ip(ip),
            Some(AddressHost::Name(name)) => self.accepts_name(&name),
            None => false,
        }
    }

    /// Whether a host name received from others may be resolved and dialled. Its addresses are not known yet, so only
    /// names that cannot lead to the Internet are refused.
    fn accepts_name(&self, name: &str) -> bool {
        let name = name.strip_suffix('.').unwrap_or(name);
        if let Ok(ip) = name.parse() {
            return self.accepts_ip(ip);
        }
        if name.is_empty() || self.allows_private {
            return !name.is_empty();
        }
        // A name without a dot is completed by the host's search list.
        let Some((_, last)) = name.rsplit_once('.') else {
            return false;
        };
        let is_private = PRIVATE_DOMAINS
            .iter()
            .any(|domain| last.eq_ignore_ascii_case(domain));
        let is_home = ends_with_domain(name, HOME_DOMAIN);
        // Some resolvers read `127.1` and `0x7f.1` as addresses.
        let is_number = last.starts_with(|first: char| first.is_ascii_digit());
        !is_private && !is_home && !is_number
    }

    /// Whether packets may be sent to an IP address received from others.
    pub fn accepts_ip(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        // A link-local address leads nowhere without the name of an interface.
        let is_of_one_link = matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local());
        if ip.is_unspecified() || ip.is_multicast() || is_of_one_link {
            return false;
        }
        self.allows_private || is_global(ip)
    }
}

/// Whether a host name is `domain` or a subdomain of it.
fn ends_with_domain(name: &str, domain: &str) -> bool {
    let at = name.len().checked_sub(domain.len());
    let Some((above, end)) = at.and_then(|at| name.split_at_checked(at)) else {
        return false;
    };
    end.eq_ignore_ascii_case(domain) && (above.is_empty() || above.ends_with('.'))
}

/// Whether an address leads through a relay.
fn is_relayed(address: &Multiaddr) -> bool {
    let is_circuit = |part| matches!(part, Protocol::P2pCircuit);
    address.iter().any(is_circuit)
}

/// Whether a relayed address names one relay. The relay's own address comes first and is judged like any other; only
/// the peer behind the relay may follow.
fn names_one_relay(address: &Multiaddr) -> bool {
    let without = without_peer(address);
    let parts: Vec<_> = without.iter().collect();
    let [direct @ .., Protocol::P2p(_), Protocol::P2pCircuit] = parts.as_slice() else {
        return false;
    };
    let is_of_peers = |part: &Protocol<'_>| matches!(part, Protocol::P2p(_) | Protocol::P2pCircuit);
    !direct.iter().any(is_of_peers)
}

/// Host part of an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressHost {
    /// IP address of the host.
    Ip(IpAddr),
    /// Name of the host, which is still to be resolved.
    Name(String),
}

/// Returns the host that an address leads to; `None` if it does not begin with a host.
///
/// An address with a second host leads to none: transports use the last one, whatever the first is.
pub fn host_of(address: &Multiaddr) -> Option<AddressHost> {
    let mut parts = address.iter().map(host_in);
    let first = parts.next()?;
    match parts.any(|part| part.is_some()) {
        true => None,
        false => first,
    }
}

/// Returns the host that one part of an address names.
fn host_in(part: Protocol<'_>) -> Option<AddressHost> {
    match part {
        Protocol::Ip4(ip) => Some(AddressHost::Ip(ip.into())),
        Protocol::Ip6(ip) => Some(AddressHost::Ip(ip.into())),
        Protocol::Dns(name)
        | Protocol::Dns4(name)
        | Protocol::Dns6(name)
        | Protocol::Dnsaddr(name) => Some(AddressHost::Name(name.into_owned())),
        _ => None,
    }
}

/// Returns an address without the identity at its end.
pub fn without_peer(address: &Multiaddr) -> Multiaddr {
    let mut parts: Vec<_> = address.iter().collect();
    if let Some(Protocol::P2p(_)) = parts.last() {
        parts.pop();
    }
    parts.into_iter().collect()
}

/// Whether an IP address is reachable from anywhere in the Internet.
fn is_global(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_global_v4(ip),
        IpAddr::V6(ip) => is_global_v6(ip),
    }
}

fn is_global_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_benchmark = a == 198 && (b == 18 || b == 19);
    let is_protocol = a == 192 && b == 0 && c == 0;
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_broadcast()
        || ip.is_documentation()
        || is_shared
        || is_benchmark
        || is_protocol
        || a == 0
        || a >= 240)
}

fn is_global_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    let is_documentation = first == 0x2001 && second == 0xdb8;
    // Global unicast addresses are 2000::/3.
    (0x2000..0x4000).contains(&first) && !is_documentation
}

/// Returns the last two labels of a host name, in lower case.
fn domain_of(name: &str) -> String {
    let name = name.strip_suffix('.').unwrap_or(name);
    let mut labels = name.rsplitn(3, '.');
    let (last, before) = (labels.next().unwrap_or_default(), labels.next());
    let domain = before.map_or_else(|| last.to_owned(), |before| format!("{before}.{last}"));
    domain.to_ascii_lowercase()
}

/// Network of an address, in which an attacker rarely controls only one host: an IPv4 /24, an IPv6 /48, or the domain
/// of a host name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddressNetwork {
    /// First three bytes of an IPv4 address.
    V4([u8; 3]),
    /// First six bytes of an IPv6 address.
    V6([u8; 6]),
    /// Last two labels of a host name, which is not resolved here. They count as one network, because the owner of a
    /// domain can name any number of hosts in it.
    Named(String),
    /// This host's own loopback, in which all nodes of a test share one address.
    Loopback,
}

impl AddressNetwork {
    /// Returns the network of an address; `None` if the address names no host.
    pub fn of(address: &Multiaddr) -> Option<Self> {
        let ip = match host_of(address)? {
            AddressHost::Name(name) => return Some(Self::Named(domain_of(&name))),
            AddressHost::Ip(ip) => ip.to_canonical(),
        };
        if ip.is_loopback() {
            return Some(Self::Loopback);
        }
        Some(match ip {
            IpAddr::V4(ip) => {
                let [a, b, c, _] = ip.octets();
                Self::V4([a, b, c])
            }
            IpAddr::V6(ip) => {
                let [a, b, c, d, e, f, ..] = ip.octets();
                Self::V6([a, b, c, d, e, f])
            }
        })
    }
}
