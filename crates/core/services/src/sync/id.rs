//! Identity of a message in a set, and fingerprints of sets.

use std::ops::BitXorAssign;

use undertone_message::MessageHash;

/// Identity of a message in a set, ordered by timestamp and then by hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SyncId {
    /// Timestamp of the message, Unix nanoseconds; at most `i64::MAX`.
    pub time_ns: u64,
    /// Hash of the message.
    pub hash: MessageHash,
}

impl SyncId {
    /// Returns the smallest identity with a timestamp.
    pub const fn at(time_ns: u64) -> Self {
        Self {
            time_ns,
            hash: MessageHash([0; 32]),
        }
    }
}

/// Fingerprint of a set: the XOR of the hashes of its messages.
///
/// Equal sets have equal fingerprints. A malicious peer can craft hashes so that unequal sets also have equal
/// ones, and so hide messages from this session; only sessions with other peers help against that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

impl Fingerprint {
    /// Fingerprint of the empty set.
    pub const EMPTY: Self = Self([0; 32]);
}

impl BitXorAssign<&[u8; 32]> for Fingerprint {
    fn bitxor_assign(&mut self, other: &[u8; 32]) {
        self.0.iter_mut().zip(other).for_each(|(a, b)| *a ^= b);
    }
}
