//! Long incoming frames ([`crate::LargeMessages::transfer_bytes`]) in transit. The content of a frame is
//! not known before it is complete, so IWANTs wait for all of them: asking for a message whose copy is in
//! transit yields a duplicate.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::router::Router;
use crate::time::Time;
use crate::types::PeerIx;

/// Peers with a long frame in transit to this node, with the start time of the latest one.
#[derive(Debug, Default)]
pub(crate) struct Arriving(BTreeMap<PeerIx, Time>);

impl Arriving {
    pub(crate) fn begins(&mut self, peer: PeerIx, now: Time) {
        self.0.insert(peer, now);
    }

    pub(crate) fn ends(&mut self, peer: PeerIx) {
        self.0.remove(&peer);
    }

    /// Latest deadline (start plus `wait`) of the transfers from `counted` peers whose deadline has not
    /// passed; `None` when there are none.
    fn until(&self, now: Time, wait: Duration, counted: impl Fn(PeerIx) -> bool) -> Option<Time> {
        let ends = self
            .0
            .iter()
            .map(|(peer, since)| (*peer, since.after(wait)));
        let under_way = ends.filter(|(peer, until)| *until > now && counted(*peer));
        under_way.map(|(_, until)| until).max()
    }

    /// Whether a long frame from the peer is in transit.
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
            // The peer may be gone by the time its connection reports, so an unknown peer is not an error.
            true if self.peers.get(peer).is_some() => self.arriving.begins(peer, self.now),
            true => {}
            false => self.arrived(peer),
        }
    }

    /// Records that no long frame from the peer is in transit any more, and releases the ids that
    /// waited for it.
    pub(crate) fn arrived(&mut self, peer: PeerIx) {
        self.arriving.ends(peer);
        // Called for every long message; usually no id waits for it.
        if self.deferred.holds_any() && self.arriving_until().is_none() {
            self.deferred.release(self.now);
        }
    }

    /// Latest time until which a wanted message may be in transit; `None` if no transfer counts. Transfers
    /// from peers below the gossip threshold are not counted, nor are those longer than `transfer_wait`: a
    /// peer that trickles a frame must not keep us from asking others.
    pub(crate) fn arriving_until(&self) -> Option<Time> {
        let gossip = self.config.thresholds.gossip;
        let heard = |peer| self.scores.score(peer) >= gossip;
        let wait = self.config.large.transfer_wait;
        self.arriving.until(self.now, wait, heard)
    }
}
