//! IP addresses at which peers see this node, and how many say so.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use libp2p::PeerId;

/// Most addresses that are counted; further ones are not heard until the peers that named these are gone.
const ADDRESSES_MAX: usize = 16;

/// Most peers counted for an address.
const PEERS_MAX: usize = 16;

/// Number of peers that have to see the node at an address before it is believed to be the node's own.
const AGREEING: usize = 2;

/// IP addresses at which peers see this node.
#[derive(Debug, Default)]
pub(crate) struct ObservedAddresses(BTreeMap<IpAddr, BTreeSet<PeerId>>);

impl ObservedAddresses {
    /// Records where a connected peer sees this node, in place of what it said before of this family of addresses: no peer has
    /// more than one place of the table for each.
    pub(crate) fn note(&mut self, peer: PeerId, seen: IpAddr) {
        self.0.retain(|ip, peers| {
            if ip.is_ipv4() == seen.is_ipv4() {
                peers.remove(&peer);
            }
            !peers.is_empty()
        });
        if !self.0.contains_key(&seen) && self.0.len() >= ADDRESSES_MAX {
            return;
        }
        let peers = self.0.entry(seen).or_default();
        if peers.len() < PEERS_MAX {
            peers.insert(peer);
        }
    }

    /// Forgets what a peer said that is gone.
    pub(crate) fn forget(&mut self, peer: &PeerId) {
        self.0.retain(|_, peers| {
            peers.remove(peer);
            !peers.is_empty()
        });
    }

    /// Whether several peers see the node at an address.
    pub(crate) fn agree_on(&self, ip: IpAddr) -> bool {
        self.0.get(&ip).is_some_and(|peers| peers.len() >= AGREEING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_believed_if_two_connected_peers_name_it() {
        let mut observed = ObservedAddresses::default();
        let (ip, peers) = (
            IpAddr::from([203, 0, 113, 7]),
            [PeerId::random(), PeerId::random()],
        );
        observed.note(peers[0], ip);
        observed.note(peers[0], ip);
        assert!(!observed.agree_on(ip));
        observed.note(peers[1], ip);
        assert!(observed.agree_on(ip));
        observed.forget(&peers[0]);
        assert!(!observed.agree_on(ip));
    }

    #[test]
    fn one_peer_cannot_fill_the_table() {
        let mut observed = ObservedAddresses::default();
        let liar = PeerId::random();
        observed.note(liar, [0x2600, 0, 0, 0, 0, 0, 0, 1].into());
        (0..200).for_each(|last| observed.note(liar, [198, 51, 100, last].into()));
        assert_eq!(observed.0.len(), 2, "the last of each family");
        let ip = IpAddr::from([203, 0, 113, 7]);
        (0..2).for_each(|_| observed.note(PeerId::random(), ip));
        assert!(observed.agree_on(ip));
        observed.forget(&liar);
        assert_eq!(observed.0.len(), 1);
    }
}
