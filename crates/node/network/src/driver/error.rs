//! Errors of starting a node.

use std::error::Error;
use std::io;

use libp2p::Multiaddr;
use thiserror::Error;
use undertone_gossip::ConfigError;

use crate::command::SubscribeFailure;
use crate::swarm::CertificateError;

/// Reason why a node did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The certificate of the WebSocket port cannot be used.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The gossip parameters contradict each other.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An address is in use or does not belong to this host.
    #[error("cannot listen on {address}: {cause}; {remedy}", cause = cause(error), remedy = remedy(error))]
    Listen {
        /// Address to listen on.
        address: Multiaddr,
        /// Error of the operating system, or of the transport.
        error: io::Error,
    },
    /// A protocol id is unknown to the router.
    #[error("unknown pubsub protocol {0:?}; known: {known}", known = known_protocols())]
    Protocol(String),
    /// The operating system refused a thread, a runtime or random bytes.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] io::Error),
    /// A topic cannot be subscribed to.
    #[error(transparent)]
    Topic(#[from] SubscribeFailure),
    /// The transports could not be set up, or the network thread ended.
    #[error("cannot set up the transports: {0}")]
    Transport(String),
    /// The network requires proofs and there is no verifier for them.
    #[error("network {0} demands RLN proofs, but RLN is off; set `rln = true`")]
    RlnMissing(&'static str),
}

/// Returns the operating system's error inside an error of a transport, whose own text may be empty.
fn cause(error: &io::Error) -> &io::Error {
    let mut inner = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
    while let Some(wrapped) = inner {
        match wrapped.downcast_ref::<io::Error>() {
            Some(io_error) => return cause(io_error),
            None => inner = wrapped.source(),
        }
    }
    error
}

fn remedy(error: &io::Error) -> &'static str {
    match cause(error).kind() {
        io::ErrorKind::AddrNotAvailable => {
            "this machine has no such address; choose one that it has"
        }
        io::ErrorKind::PermissionDenied => {
            "choose a port above 1023, or give the program CAP_NET_BIND_SERVICE"
        }
        _ => "choose another port, or stop the program that listens there (a node that runs?)",
    }
}

fn known_protocols() -> String {
    let ids: Vec<_> = undertone_gossip::PROTOCOLS
        .iter()
        .map(|protocol| protocol.id)
        .collect();
    ids.join(", ")
}
