use std::io;

use thiserror::Error;
use undertone_membership::RegistryError;
use undertone_node_process::StartError;
use undertone_rln::{IdentityFileError, KeyError, ProveError};

use crate::raw::RawError;

/// Errors in running an attack or the honest network around it. The attack's effect on the victim is a
/// result, not an error.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostileError {
    /// A node did not start.
    #[error("cannot start node {name}: {source}")]
    Start {
        /// Name of the node.
        name: String,
        /// Reason, with the end of the node's log if it has one.
        source: StartError,
    },
    /// An operation of the harness on a file, socket or process failed.
    #[error("{what}: {source}")]
    Io {
        /// Description of the failed operation.
        what: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A node's REST API refused a request that it should accept.
    #[error("node {name} answered {status} to {request}: {body}")]
    Refused {
        /// Name of the node.
        name: String,
        /// Method and path.
        request: String,
        /// Status code of the answer.
        status: u16,
        /// Body of the answer.
        body: String,
    },
    /// A node's REST API answered with an unexpected body.
    #[error("node {name} answered {request} with an unexpected body: {source}")]
    Body {
        /// Name of the node.
        name: String,
        /// Method and path.
        request: String,
        /// Error of the JSON parser.
        source: serde_json::Error,
    },
    /// A node's service did not serve an honest client before the attack.
    #[error("the service {service} answered {answer}")]
    Unserved {
        /// Name of the service.
        service: &'static str,
        /// Answer, or the reason why there is none.
        answer: String,
    },
    /// A condition for the attack was not met within its time limit.
    #[error("no {waiting_for} within {deadline_s} s")]
    Late {
        /// Description of the awaited condition.
        waiting_for: String,
        /// Time limit, in seconds.
        deadline_s: u64,
    },
    /// The C compiler is missing, or failed to compile the library preloaded into the victim.
    #[error(
        "cannot compile a library with cc: {detail}; install a C compiler (Debian: apt-get install gcc libc6-dev)"
    )]
    Compiler {
        /// Error of the operating system, or output of the compiler.
        detail: String,
    },
    /// The connection of an attacking peer failed.
    #[error(transparent)]
    Raw(#[from] RawError),
    /// The membership registry of the honest nodes failed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// An identity could not be written.
    #[error(transparent)]
    Identity(#[from] IdentityFileError),
    /// The proving key could not be loaded.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A proof that the attack needs could not be made.
    #[error(transparent)]
    Prove(#[from] ProveError),
}

impl HostileError {
    /// Returns a converter of I/O errors into [`HostileError::Io`].
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}
