//! Parts of an address: its peer id and its IP address.

use std::net::IpAddr;

use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};

/// Returns an address without the peer id at its end. The peer id of a relay, earlier in the address, stays.
pub fn without_peer_id(address: &Multiaddr) -> Multiaddr {
    let mut address = address.clone();
    if peer_id_of(&address).is_some() {
        address.pop();
    }
    address
}

/// Returns the peer id at the end of an address.
pub(crate) fn peer_id_of(address: &Multiaddr) -> Option<PeerId> {
    match address.iter().last() {
        Some(Protocol::P2p(peer)) => Some(peer),
        _ => None,
    }
}

/// Returns the IP address in an address.
pub(crate) fn ip_of(address: &Multiaddr) -> Option<IpAddr> {
    address.iter().find_map(|part| match part {
        Protocol::Ip4(ip) => Some(ip.into()),
        Protocol::Ip6(ip) => Some(ip.into()),
        _ => None,
    })
}

/// Whether an address is an IPv6 link-local one, which is useless without the name of the host's interface.
pub(crate) fn is_of_one_link(address: &Multiaddr) -> bool {
    matches!(ip_of(address), Some(IpAddr::V6(ip)) if ip.is_unicast_link_local())
}
