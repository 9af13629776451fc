//! Reassembly of messages from delivered fragments.

use std::time::{Duration, Instant};

use undertone_gossip::Time;
use undertone_gossip::fragments::AssemblerLimits;
use undertone_relay::{Reassembled, Reassembly};

use super::delivery::Delivery;

/// Result of taking a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FragmentTaken {
    /// The fragment that completes this message.
    Last(Box<Delivery>),
    /// Another fragment, a duplicate, or a malformed one.
    Other,
}

/// Incomplete messages, of which some fragments have arrived.
pub(super) struct WholeMessages {
    reassembly: Reassembly,
    /// Time zero of the reassembly.
    since: Instant,
}

impl WholeMessages {
    /// Allows one more epoch between fragments, because a sender may have to wait for the next one.
    pub(super) fn new(epoch_s: Option<u64>) -> Self {
        let mut limits = AssemblerLimits::default();
        limits.timeout += Duration::from_secs(epoch_s.unwrap_or(0));
        Self {
            reassembly: Reassembly::new(limits),
            since: Instant::now(),
        }
    }

    /// Takes a fragment; returns `None` if the message is not one.
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
