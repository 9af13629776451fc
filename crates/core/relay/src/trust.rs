//! Trust in peers, based on the proofs that they have delivered.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use undertone_gossip::{PeerIx, Time};

/// Time for which a peer is a suspect after an invalid proof.
const SUSPECT_FOR: Duration = Duration::from_secs(60);

/// Trust in a peer, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trust {
    /// The peer delivered an invalid proof, which no relay that verifies proofs forwards.
    Suspect,
    /// No valid proof of the peer is on record.
    Newcomer,
    /// The peer delivered a valid proof.
    Proven,
}

/// Trust of every peer. An unknown peer is a newcomer.
#[derive(Debug, Default)]
pub(crate) struct PeerTrust {
    proven: BTreeSet<PeerIx>,
    /// Time at which the suspicion ends, by peer.
    suspects: BTreeMap<PeerIx, Time>,
}

impl PeerTrust {
    pub(crate) fn of(&self, peer: PeerIx, now: Time) -> Trust {
        if self.suspects.get(&peer).is_some_and(|until| now < *until) {
            Trust::Suspect
        } else if self.is_proven(peer) {
            Trust::Proven
        } else {
            Trust::Newcomer
        }
    }

    /// Whether a valid proof of the peer is on record. An invalid one clears the record, and so does a
    /// message whose root stays unknown; while the peer is a suspect, no record is made.
    pub(crate) fn is_proven(&self, peer: PeerIx) -> bool {
        self.proven.contains(&peer)
    }

    /// Records the result of verifying a proof of a peer. A valid one does not end a suspicion.
    pub(crate) fn checked(&mut self, peer: PeerIx, valid: bool, now: Time) {
        if !valid {
            self.proven.remove(&peer);
            self.suspects.insert(peer, now.after(SUSPECT_FOR));
        } else if self.of(peer, now) != Trust::Suspect {
            self.suspects.remove(&peer);
            self.proven.insert(peer);
        }
    }

    /// Records that a peer's message waited in vain for its root. The peer is not necessarily at fault,
    /// because this node may be missing changes; but it has to prove itself again.
    pub(crate) fn root_stayed_unknown(&mut self, peer: PeerIx) {
        self.proven.remove(&peer);
    }

    /// Forgets a peer, because its index may be reused.
    pub(crate) fn forget(&mut self, peer: PeerIx) {
        self.proven.remove(&peer);
        self.suspects.remove(&peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_proof_counts_for_a_minute_and_good_ones_do_not_undo_it() {
        let (mut trust, peer) = (PeerTrust::default(), PeerIx(1));
        let at = |s: u64| Time::from_millis(1000 * s);
        assert_eq!(trust.of(peer, at(0)), Trust::Newcomer);
        trust.checked(peer, true, at(0));
        assert_eq!(trust.of(peer, at(0)), Trust::Proven);
        trust.checked(peer, false, at(1));
        trust.checked(peer, true, at(2));
        assert_eq!(trust.of(peer, at(60)), Trust::Suspect);
        assert_eq!(trust.of(peer, at(61)), Trust::Newcomer);
        trust.checked(peer, true, at(61));
        assert_eq!(trust.of(peer, at(61)), Trust::Proven);
        trust.root_stayed_unknown(peer);
        assert_eq!(trust.of(peer, at(61)), Trust::Newcomer);
        trust.checked(peer, true, at(61));
        trust.forget(peer);
        assert_eq!(trust.of(peer, at(61)), Trust::Newcomer);
    }
}
