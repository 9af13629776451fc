//! Interface to real proofs and real nodes. The laboratory declares it; the program, which has provers
//! and nodes, implements it.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Reason why a measurement was not made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MachineError {
    /// This machine cannot make the measurement.
    #[error("not possible here: {what}; {remedy}")]
    Unavailable {
        /// The part that is missing.
        what: String,
        /// Instruction that tells the user how to fix it.
        remedy: String,
    },
    /// The measurement was attempted and failed.
    #[error("{what} failed: {reason}")]
    Failed {
        /// The action that failed.
        what: &'static str,
        /// The reason reported by it.
        reason: String,
    },
}

/// Costs of proofs on this machine: processor time of one thread, medians.
#[derive(Clone, Debug, PartialEq)]
pub struct RlnCosts {
    /// Costs for payloads of several sizes.
    pub by_size: Vec<RlnCost>,
    /// Time to prepare a token, milliseconds.
    pub token_prepare_ms: f64,
    /// Number of proofs in a batch.
    pub batch: usize,
    /// Time to verify each proof of a batch, milliseconds.
    pub batch_per_proof_ms: f64,
    /// Time of Keccak-256 and conversion to a field element, as (size in 1000 bytes, milliseconds).
    pub hashing_ms: Vec<(usize, f64)>,
    /// Time to build the tree of 10,000 members, milliseconds.
    pub tree_build_ms: f64,
    /// Size of that tree, 10^6 bytes.
    pub tree_mb: f64,
}

/// Costs for one size of payload, milliseconds; the signal's hash is part of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RlnCost {
    /// Size of the payload, 1000 bytes.
    pub size_kb: usize,
    /// Time of a full proof, with nothing prepared but the member.
    pub generation_ms: f64,
    /// Time to sign with a prepared token.
    pub sign_ms: f64,
    /// Time to verify one proof.
    pub verification_ms: f64,
}

/// Times of one message along a line of real nodes, milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct LineRun {
    /// Size of the payload, 1000 bytes.
    pub size_kb: usize,
    /// Time to generate the proof.
    pub prove_ms: f64,
    /// Transmission to each node and validation there, as pairs.
    pub hops: Vec<(f64, f64)>,
    /// Time from publishing to delivery at the last node.
    pub total_ms: f64,
}

/// Plan of a run of real nodes in one process, each of which publishes at intervals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkLoadPlan {
    /// Number of nodes, all of them members.
    pub nodes: u32,
    /// Number of members in the tree, including those without a node.
    pub members: u32,
    /// Time between two messages of a node, seconds.
    pub period_s: f64,
    /// Time for which the nodes publish, seconds.
    pub duration_s: f64,
    /// Whether messages carry proofs.
    pub rln: bool,
}

/// Result of a [`NetworkLoadPlan`] run: deliveries, latency, processor time and memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkLoadRun {
    /// Number of messages published.
    pub published: u64,
    /// Number of deliveries made.
    pub delivered: u64,
    /// Number of deliveries expected.
    pub expected: u64,
    /// Latencies from publishing to delivery, milliseconds, ascending.
    pub latency_ms: Vec<f64>,
    /// Processor time while the nodes published, seconds.
    pub cpu_s: f64,
    /// Wall time while the nodes published, seconds.
    pub wall_s: f64,
    /// Resident memory at the end, 10^6 bytes.
    pub rss_mb: f64,
}

/// Plan of a run with a real spammer among real nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpamPlan {
    /// Number of nodes, including the spammer.
    pub nodes: u32,
    /// Time between two messages of the spammer, seconds.
    pub interval_s: f64,
    /// Time for which the spammer publishes, seconds.
    pub duration_s: f64,
    /// Messages that the spammer may send per epoch.
    pub limit: u32,
    /// Length of an epoch, seconds.
    pub epoch_s: u64,
}

/// Result of a [`SpamPlan`] run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpamRun {
    /// Number of the spammer's peers over time, as (seconds after its first message, peers).
    pub peers: Vec<(f64, u32)>,
    /// Tokens that were prepared for the spammer before the run.
    pub prepared: u64,
    /// Times of the messages for which the spammer had peers, seconds after its first message, ascending.
    pub sent_s: Vec<f64>,
    /// Messages that the spammer published, with or without peers.
    pub attempted: u64,
    /// Messages among those that reached every honest node.
    pub delivered: u64,
    /// Whether an honest node recovered the spammer's secret.
    pub secret_recovered: bool,
}

impl SpamRun {
    /// Messages per second, from the first to the last for which the spammer had peers; `None` if there
    /// are fewer than two or they were sent at the same time.
    pub fn rate_per_s(&self) -> Option<f64> {
        let (first, last) = (self.sent_s.first()?, self.sent_s.last()?);
        let intervals = (self.sent_s.len() - 1) as f64;
        (last > first).then(|| intervals / (last - first))
    }
}

/// Result of following a registry on a chain from the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyncRun {
    /// Number of members registered.
    pub members: u32,
    /// Number of blocks of the chain.
    pub blocks: u64,
    /// Number of requests made.
    pub requests: u64,
    /// Bytes received in the answers.
    pub bytes: u64,
    /// Time from the start to the contract's root, seconds.
    pub wall_s: f64,
    /// Size of the tree in memory, bytes.
    pub tree_bytes: u64,
}

/// Provider of measurements with real proofs and real nodes.
pub trait RealNodes {
    /// Measures the costs of proofs on this machine, as medians of `runs` runs.
    ///
    /// # Errors
    /// Returns [`MachineError`] when the measurement is impossible here or fails.
    fn rln_costs(&self, runs: usize) -> Result<RlnCosts, MachineError>;

    /// Sends messages of the paper's sizes along its five cities on the testbed, `runs` of each size.
    ///
    /// # Errors
    /// Returns [`MachineError`] when the testbed cannot run here or fails.
    fn cities(&self, runs: u32) -> Result<Vec<LineRun>, MachineError>;

    /// Runs many nodes that publish.
    ///
    /// # Errors
    /// Returns [`MachineError`] when the nodes cannot run here or fail.
    fn network_load(&self, plan: NetworkLoadPlan) -> Result<NetworkLoadRun, MachineError>;

    /// Runs a spammer among honest nodes. `tell` receives the progress in words.
    ///
    /// # Errors
    /// Returns [`MachineError`] when the nodes cannot run here or fail.
    fn spam(&self, plan: SpamPlan, tell: &dyn Fn(&str)) -> Result<SpamRun, MachineError>;

    /// Creates a chain with `members` members, and runs a node that follows it from the beginning.
    ///
    /// # Errors
    /// Returns [`MachineError`] when the chain cannot run here or a step fails.
    fn tree_sync(&self, members: u32) -> Result<SyncRun, MachineError>;
}
