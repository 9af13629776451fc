//! Errors of running a scenario on the testbed.

use std::io;
use std::path::PathBuf;

use undertone_lab::report::WriteError;
use undertone_membership::RegistryError;
use undertone_node::config::ConfigError;
use undertone_rln::IdentityFileError;
use undertone_sim::SimError;
use undertone_testbed::{TestbedError, Unavailable};

/// Errors of a testbed run, caused by the scenario, the machine, or a node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Real nodes or kernels cannot run the scenario.
    #[error("{key} = {value}: the testbed {cannot}; {remedy}")]
    Unsupported {
        /// Key of the scenario.
        key: String,
        /// Value that the key has.
        value: String,
        /// Reason, after "the testbed".
        cannot: &'static str,
        /// Instruction that tells the user how to fix it.
        remedy: &'static str,
    },
    /// The nodes do not fit into memory.
    #[error(
        "scenario.nodes = {nodes}: there is memory for {fit} processes here; take fewer (`--set \
         scenario.nodes={fit}`), or run it with `undertone sim`"
    )]
    Memory {
        /// Number of nodes in the scenario.
        nodes: u32,
        /// Number of processes that fit into memory.
        fit: u64,
    },
    /// The scenario contradicts itself.
    #[error("the scenario cannot be run: {0}")]
    Plan(#[from] SimError),
    /// The nodes' configuration is not valid.
    #[error("the nodes' configuration: {0}")]
    Config(#[from] ConfigError),
    /// This machine cannot run the testbed.
    #[error("no testbed can run here: {0}")]
    Unavailable(#[from] Unavailable),
    /// The testbed failed.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// A file or folder of the run cannot be used.
    #[error("{path}: {error}; set TMPDIR to a folder that is writable and has space")]
    Folder {
        /// Path of the file or folder.
        path: PathBuf,
        /// Reason that was reported.
        error: io::Error,
    },
    /// The registry failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// An identity file cannot be written.
    #[error(transparent)]
    Identity(#[from] IdentityFileError),
    /// The system has no random numbers.
    #[error("the system's random generator: {0}")]
    Random(getrandom::Error),
    /// A node's key cannot be created.
    #[error("cannot make a key for node {node}: {error}")]
    Key {
        /// Number of the node.
        node: u32,
        /// Reason that was reported.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A node ended by itself.
    #[error("node {node} ended ({status}); the end of its log:\n{said}")]
    Ended {
        /// Number of the node.
        node: u32,
        /// Status of the process.
        status: std::process::ExitStatus,
        /// End of its log.
        said: String,
    },
    /// A node did not end.
    #[error("node {node} was asked to stop and still runs 10 s later")]
    Stays {
        /// Number of the node.
        node: u32,
    },
    /// A node was not ready in time.
    #[error(
        "node {node} was not ready after {after_s} s: {missing}; give it longer with --ready-s, or \
         take fewer nodes"
    )]
    NotReady {
        /// Number of the node.
        node: u32,
        /// Time limit, seconds.
        after_s: u64,
        /// Condition that is not met.
        missing: &'static str,
    },
    /// A REST request failed.
    #[error("node {node}, {path}: {error}")]
    Rest {
        /// Number of the node.
        node: u32,
        /// Path of the request.
        path: String,
        /// Reason that was reported.
        error: io::Error,
    },
    /// A node refused a message.
    #[error("message {message} was refused by node {node} with status {status}: {said}")]
    Refused {
        /// Number of the message.
        message: u32,
        /// Number of the node.
        node: u32,
        /// Status of the answer.
        status: u16,
        /// Body of the answer.
        said: String,
    },
    /// A delivery log cannot be parsed.
    #[error("{path}:{line}: {error}: the delivery log is damaged")]
    Log {
        /// Path of the log.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// Reason that was reported.
        error: serde_json::Error,
    },
    /// A message is missing in the log of its publisher.
    #[error("message {message} is not in the log of its publisher, node {node}")]
    Unpublished {
        /// Number of the message.
        message: u32,
        /// Number of the node.
        node: u32,
    },
}

impl RunError {
    /// Whether the scenario or a flag is at fault, so that the exit code is that of wrong usage.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Unsupported { .. } | Self::Memory { .. } | Self::Plan(_) | Self::Config(_)
        )
    }
}

/// Reason why a campaign ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CampaignError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The results cannot be written.
    #[error(transparent)]
    Results(#[from] WriteError),
    /// The scenario cannot be simulated.
    #[error("{scenario} cannot be simulated: {error}")]
    Simulation {
        /// Name of the scenario.
        scenario: String,
        /// Reason that the simulator reports.
        error: SimError,
    },
}
