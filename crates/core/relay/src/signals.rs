//! Computation of the signal hash of a message.

use std::fmt::Debug;

use undertone_message::WakuMessage;
use undertone_rln::{Fr, signal_hash};

/// Computes signal hashes. Every implementation must return what
/// [`signal_hash`](undertone_rln::signal_hash()) returns. The trait exists for simulations: a thousand
/// nodes that share one message in memory need not hash it a thousand times.
pub trait SignalHashes: Debug + Send {
    /// Returns the hash by which the proof is bound to the message.
    fn hash_of(&mut self, message: &WakuMessage) -> Fr;
}

/// Hashes the message at every call.
#[derive(Debug)]
pub(crate) struct UncachedHashes;

impl SignalHashes for UncachedHashes {
    fn hash_of(&mut self, message: &WakuMessage) -> Fr {
        let timestamp_ns = message.timestamp_ns();
        signal_hash(&message.payload, &message.content_topic, timestamp_ns)
    }
}
