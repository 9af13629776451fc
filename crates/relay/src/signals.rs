//! How the signal of a message is hashed.

use std::fmt::Debug;

use undertone_message::WakuMessage;
use undertone_rln::{Fr, signal_hash};

/// Computes signal hashes. Every implementation must return what
/// [`signal_hash`](undertone_rln::signal_hash()) returns: a simulation, in which a thousand nodes
/// share the memory of one message, need not hash it a thousand times.
pub trait SignalHashes: Debug + Send {
    /// The hash that the message's proof binds it by.
    fn hash_of(&mut self, message: &WakuMessage) -> Fr;
}

/// Hashes every time.
#[derive(Debug)]
pub(crate) struct Hashed;

impl SignalHashes for Hashed {
    fn hash_of(&mut self, message: &WakuMessage) -> Fr {
        let timestamp_ns = message.timestamp_ns();
        signal_hash(&message.payload, &message.content_topic, timestamp_ns)
    }
}
