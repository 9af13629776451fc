//! The relay and what it costs to run.

use undertone_gossip::Config;

/// The relay of every node.
#[derive(Clone, Debug)]
pub struct RelaySetup {
    /// The protocol id that peers agree on; decides which wire features are used, see
    /// `undertone_gossip::PROTOCOLS`.
    pub protocol: String,
    /// Every parameter of the router.
    pub gossip: Config,
    /// Longest encoded message, bytes.
    pub max_message_bytes: usize,
    /// Parts that every message is published in; 1 publishes it whole.
    pub fragments: u32,
    /// Topics; every node subscribes to all of them.
    pub topics: u32,
}

/// The rate limit. Proofs are not computed: making and checking them takes the time given here,
/// and every other check is real.
#[derive(Clone, Debug, PartialEq)]
pub struct Rln {
    /// Messages per member and epoch.
    pub message_limit: u32,
    /// Length of an epoch, seconds.
    pub epoch_s: u64,
    /// Time from publishing to the proof, nanoseconds.
    pub generation_ns: u64,
    /// Time from a proof's arrival to the verdict.
    pub verification: Verification,
}

/// How checking proofs takes time.
#[derive(Clone, Debug, PartialEq)]
pub enum Verification {
    /// Every proof waits this long, however many others do: the published simulations.
    Wait {
        /// Nanoseconds.
        ns: u64,
    },
    /// One worker per node takes what waits, in batches by the node's own policy.
    Batches {
        /// One proof alone, nanoseconds.
        single_ns: u64,
        /// Any batch, nanoseconds.
        batch_base_ns: u64,
        /// Each proof of a batch, nanoseconds.
        batch_per_proof_ns: u64,
    },
}

/// Costs of processing that delay a frame before the router sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Each frame, nanoseconds.
    pub per_frame_ns: u64,
    /// Each kilobyte (1000 bytes) of a frame, nanoseconds.
    pub per_kb_ns: u64,
}
