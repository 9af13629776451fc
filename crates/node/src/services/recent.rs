//! Hashes of messages that were delivered of late.

use std::collections::{BTreeSet, VecDeque};

use undertone_message::MessageHash;

/// Hashes remembered at most.
const RECENT_MAX: usize = 16_384;

/// Set of the newest hashes, which forgets the oldest.
#[derive(Debug, Default)]
pub(super) struct RecentHashes {
    known: BTreeSet<MessageHash>,
    order: VecDeque<MessageHash>,
}

impl RecentHashes {
    /// Adds a hash; returns whether it was unknown.
    pub(super) fn is_new(&mut self, hash: MessageHash) -> bool {
        if !self.known.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > RECENT_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: usize) -> MessageHash {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_be_bytes());
        MessageHash(bytes)
    }

    #[test]
    fn a_hash_is_new_once_until_many_others_came() {
        let mut recent = RecentHashes::default();
        assert!(recent.is_new(hash(0)));
        assert!(!recent.is_new(hash(0)));
        for number in 1..=RECENT_MAX {
            assert!(recent.is_new(hash(number)));
        }
        assert!(recent.is_new(hash(0)), "forgotten by now");
        assert_eq!(recent.known.len(), RECENT_MAX);
    }
}
