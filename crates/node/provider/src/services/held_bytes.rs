//! Limit on the bytes that streams of all peers hold together. Beyond it, the peer that holds the most loses its oldest
//! stream, so that peers with little are served while others hoard.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use libp2p::PeerId;
use parking_lot::Mutex;
use tokio::sync::Notify;

#[cfg(test)]
#[path = "tests/held_bytes.rs"]
mod tests;

/// Bytes held by streams, at most `max`.
#[derive(Debug)]
pub(super) struct HeldBytes {
    max: usize,
    holders: Mutex<PeersBytes>,
}

#[derive(Debug, Default)]
struct PeersBytes {
    total: usize,
    next: u64,
    peers: BTreeMap<PeerId, PeerBytes>,
}

/// Bytes of one peer. Shares that have been told to give way no longer count.
#[derive(Debug, Default)]
struct PeerBytes {
    bytes: usize,
    /// Shares that may give way, the oldest first, with their bytes.
    yielding: BTreeMap<u64, (usize, Arc<Notify>)>,
}

/// One stream's share of the bytes; returned when dropped.
#[derive(Debug)]
pub(super) struct HeldShare {
    held: Arc<HeldBytes>,
    peer: PeerId,
    number: u64,
    bytes: usize,
    is_kept: bool,
    gives_way: Arc<Notify>,
}

impl HeldBytes {
    pub(super) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max,
            holders: Mutex::default(),
        })
    }

    /// Takes a share for a peer's stream. If the limit is exceeded, shares are told to give way, possibly including the
    /// new one.
    pub(super) fn hold(self: &Arc<Self>, peer: PeerId, bytes: usize) -> HeldShare {
        let gives_way = Arc::new(Notify::new());
        let mut holders = self.holders.lock();
        let number = holders.next;
        holders.next += 1;
        holders.total += bytes;
        let holder = holders.peers.entry(peer).or_default();
        holder.bytes += bytes;
        let share = (bytes, Arc::clone(&gives_way));
        holder.yielding.insert(number, share);
        while holders.total > self.max && holders.end_one() {}
        drop(holders);
        HeldShare {
            held: Arc::clone(self),
            peer,
            number,
            bytes,
            is_kept: false,
            gives_way,
        }
    }

    /// Returns the bytes held.
    #[cfg(test)]
    pub(super) fn total(&self) -> usize {
        self.holders.lock().total
    }
}

impl PeersBytes {
    /// Tells the oldest share of the peer with the most bytes to give way; `false` if none may.
    fn end_one(&mut self) -> bool {
        let ranks = self.peers.iter().filter_map(|(peer, holder)| {
            let (first, _) = holder.yielding.first_key_value()?;
            Some((holder.bytes, Reverse(*first), *peer))
        });
        let Some((_, Reverse(number), peer)) = ranks.max() else {
            return false;
        };
        if let Some((_, gives_way)) = self.release(peer, number) {
            gives_way.notify_one();
        }
        true
    }

    /// Removes a share that may give way from the count.
    fn release(&mut self, peer: PeerId, number: u64) -> Option<(usize, Arc<Notify>)> {
        let share = self.peers.get_mut(&peer)?.yielding.remove(&number)?;
        self.uncount(peer, share.0);
        Some(share)
    }

    fn uncount(&mut self, peer: PeerId, bytes: usize) {
        self.total -= bytes;
        if let Some(holder) = self.peers.get_mut(&peer) {
            holder.bytes -= bytes;
            if holder.bytes == 0 && holder.yielding.is_empty() {
                self.peers.remove(&peer);
            }
        }
    }
}

impl HeldShare {
    /// Protects the share from giving way until it is dropped; returns `false` if it was already told to.
    pub(super) fn keep(&mut self) -> bool {
        let mut holders = self.held.holders.lock();
        let holder = holders.peers.get_mut(&self.peer);
        self.is_kept = holder.is_some_and(|one| one.yielding.remove(&self.number).is_some());
        self.is_kept
    }

    /// Completes when the share has to give way.
    pub(super) async fn gives_way(&self) {
        self.gives_way.notified().await;
    }
}

impl Drop for HeldShare {
    fn drop(&mut self) {
        let mut holders = self.held.holders.lock();
        if self.is_kept {
            holders.uncount(self.peer, self.bytes);
        } else {
            holders.release(self.peer, self.number);
        }
    }
}
