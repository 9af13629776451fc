//! Long incoming frames ([`crate::LargeMessages::transfer_bytes`]) in transit. The content of a frame is
//! not known before it is complete, so IWANTs wait for all of them: asking for a message whose copy is in
//! transit yields a duplicate.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::time::Time;
use crate::types::PeerIx;

/// Peers with a long frame in transit to this node, with the start time of the latest one.
#[derive(Debug, Default)]
pub(crate) struct Transfers(BTreeMap<PeerIx, Time>);

impl Transfers {
    pub(crate) fn on_started(&mut self, peer: PeerIx, now: Time) {
        self.0.insert(peer, now);
    }

    pub(crate) fn on_ended(&mut self, peer: PeerIx) {
        self.0.remove(&peer);
    }

    /// Latest deadline (start plus `wait`) of the transfers from `counted` peers whose deadline has not
    /// passed; `None` when there are none.
    pub(crate) fn until(
        &self,
        now: Time,
        wait: Duration,
        counted: impl Fn(PeerIx) -> bool,
    ) -> Option<Time> {
        let started = self.0.iter();
        let deadlines = started.map(|(peer, since)| (*peer, since.after(wait)));
        let in_progress = deadlines.filter(|(peer, until)| *until > now && counted(*peer));
        in_progress.map(|(_, until)| until).max()
    }

    /// Whether a long frame from the peer is in transit.
    pub(crate) fn is_from(&self, peer: PeerIx) -> bool {
        self.0.contains_key(&peer)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
