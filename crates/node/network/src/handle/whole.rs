//! Messages reassembled from the fragments that are delivered.

use std::time::{Duration, Instant};

use undertone_gossip::Time;
use undertone_gossip::fragments::AssemblerLimits;
use undertone_relay::{Reassembled, Reassembly};

use super::delivery::Delivery;

/// Delivery that is a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FragmentTaken {
    /// The fragment that completes this message.
    Last(Box<Delivery>),
    /// Another one, a copy of one, or one that is no valid fragment.
    Other,
}

/// Incomplete messages of which fragments have come.
pub(super) struct WholeMessages {
    reassembly: Reassembly,
    /// Beginning of the reassembly's time.
    since: Instant,
}

impl WholeMessages {
    /// Fragments may come as late after one another as one epoch after the next.
    pub(super) fn new(epoch_s: Option<u64>) -> Self {
        let mut limits = AssemblerLimits::default();
        limits.timeout += Duration::from_secs(epoch_s.unwrap_or(0));
        Self {
            reassembly: Reassembly::new(limits),
            since: Instant::now(),
        }
    }

    /// Takes a fragment; returns `None` for another message.
    pub(super) fn take(&mut self, delivery: &Delivery) -> Option<FragmentTaken> {
        let now = Time::ZERO.after(delivery.validated.duration_since(self.since));
        let message = &delivery.message;
        if message.meta_bytes() != undertone_relay::FRAGMENT_META {
            return None;
        }
        let source = delivery
            .from
            .map(|peer| peer.to_bytes())
            .unwrap_or_default();
        Some(match self.reassembly.take(now, &source, message.clone()) {
            Reassembled::Message(message) => FragmentTaken::Last(Box::new(Delivery {
                message,
                ..delivery.clone()
            })),
            Reassembled::Part { .. } => FragmentTaken::Other,
            Reassembled::Malformed(error) => {
                tracing::debug!(%error, "not delivering a malformed fragment");
                FragmentTaken::Other
            }
        })
    }
}
