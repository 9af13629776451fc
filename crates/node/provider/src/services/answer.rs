//! Results of asking a peer for a service.

use libp2p::{Multiaddr, PeerId};
use thiserror::Error;
use undertone_network::handle::Stopped;
use undertone_services::history::{HistoryError, HistoryPage};
use undertone_services::store::HistoryReadError;

/// Version of the lightpush protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LightpushVersion {
    /// `/vac/waku/lightpush/2.0.0-beta1`, called legacy.
    V2,
    /// `/vac/waku/lightpush/3.0.0`, the current version.
    V3,
}

/// Page of history, and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreAnswer {
    /// Request id sent to the peer; empty if this node's own archive answered.
    pub request_id: String,
    /// Page that answers the query.
    pub page: HistoryPage,
}

/// Reason why a service request failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ServiceFailure {
    /// No peer that offers the service is known.
    #[error("no suitable peer for {service}; name one, or connect to one first")]
    NoPeer {
        /// Name of the service, such as `store`.
        service: &'static str,
    },
    /// The address does not identify a peer that can be dialled.
    #[error("{address} is no address with a peer id; use /ip4/…/tcp/…/p2p/…")]
    Address {
        /// Address that was given.
        address: Multiaddr,
    },
    /// No connection to the peer, or no stream for the protocol.
    #[error("cannot reach peer {peer}: {reason}")]
    Dial {
        /// Peer that was asked.
        peer: PeerId,
        /// Error of the connection.
        reason: String,
    },
    /// The peer refused the request or could not carry it out.
    #[error("status {status}: {description}")]
    Refused {
        /// Status code of the protocol.
        status: u32,
        /// Description that came with it, possibly empty.
        description: String,
    },
    /// The peer's answer violates the protocol.
    #[error("peer {peer} gave an invalid answer: {reason}")]
    BadAnswer {
        /// Peer that was asked.
        peer: PeerId,
        /// Defect of the answer.
        reason: String,
    },
    /// The peer did not answer in time.
    #[error("peer {peer} did not answer within {timeout_s} s")]
    TimedOut {
        /// Peer that was asked.
        peer: PeerId,
        /// Time limit, seconds.
        timeout_s: u64,
    },
    /// The node's own archive has no page for the query.
    #[error(transparent)]
    Archive(#[from] HistoryError),
    /// The topic of the message or subscription is missing and cannot be derived, or does not belong to the network.
    #[error("{0}")]
    Topic(String),
    /// The node has the maximum number of subscriptions.
    #[error("already subscribed to {max} content topics; unsubscribe from one first")]
    TooManySubscriptions {
        /// Maximum number of content topics.
        max: usize,
    },
    /// The node is stopping or has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl ServiceFailure {
    /// Converts the reason why the response of a peer's store was rejected.
    pub(super) fn of_page(peer: PeerId, error: HistoryReadError) -> Self {
        match error {
            HistoryReadError::Refused {
                status,
                description,
            } => Self::Refused {
                status: status.code(),
                description: description.to_string(),
            },
            HistoryReadError::Busy { status } => Self::Refused {
                status: status.code(),
                description: String::new(),
            },
            error => Self::BadAnswer {
                peer,
                reason: error.to_string(),
            },
        }
    }
}
