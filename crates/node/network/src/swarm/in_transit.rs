//! Registry of long frames in transit, by peer. Connections record the frames, and the driver reports them to the
//! router before its next input, so that they wake no task.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use libp2p::PeerId;
use parking_lot::Mutex;

#[derive(Debug, Default)]
struct PeerFrames {
    /// Number of frames that are incomplete or not yet passed to the router.
    frames: u32,
    /// Whether one of them has begun since the driver last asked.
    begun: bool,
    /// Whether the driver was told that frames are in transit.
    told: bool,
}

#[derive(Debug, Default)]
struct TransitTable {
    changed: AtomicBool,
    peers: Mutex<BTreeMap<PeerId, PeerFrames>>,
}

/// Registry of long frames in transit, shared by all connections and the driver.
#[derive(Clone, Debug, Default)]
pub(crate) struct InTransit(Arc<TransitTable>);

impl InTransit {
    /// Records that a long frame from a peer has begun to arrive.
    pub(crate) fn begin(&self, peer: PeerId) -> LongFrame {
        {
            let mut peers = self.0.peers.lock();
            let of_peer = peers.entry(peer).or_default();
            of_peer.frames += 1;
            of_peer.begun = true;
        }
        self.0.changed.store(true, Ordering::Release);
        let in_transit = self.clone();
        LongFrame { in_transit, peer }
    }

    /// Returns the peers from which a long frame has begun to arrive since the last call (`true`), and those whose last
    /// long frame has ended (`false`).
    pub(crate) fn take_changes(&self) -> Vec<(PeerId, bool)> {
        if !self.0.changed.swap(false, Ordering::AcqRel) {
            return Vec::new();
        }
        let mut changes = Vec::new();
        self.0.peers.lock().retain(|id, peer| {
            let is_arriving = peer.frames > 0;
            let begun = std::mem::take(&mut peer.begun) && is_arriving;
            if begun || peer.told != is_arriving {
                peer.told = is_arriving;
                changes.push((*id, is_arriving));
            }
            is_arriving
        });
        changes
    }
}

/// A long frame in transit. Dropped when the router has the frame, or with its connection.
#[derive(Debug)]
pub(crate) struct LongFrame {
    in_transit: InTransit,
    peer: PeerId,
}

impl Drop for LongFrame {
    fn drop(&mut self) {
        if let Some(peer) = self.in_transit.0.peers.lock().get_mut(&self.peer) {
            peer.frames -= 1;
        }
        self.in_transit.0.changed.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_named_when_a_frame_begins_and_when_its_last_is_gone() {
        let (in_transit, peer) = (InTransit::default(), PeerId::random());
        assert_eq!(in_transit.take_changes(), []);
        let first = in_transit.begin(peer);
        assert_eq!(in_transit.take_changes(), [(peer, true)]);
        assert_eq!(in_transit.take_changes(), []);
        let second = in_transit.begin(peer);
        drop(first);
        assert_eq!(in_transit.take_changes(), [(peer, true)], "another one");
        drop(second);
        assert_eq!(in_transit.take_changes(), [(peer, false)]);
        assert!(
            in_transit.0.peers.lock().is_empty(),
            "nothing is kept of it"
        );
    }

    #[test]
    fn what_came_and_went_between_two_looks_is_not_told() {
        let (in_transit, peer) = (InTransit::default(), PeerId::random());
        drop(in_transit.begin(peer));
        assert_eq!(in_transit.take_changes(), []);
    }
}
