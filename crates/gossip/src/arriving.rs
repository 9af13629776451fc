//! Long frames ([`crate::LargeMessages::transfer_bytes`]) that are coming in. What they bring is not
//! known before they are whole, so what is wanted waits for all of them: asking for a message whose copy
//! is under way buys a duplicate.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::router::Router;
use crate::time::Time;
use crate::types::PeerIx;

/// Peers with a long frame under way to us, with the time at which the last of theirs began.
#[derive(Debug, Default)]
pub(crate) struct Arriving(BTreeMap<PeerIx, Time>);

impl Arriving {
    pub(crate) fn begins(&mut self, peer: PeerIx, now: Time) {
        self.0.insert(peer, now);
    }

    pub(crate) fn ends(&mut self, peer: PeerIx) {
        self.0.remove(&peer);
    }

    /// When those of `counted` peers that have lasted less than `wait` will all have lasted so long;
    /// `None` when there are none.
    fn until(&self, now: Time, wait: Duration, counted: impl Fn(PeerIx) -> bool) -> Option<Time> {
        let ends = self
            .0
            .iter()
            .map(|(peer, since)| (*peer, since.after(wait)));
        let under_way = ends.filter(|(peer, until)| *until > now && counted(*peer));
        under_way.map(|(_, until)| until).max()
    }

    /// Whether a long frame is coming from the peer.
    pub(crate) fn is_from(&self, peer: PeerIx) -> bool {
        self.0.contains_key(&peer)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Router {
    pub(crate) fn arriving(&mut self, peer: PeerIx, is_arriving: bool) {
        match is_arriving {
            // The peer may be gone by the time its connection reports: that is no misuse.
            true if self.peers.get(peer).is_some() => self.arriving.begins(peer, self.now),
            true => {}
            false => self.arrived(peer),
        }
    }

    /// Nothing long comes from the peer any more: who waited for it may be next.
    pub(crate) fn arrived(&mut self, peer: PeerIx) {
        self.arriving.ends(peer);
        // This happens with every long message, and as a rule nothing waits for it.
        if self.deferred.holds_any() && self.arriving_until().is_none() {
            self.deferred.release(self.now);
        }
    }

    /// Until when at the latest something that is wanted may be coming in. Peers whose gossip is not
    /// heard do not count, nor does what has taken longer than anybody has patience for: a peer that
    /// trickles a frame must not keep us from asking others.
    pub(crate) fn arriving_until(&self) -> Option<Time> {
        let gossip = self.config.thresholds.gossip;
        let heard = |peer| self.scores.score(peer) >= gossip;
        let wait = self.config.large.transfer_wait;
        self.arriving.until(self.now, wait, heard)
    }
}
