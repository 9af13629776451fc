//! IP addresses at which peers see this node, and whether they agree.

use std::collections::BTreeMap;
use std::net::IpAddr;

use libp2p::PeerId;
use undertone_services::trust::Network;

/// A connected peer and the addresses at which it sees this node.
#[derive(Debug)]
struct Observer {
    /// Network that the peer is connected from; `None` on loopback and in private networks.
    network: Option<Network>,
    v4: Option<IpAddr>,
    v6: Option<IpAddr>,
}

/// IP addresses at which the connected peers see this node: at most one per family and peer.
#[derive(Debug, Default)]
pub(crate) struct ObservedAddresses(BTreeMap<PeerId, Observer>);

impl ObservedAddresses {
    /// Adds a peer that connected from a network.
    pub(crate) fn connected(&mut self, peer: PeerId, network: Option<Network>) {
        let observer = Observer {
            network,
            v4: None,
            v6: None,
        };
        self.0.insert(peer, observer);
    }

    /// Records where a connected peer sees this node. Replaces its earlier report for this address family.
    pub(crate) fn note(&mut self, peer: PeerId, seen: IpAddr) {
        if let Some(observer) = self.0.get_mut(&peer) {
            let place = match seen {
                IpAddr::V4(_) => &mut observer.v4,
                IpAddr::V6(_) => &mut observer.v6,
            };
            *place = Some(seen);
        }
    }

    /// Forgets the reports of a disconnected peer.
    pub(crate) fn forget(&mut self, peer: &PeerId) {
        self.0.remove(peer);
    }

    /// Whether two independent peers see the node at an address. Peers count as independent if their own addresses are
    /// in different networks.
    pub(crate) fn agree_on(&self, ip: IpAddr) -> bool {
        let seen = |one: &&Observer| one.v4 == Some(ip) || one.v6 == Some(ip);
        let mut networks = self.0.values().filter(seen).map(|one| one.network);
        let first = networks.next();
        first.is_some_and(|first| networks.any(|other| first.is_none() || other != first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 7));

    fn network(third: u8) -> Option<Network> {
        Some(Network::V4([198, 51, third]))
    }

    fn observed(networks: &[Option<Network>]) -> (ObservedAddresses, Vec<PeerId>) {
        let mut observed = ObservedAddresses::default();
        let peers: Vec<_> = networks.iter().map(|_| PeerId::random()).collect();
        for (peer, network) in peers.iter().zip(networks) {
            observed.connected(*peer, *network);
        }
        (observed, peers)
    }

    #[test]
    fn an_address_is_believed_if_two_connected_peers_of_different_networks_name_it() {
        let (mut observed, peers) = observed(&[network(1), network(1), network(2)]);
        observed.note(peers[0], HERE);
        observed.note(peers[0], HERE);
        assert!(!observed.agree_on(HERE), "one peer");
        observed.note(peers[1], HERE);
        assert!(!observed.agree_on(HERE), "two peers of one network");
        observed.note(peers[2], HERE);
        assert!(observed.agree_on(HERE));
        observed.forget(&peers[2]);
        assert!(!observed.agree_on(HERE));
    }

    #[test]
    fn peers_of_one_host_or_office_each_count() {
        let (mut observed, peers) = observed(&[None, None]);
        observed.note(peers[0], HERE);
        assert!(!observed.agree_on(HERE));
        observed.note(peers[1], HERE);
        assert!(observed.agree_on(HERE));
    }

    #[test]
    fn a_crowd_of_liars_does_not_keep_others_from_being_heard() {
        let mut networks = vec![network(1); 200];
        networks.extend([network(2), network(3)]);
        let (mut observed, peers) = observed(&networks);
        for (last, liar) in (0..=255).zip(&peers[..200]) {
            observed.note(*liar, [192, 0, 2, last].into());
            observed.note(*liar, [0x2600, 0, 0, 0, 0, 0, 0, last.into()].into());
        }
        peers[200..]
            .iter()
            .for_each(|honest| observed.note(*honest, HERE));
        assert!(observed.agree_on(HERE));
    }

    #[test]
    fn what_is_said_of_one_family_leaves_the_other() {
        let (mut observed, peers) = observed(&[None, None]);
        let v6: IpAddr = [0x2600, 0, 0, 0, 0, 0, 0, 1].into();
        for peer in peers {
            observed.note(peer, v6);
            observed.note(peer, [192, 0, 2, 1].into());
            observed.note(peer, HERE);
        }
        assert!(observed.agree_on(v6) && observed.agree_on(HERE));
        assert!(!observed.agree_on([192, 0, 2, 1].into()), "said before");
    }

    #[test]
    fn a_peer_that_is_gone_says_nothing() {
        let (mut observed, peers) = observed(&[None, None]);
        observed.forget(&peers[0]);
        peers.iter().for_each(|peer| observed.note(*peer, HERE));
        assert!(!observed.agree_on(HERE));
    }
}
