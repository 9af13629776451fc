//! Peers that were forgotten because no dial reached them. Discovery keeps offering such peers, because the records of
//! dead nodes circulate for a long time.

use std::collections::BTreeMap;

use multiaddr::{Multiaddr, PeerId};
use undertone_gossip::Time;

use crate::address::without_peer;

/// Maximum number of peers remembered; the one that may be dialled again soonest is dropped first.
const PEERS_MAX: usize = 2_048;

/// Peers that were given up, with the addresses that were dialled in vain.
#[derive(Debug, Default)]
pub(super) struct GivenUpPeers(BTreeMap<PeerId, GivenUp>);

#[derive(Debug)]
struct GivenUp {
    addresses: Vec<Multiaddr>,
    until: Time,
}

/// Standing of an offered peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The peer was not given up, or is offered with an address that was not dialled.
    Fresh,
    /// The peer was given up long enough ago for another try.
    OnTrial,
    /// The peer was given up, and is offered only with addresses that were dialled in vain.
    GivenUp,
}

impl GivenUpPeers {
    /// Records a peer as given up until a time.
    pub(super) fn note(&mut self, peer: PeerId, addresses: Vec<Multiaddr>, until: Time) {
        self.0.insert(peer, GivenUp { addresses, until });
        if self.0.len() > PEERS_MAX {
            let first = self.0.iter().min_by_key(|(_, given_up)| given_up.until);
            if let Some(peer) = first.map(|(peer, _)| *peer) {
                self.0.remove(&peer);
            }
        }
    }

    /// Clears a peer that turned out to be reachable.
    pub(super) fn forgive(&mut self, peer: &PeerId) {
        self.0.remove(peer);
    }

    /// Returns the standing of a peer that is offered with these addresses.
    pub(super) fn standing(&self, peer: &PeerId, addresses: &[Multiaddr], now: Time) -> Standing {
        let Some(given_up) = self.0.get(peer) else {
            return Standing::Fresh;
        };
        let is_known = |address: &Multiaddr| given_up.addresses.contains(&without_peer(address));
        match (addresses.iter().all(is_known), now < given_up.until) {
            (false, _) => Standing::Fresh,
            (true, false) => Standing::OnTrial,
            (true, true) => Standing::GivenUp,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::tests::{address, peer};

    #[test]
    fn as_many_are_remembered_as_fit_and_the_latest_of_them() {
        let mut peers = GivenUpPeers::default();
        let until = |number: u32| Time::ZERO.after(Duration::from_secs(number.into()));
        let count = u32::try_from(PEERS_MAX).expect("thousands") + 10;
        for number in 1..=count {
            peers.note(peer(number), vec![address(number)], until(number));
        }
        assert_eq!(peers.0.len(), PEERS_MAX);
        let standing = |number| peers.standing(&peer(number), &[address(number)], Time::ZERO);
        assert_eq!(standing(10), Standing::Fresh);
        assert_eq!(standing(11), Standing::GivenUp);
    }
}
