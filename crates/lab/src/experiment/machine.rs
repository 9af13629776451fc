//! What an experiment needs of the machine and of real nodes. The laboratory states it; the program,
//! which has provers and nodes, does it.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why something was not measured.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MachineError {
    /// This machine cannot do it.
    #[error("not possible here: {what}; {remedy}")]
    Unavailable {
        /// What is missing.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// It was tried and failed.
    #[error("{what} failed: {reason}")]
    Failed {
        /// What was tried.
        what: &'static str,
        /// What was said.
        reason: String,
    },
}

/// Costs of proofs on this machine, processor time of one thread, medians.
#[derive(Clone, Debug, PartialEq)]
pub struct RlnCosts {
    /// Payloads of several sizes.
    pub by_size: Vec<RlnCost>,
    /// Preparing a token, milliseconds.
    pub token_prepare_ms: f64,
    /// Proofs in a batch.
    pub batch: usize,
    /// Verifying each of them, milliseconds.
    pub batch_per_proof_ms: f64,
    /// Keccak-256 and conversion to a field element: size in 1000 bytes, milliseconds.
    pub hashing_ms: Vec<(usize, f64)>,
    /// Building the tree of 10,000 members, milliseconds.
    pub tree_build_ms: f64,
    /// Its size, 10^6 bytes.
    pub tree_mb: f64,
}

/// Costs for one size of payload, milliseconds; the signal's hash is part of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RlnCost {
    /// 1000 bytes.
    pub size_kb: usize,
    /// A full proof, nothing prepared but the member.
    pub generation_ms: f64,
    /// Signing with a token.
    pub sign_ms: f64,
    /// Verifying one.
    pub verification_ms: f64,
}

/// One message along a line of real nodes, milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct LineRun {
    /// 1000 bytes.
    pub size_kb: usize,
    /// Making the proof.
    pub prove_ms: f64,
    /// Transmission to each node and validation there.
    pub hops: Vec<(f64, f64)>,
    /// From publishing to the last node.
    pub total_ms: f64,
}

/// Real nodes in one process, each publishing now and then.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommunityPlan {
    /// Nodes, all of them members.
    pub nodes: u32,
    /// Members of the tree, those without a node included.
    pub members: u32,
    /// Time between two messages of a node, seconds.
    pub period_s: f64,
    /// How long they publish, seconds.
    pub duration_s: f64,
    /// Whether messages carry proofs.
    pub rln: bool,
}

/// What became of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommunityRun {
    /// Messages published.
    pub published: u64,
    /// Deliveries made.
    pub delivered: u64,
    /// Deliveries to be made.
    pub expected: u64,
    /// Publishing to delivery, milliseconds, ascending.
    pub latency_ms: Vec<f64>,
    /// Processor time while they published, seconds.
    pub cpu_s: f64,
    /// Time while they published, seconds.
    pub wall_s: f64,
    /// Resident memory at the end, 10^6 bytes.
    pub rss_mb: f64,
}

/// A real spammer among real nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpamPlan {
    /// Nodes, the spammer among them.
    pub nodes: u32,
    /// Time between two messages of the spammer, seconds.
    pub interval_s: f64,
    /// How long it spams, seconds.
    pub duration_s: f64,
    /// Messages per epoch that it may send.
    pub limit: u32,
    /// Length of an epoch, seconds.
    pub epoch_s: u64,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpamRun {
    /// Peers of the spammer over time: seconds after its first message, peers.
    pub peers: Vec<(f64, u32)>,
    /// Tokens that were prepared for it before.
    pub prepared: u64,
    /// Messages that it had peers to send to: seconds after its first message, ascending.
    pub sent_s: Vec<f64>,
    /// Messages that it published, to peers or to nobody.
    pub attempted: u64,
    /// Of those, that reached every honest node.
    pub delivered: u64,
    /// Whether an honest node recovered its secret.
    pub secret_recovered: bool,
}

impl SpamRun {
    /// Messages per second, from its first to the last that it had peers to send to; `None` if there are
    /// not two.
    pub fn rate_per_s(&self) -> Option<f64> {
        let (first, last) = (self.sent_s.first()?, self.sent_s.last()?);
        let intervals = (self.sent_s.len() - 1) as f64;
        (last > first).then(|| intervals / (last - first))
    }
}

/// Following a registry on a chain from nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyncRun {
    /// Members registered.
    pub members: u32,
    /// Blocks of the chain.
    pub blocks: u64,
    /// Requests made.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Seconds from nothing to the contract's root.
    pub wall_s: f64,
    /// Bytes of the tree in memory.
    pub tree_bytes: u64,
}

/// Real proofs and real nodes.
pub trait Machine {
    /// What proofs cost here, medians of so many runs.
    ///
    /// # Errors
    /// [`MachineError`].
    fn rln_costs(&self, runs: usize) -> Result<RlnCosts, MachineError>;

    /// Messages of the paper's sizes along its five cities, on the testbed, so many of each size.
    ///
    /// # Errors
    /// [`MachineError`].
    fn cities(&self, runs: u32) -> Result<Vec<LineRun>, MachineError>;

    /// Many nodes that publish.
    ///
    /// # Errors
    /// [`MachineError`].
    fn community(&self, plan: CommunityPlan) -> Result<CommunityRun, MachineError>;

    /// A spammer among nodes. `tell` hears how far it is, in words.
    ///
    /// # Errors
    /// [`MachineError`].
    fn spam(&self, plan: SpamPlan, tell: &dyn Fn(&str)) -> Result<SpamRun, MachineError>;

    /// A chain with so many members, and a node that follows it from nothing.
    ///
    /// # Errors
    /// [`MachineError`].
    fn tree_sync(&self, members: u32) -> Result<SyncRun, MachineError>;
}
