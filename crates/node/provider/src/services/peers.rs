//! Numbers of the peers that use the services.

use std::collections::BTreeMap;

use libp2p::PeerId;
use undertone_services::PeerNo;

/// Numbers of peers, in both directions. A number is never used for another peer.
#[derive(Debug, Default)]
pub(super) struct PeerNumbers {
    by_peer: BTreeMap<PeerId, PeerNo>,
    by_number: BTreeMap<PeerNo, PeerId>,
    next: u64,
}

impl PeerNumbers {
    /// Returns the number of a peer, a new one if it has none.
    pub(super) fn number(&mut self, peer: PeerId) -> PeerNo {
        if let Some(number) = self.by_peer.get(&peer) {
            return *number;
        }
        let number = PeerNo(self.next);
        self.next += 1;
        self.by_peer.insert(peer, number);
        self.by_number.insert(number, peer);
        number
    }

    /// Returns the number of a peer, if it has one.
    pub(super) fn find(&self, peer: PeerId) -> Option<PeerNo> {
        self.by_peer.get(&peer).copied()
    }

    /// Returns the peer with a number, if it has not been released.
    pub(super) fn peer(&self, number: PeerNo) -> Option<PeerId> {
        self.by_number.get(&number).copied()
    }

    /// Forgets the peers for which `is_needed` returns `false`.
    pub(super) fn retain(&mut self, mut is_needed: impl FnMut(PeerNo) -> bool) {
        self.by_number.retain(|number, peer| {
            let is_kept = is_needed(*number);
            if !is_kept {
                self.by_peer.remove(peer);
            }
            is_kept
        });
    }

    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }
}
