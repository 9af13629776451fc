use std::io;
use std::path::PathBuf;

use thiserror::Error;
use undertone_membership::RegistryError;
use undertone_rln::{IdentityFileError, KeyError, ProveError};

use crate::raw::RawError;

/// Why an attack, or the honest network around it, could not be run. What the attack does to the victim is
/// a result, not an error.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostileError {
    /// The program of the nodes is not there or not executable.
    #[error("cannot start {program}: {source}; build it with `cargo build --package undertone`")]
    Program {
        /// Path of the program.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A node ended before it was ready.
    #[error("node {name} ended before it was ready; its log: {log}")]
    NotReady {
        /// Name of the node.
        name: String,
        /// Its log file.
        log: PathBuf,
    },
    /// A file, socket or process of the harness itself.
    #[error("{what}: {source}")]
    Io {
        /// What was done.
        what: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// A node's REST API refused a request that it must accept.
    #[error("node {name} answered {status} to {request}: {body}")]
    Refused {
        /// Name of the node.
        name: String,
        /// Method and path.
        request: String,
        /// Status code.
        status: u16,
        /// Body of the answer.
        body: String,
    },
    /// A node's REST API answered something that is not what was asked for.
    #[error("node {name} answered {request} with a body that is not as documented: {source}")]
    Body {
        /// Name of the node.
        name: String,
        /// Method and path.
        request: String,
        /// What was wrong with it.
        source: serde_json::Error,
    },
    /// Something did not happen in time, before the attack began.
    #[error("no {waiting_for} within {deadline_s} s")]
    Late {
        /// What was expected.
        waiting_for: String,
        /// How long it was given, seconds.
        deadline_s: u64,
    },
    /// An attacking peer could not do what it was to do.
    #[error(transparent)]
    Raw(#[from] RawError),
    /// The membership registry of the honest nodes.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// An identity could not be written.
    #[error(transparent)]
    Identity(#[from] IdentityFileError),
    /// The proving key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A proof that the attack needs.
    #[error(transparent)]
    Prove(#[from] ProveError),
}

impl HostileError {
    /// An error of the system in something that the harness does.
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}
