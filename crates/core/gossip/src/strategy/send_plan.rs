//! Plan for sending one message to its receivers.

use crate::time::Time;
use crate::types::PeerIx;

/// Plan for sending a message to its receivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendPlan {
    /// Peers that get a copy at once.
    pub(crate) now: Vec<PeerIx>,
    /// Peers that get a copy later, in this order, unless they do not want it by then.
    pub(crate) later: Vec<PeerIx>,
    /// Time at which the first delayed copies are sent.
    pub(crate) later_at: Time,
    /// Number of delayed copies sent at a time.
    pub(crate) group: usize,
    /// Peers that get only the id (IHAVE).
    pub(crate) ihave_only: Vec<PeerIx>,
}

impl SendPlan {
    /// Creates a plan in which each of these peers gets a copy at once.
    pub fn at_once(receivers: Vec<PeerIx>) -> Self {
        Self {
            now: receivers,
            later: Vec::new(),
            later_at: Time::ZERO,
            group: 1,
            ihave_only: Vec::new(),
        }
    }

    /// Adds peers that get a copy later, in this order: the first `group` of them (at least one) at `at`, and the
    /// same number after each further [`gap`](crate::LargeMessages::gap). A peer that announces by then that it
    /// does not want the message gets no copy. Replaces the peers from an earlier call.
    #[must_use]
    pub fn later(mut self, receivers: Vec<PeerIx>, at: Time, group: usize) -> Self {
        self.later = receivers;
        self.later_at = at;
        self.group = group.max(1);
        self
    }

    /// Adds peers that get only the id (IHAVE) and request the message if they lack it. Replaces the peers from an
    /// earlier call.
    #[must_use]
    pub fn ihave_only(mut self, receivers: Vec<PeerIx>) -> Self {
        self.ihave_only = receivers;
        self
    }
}
