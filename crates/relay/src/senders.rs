//! Who sent messages under which nullifier, so that only those who broke the rate limit's rule
//! themselves are blamed for spam: no honest relay forwards two messages under one nullifier.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;

use undertone_gossip::PeerIx;
use undertone_rln::{Epoch, Fr, fr_to_le};

/// Bounds of what is remembered about who sent what. What does not fit is a free pass for a
/// spammer, never blame for anybody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderLimits {
    /// Nullifiers whose senders are remembered, over all epochs; the one longest known makes room.
    pub max_nullifiers: usize,
    /// Senders remembered of one nullifier, the first ones.
    pub max_peers_per_nullifier: usize,
}

/// A nullifier's name: its epoch and its canonical bytes.
type Key = (Epoch, [u8; 32]);

#[derive(Clone, Copy, Debug)]
struct Sender {
    peer: PeerIx,
    sent_several: bool,
}

/// The senders of messages under each nullifier, bounded.
#[derive(Debug)]
pub(crate) struct Senders {
    limits: SenderLimits,
    nullifiers: BTreeMap<Key, Vec<Sender>>,
    /// The keys of `nullifiers`, the one longest known first.
    order: VecDeque<Key>,
}

impl Senders {
    pub(crate) fn new(limits: SenderLimits) -> Self {
        Self {
            limits,
            nullifiers: BTreeMap::new(),
            order: VecDeque::new(),
        }
    }

    /// A peer sent a message under a nullifier; call it once for each message.
    pub(crate) fn record(&mut self, epoch: Epoch, nullifier: Fr, peer: PeerIx) {
        if self.limits.max_nullifiers == 0 {
            return;
        }
        let key = (epoch, fr_to_le(&nullifier));
        if !self.nullifiers.contains_key(&key) {
            while self.order.len() >= self.limits.max_nullifiers {
                self.forget_oldest();
            }
        }
        let senders = match self.nullifiers.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                self.order.push_back(key);
                new.insert(Vec::new())
            }
        };
        if let Some(sender) = senders.iter_mut().find(|sender| sender.peer == peer) {
            sender.sent_several = true;
        } else if senders.len() < self.limits.max_peers_per_nullifier {
            let sent_several = false;
            senders.push(Sender { peer, sent_several });
        }
    }

    /// Whether a peer sent more than one message under a nullifier.
    pub(crate) fn sent_several(&self, epoch: Epoch, nullifier: Fr, peer: PeerIx) -> bool {
        let senders = self.nullifiers.get(&(epoch, fr_to_le(&nullifier)));
        senders
            .into_iter()
            .flatten()
            .any(|sender| sender.peer == peer && sender.sent_several)
    }

    /// Forgets all epochs outside `keep`.
    pub(crate) fn prune(&mut self, keep: RangeInclusive<Epoch>) {
        self.nullifiers.retain(|(epoch, _), _| keep.contains(epoch));
        self.order.retain(|(epoch, _)| keep.contains(epoch));
    }

    /// Forgets a peer, whose index may be another's from now on.
    pub(crate) fn forget(&mut self, peer: PeerIx) {
        for senders in self.nullifiers.values_mut() {
            senders.retain(|sender| sender.peer != peer);
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(key) = self.order.pop_front() {
            self.nullifiers.remove(&key);
        }
    }

    /// Number of nullifiers whose senders are remembered.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        assert_eq!(self.order.len(), self.nullifiers.len());
        self.order.len()
    }
}

#[cfg(test)]
mod tests;
