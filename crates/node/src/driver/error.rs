//! Errors of starting a node.

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
    #[error("cannot listen on {address}: {reason}; choose another port or free this one")]
    Listen {
        /// Address to listen on.
        address: Multiaddr,
        /// Error message of the transport.
        reason: String,
    },
    /// A protocol id is unknown to the router.
    #[error("unknown pubsub protocol {0:?}; known: {known}", known = known_protocols())]
    Protocol(String),
    /// The operating system refused a thread, a runtime or random bytes.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
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

fn known_protocols() -> String {
    let ids: Vec<_> = undertone_gossip::PROTOCOLS
        .iter()
        .map(|protocol| protocol.id)
        .collect();
    ids.join(", ")
}
