//! What the proofs that a peer has delivered say about it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use undertone_gossip::{PeerIx, Time};

/// How long a peer that delivered a bad proof is a suspect.
const SUSPECT_FOR: Duration = Duration::from_secs(60);

/// The trust in a peer, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// It delivered a proof that does not hold, which no relay that checks proofs passes on.
    Suspect,
    /// None of its proofs has been checked.
    Newcomer,
    /// It delivered a proof that holds.
    Proven,
}

/// The standing of every peer. A peer that is not known is a newcomer.
#[derive(Debug, Default)]
pub(crate) struct Standings {
    proven: BTreeSet<PeerIx>,
    /// Until when.
    suspects: BTreeMap<PeerIx, Time>,
}

impl Standings {
    pub(crate) fn of(&self, peer: PeerIx, now: Time) -> Standing {
        if self.suspects.get(&peer).is_some_and(|until| now < *until) {
            Standing::Suspect
        } else if self.is_proven(peer) {
            Standing::Proven
        } else {
            Standing::Newcomer
        }
    }

    /// Whether the last proof of a peer that was checked holds.
    pub(crate) fn is_proven(&self, peer: PeerIx) -> bool {
        self.proven.contains(&peer)
    }

    /// A proof of a peer was checked. A good one does not end a suspicion.
    pub(crate) fn checked(&mut self, peer: PeerIx, valid: bool, now: Time) {
        if !valid {
            self.proven.remove(&peer);
            self.suspects.insert(peer, now.after(SUSPECT_FOR));
        } else if self.of(peer, now) != Standing::Suspect {
            self.suspects.remove(&peer);
            self.proven.insert(peer);
        }
    }

    /// Forgets a peer, whose index may be another's from now on.
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
        let (mut standings, peer) = (Standings::default(), PeerIx(1));
        let at = |s: u64| Time::from_millis(1000 * s);
        assert_eq!(standings.of(peer, at(0)), Standing::Newcomer);
        standings.checked(peer, true, at(0));
        assert_eq!(standings.of(peer, at(0)), Standing::Proven);
        standings.checked(peer, false, at(1));
        standings.checked(peer, true, at(2));
        assert_eq!(standings.of(peer, at(60)), Standing::Suspect);
        assert_eq!(standings.of(peer, at(61)), Standing::Newcomer);
        standings.checked(peer, true, at(61));
        assert_eq!(standings.of(peer, at(61)), Standing::Proven);
        standings.forget(peer);
        assert_eq!(standings.of(peer, at(61)), Standing::Newcomer);
    }
}
