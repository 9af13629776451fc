//! Errors of running a scenario on the testbed.

use std::io;
use std::path::PathBuf;

use undertone_membership::RegistryError;
use undertone_node::config::ConfigError;
use undertone_rln::IdentityFileError;
use undertone_sim::SimError;
use undertone_testbed::{TestbedError, Unavailable};

/// Errors of a testbed run, caused by the scenario, the machine, or a node.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("{key} = {value}: the testbed {cannot}; {remedy}")]
    Unsupported {
        key: String,
        value: String,
        cannot: &'static str,
        remedy: &'static str,
    },
    #[error(
        "scenario.nodes = {nodes}: there is memory for {fit} processes here; take fewer (`--set \
         scenario.nodes={fit}`), or run it with `undertone sim`"
    )]
    Memory {
        nodes: u32,
        /// Number of processes that fit into memory.
        fit: u64,
    },
    #[error("the scenario cannot be run: {0}")]
    Plan(#[from] SimError),
    #[error("the nodes' configuration: {0}")]
    Config(#[from] ConfigError),
    #[error("no testbed can run here: {0}")]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    #[error("{path}: {error}; set TMPDIR to a folder that is writable and has space")]
    Folder { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Registry(#[from] RegistryError),
    #[error(transparent)]
    Identity(#[from] IdentityFileError),
    #[error("the system's random generator: {0}")]
    Random(getrandom::Error),
    #[error("cannot make a key for node {node}: {error}")]
    Key {
        node: u32,
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("node {node} ended ({status}); the end of its log:\n{said}")]
    Ended {
        node: u32,
        status: std::process::ExitStatus,
        said: String,
    },
    #[error("node {node} was asked to stop and still runs 10 s later")]
    Stays { node: u32 },
    #[error(
        "node {node} was not ready after {after_s} s: {missing}; give it longer with --ready-s, or \
         take fewer nodes"
    )]
    NotReady {
        node: u32,
        after_s: u64,
        missing: &'static str,
    },
    #[error("node {node}, {path}: {error}")]
    Rest {
        node: u32,
        path: String,
        error: io::Error,
    },
    #[error("message {message} was refused by node {node} with status {status}: {said}")]
    Refused {
        message: u32,
        node: u32,
        status: u16,
        said: String,
    },
    #[error("{path}:{line}: {error}: the delivery log is damaged")]
    Log {
        path: PathBuf,
        line: usize,
        error: serde_json::Error,
    },
    #[error("message {message} is not in the log of its publisher, node {node}")]
    Unpublished { message: u32, node: u32 },
}

impl RunError {
    /// Whether the scenario or a flag is at fault, so that the exit code is that of wrong usage.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Unsupported { .. } | Self::Memory { .. } | Self::Plan(_) | Self::Config(_)
        )
    }
}
