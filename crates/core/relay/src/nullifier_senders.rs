//! Record of the peers that sent messages under each nullifier. Only a peer that broke the rate limit's
//! rule itself is blamed for spam: an honest relay forwards only one message per nullifier.

use std::collections::VecDeque;
use std::ops::RangeInclusive;

use undertone_compact::FewMap;
use undertone_gossip::PeerIx;
use undertone_rln::{Epoch, Fr, fr_to_le};

/// Limits of the record of senders. A sender that does not fit escapes blame for spam; nobody else is
/// blamed instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NullifierSenderLimits {
    /// Maximum number of nullifiers whose senders are remembered, over all epochs; beyond it the oldest
    /// one is dropped.
    pub max_nullifiers: usize,
    /// Maximum number of senders remembered for one nullifier: the first ones.
    pub max_peers_per_nullifier: usize,
}

impl Default for NullifierSenderLimits {
    /// About 2 MB in practice, 13 MB when full. The nullifiers of ongoing spam are among the newest.
    fn default() -> Self {
        Self {
            max_nullifiers: 20_000,
            max_peers_per_nullifier: 64,
        }
    }
}

/// Key of a nullifier: its epoch and its canonical bytes.
type RecordKey = (Epoch, [u8; 32]);

#[derive(Clone, Copy, Debug)]
struct Sender {
    peer: PeerIx,
    sent_several: bool,
}

/// Senders of messages under each nullifier, bounded in number.
#[derive(Debug)]
pub(crate) struct NullifierSenders {
    limits: NullifierSenderLimits,
    nullifiers: FewMap<RecordKey, Vec<Sender>>,
    /// Keys of `nullifiers`, the oldest first.
    order: VecDeque<RecordKey>,
}

impl NullifierSenders {
    pub(crate) fn new(limits: NullifierSenderLimits) -> Self {
        Self {
            limits,
            nullifiers: FewMap::new(),
            order: VecDeque::new(),
        }
    }

    /// Records that a peer sent a message under a nullifier. Must be called once per message.
    pub(crate) fn record(&mut self, epoch: Epoch, nullifier: Fr, peer: PeerIx) {
        if self.limits.max_nullifiers == 0 {
            return;
        }
        let key = (epoch, fr_to_le(&nullifier));
        if !self.nullifiers.contains_key(&key) {
            while self.order.len() >= self.limits.max_nullifiers {
                self.forget_oldest();
            }
            if self.order.capacity() == 0 {
                self.order.reserve_exact(1);
            }
            self.order.push_back(key);
        }
        let senders = self.nullifiers.get_or_insert_with(key, Vec::new);
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

    /// Forgets a peer, because its index may be reused.
    pub(crate) fn forget(&mut self, peer: PeerIx) {
        self.nullifiers.retain(|_, senders| {
            senders.retain(|sender| sender.peer != peer);
            true
        });
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
#[path = "tests/nullifier_senders.rs"]
mod tests;
