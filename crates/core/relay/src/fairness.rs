//! Fair shares of proof verification: how many proofs of a peer may wait, and what happens to those of a
//! peer that is cut off.

use std::collections::BTreeSet;

use undertone_gossip::{ApiMisuse, MessageId, PeerIx};

use crate::checks::Purpose;
use crate::config::CheckBounds;
use crate::io::{Output, ProofTicket};
use crate::rejection::Rejection;
use crate::relay::Relay;
use crate::trust::Trust;

impl Relay {
    /// Whether one more proof of a peer may wait for verification.
    pub(crate) fn has_room_for(&self, peer: PeerIx) -> bool {
        if self.checks.is_full() {
            return false;
        }
        let Some(rln) = &self.config.rln else {
            return false;
        };
        let trust = self.trust.of(peer, self.now);
        self.checks.of_peer(peer) < self.check_bounds(trust).max
            && (trust == Trust::Proven || self.strangers() < rln.checks_of_peer.strangers_max)
    }

    fn check_bounds(&self, trust: Trust) -> CheckBounds {
        let rln = self.config.rln.as_ref();
        rln.map_or(CheckBounds::default(), |rln| match trust {
            Trust::Proven => rln.checks_of_peer.proven,
            Trust::Newcomer => rln.checks_of_peer.newcomer,
            Trust::Suspect => rln.checks_of_peer.suspect,
        })
    }

    /// Returns the number of waiting proofs of unproven peers.
    fn strangers(&self) -> usize {
        let strangers = self
            .checks
            .by_peer()
            .filter(|(peer, _)| self.trust.of(*peer, self.now) != Trust::Proven);
        strangers.map(|(_, count)| count).sum()
    }

    /// Handles another copy of a message whose proof is being verified. The proof is attributed to the
    /// sender that is trusted more.
    pub(crate) fn copied(&mut self, id: &MessageId, peer: PeerIx) {
        let Some((ticket, from)) = self.checks.of_message(id) else {
            return;
        };
        let trust = |peer| self.trust.of(peer, self.now);
        if trust(peer) > trust(from) && self.has_room_for(peer) {
            self.pass_on_check(ticket, peer);
        }
    }

    fn pass_on_check(&mut self, ticket: ProofTicket, peer: PeerIx) {
        self.checks.set_from(ticket, peer);
        self.output(Output::MoveProof { ticket, from: peer });
    }

    /// Drops the proofs of peers that were cut off during this input, or that sent an invalid one. Messages
    /// that another peer has sent too are attributed to that peer; the others are not judged.
    pub(crate) fn cut_off(&mut self) -> Result<(), ApiMisuse> {
        while let Some(peer) = self.cut.pop() {
            for ticket in self.checks.tickets_of(peer) {
                let heir = self
                    .checks
                    .message(ticket)
                    .and_then(|id| self.heir(id, peer));
                if let Some(heir) = heir {
                    self.pass_on_check(ticket, heir);
                    continue;
                }
                self.output(Output::DropProof { ticket });
                let purpose = self.checks.finish(ticket).map(|check| check.purpose);
                if let Some(Purpose::Judge { id, from, .. }) = purpose {
                    self.unjudged.push((id, from, Rejection::Unjudged));
                }
            }
        }
        for (id, from, reason) in std::mem::take(&mut self.unjudged) {
            let verdict = self.reject(id, from, reason);
            self.verdict(id, verdict)?;
        }
        Ok(())
    }

    /// Returns the other sender of a message with the most trust; never a suspect.
    fn heir(&self, id: &MessageId, peer: PeerIx) -> Option<PeerIx> {
        let senders = self.router.senders(id).iter().copied();
        let others = senders.filter(|other| *other != peer && self.has_room_for(*other));
        let ranked = others.map(|other| (self.trust.of(other, self.now), other));
        let heirs = ranked.filter(|(trust, _)| *trust > Trust::Suspect);
        heirs.max().map(|(_, heir)| heir)
    }

    /// Updates the set of peers from which nothing should be read for now: those that have reached their
    /// limit of waiting proofs. While many proofs wait, the limit is one.
    pub(crate) fn update_pauses(&mut self) {
        if self.checks.is_empty() && self.paused.is_empty() {
            return;
        }
        let crowded = self.checks.is_crowded();
        let over = self.checks.by_peer().filter(|(peer, count)| {
            let trust = self.trust.of(*peer, self.now);
            let pause_at = if crowded {
                1
            } else {
                self.check_bounds(trust).pause_at
            };
            *count >= pause_at
        });
        let over: BTreeSet<PeerIx> = over.map(|(peer, _)| peer).collect();
        if over == self.paused {
            return;
        }
        let was = std::mem::replace(&mut self.paused, over.clone());
        for (peers, is_paused) in [(&over - &was, true), (&was - &over, false)] {
            for peer in peers {
                self.output(Output::Reading { peer, is_paused });
            }
        }
    }

    /// Forgets all about a peer, because its index may be reused.
    pub(crate) fn forget_peer(&mut self, peer: PeerIx) {
        self.nullifier_senders.forget(peer);
        self.sent_invalid_proof.remove(&peer);
        self.trust.forget(peer);
        if self.paused.remove(&peer) {
            let is_paused = false;
            self.output(Output::Reading { peer, is_paused });
        }
    }
}
