//! Inputs and outputs of a rendezvous server.

use bytes::Bytes;

use crate::{PeerNo, RequestNo};

/// Event that a driver hands to a [`RendezvousServer`](super::RendezvousServer).
#[derive(Clone, Debug)]
pub enum Input {
    /// A frame arrived.
    Request {
        /// Peer that sent it.
        peer: PeerNo,
        /// Number that identifies the request in the answer.
        request: RequestNo,
        /// Bytes of the request frame.
        bytes: Bytes,
    },
    /// A frame arrived beyond the rate limit.
    TooMany {
        /// Number that identifies the request in the answer.
        request: RequestNo,
        /// Bytes of the request frame, which show what type of answer the peer can read.
        bytes: Bytes,
    },
    /// Result of [`Output::CheckRecord`].
    RecordChecked {
        /// Number of the request.
        request: RequestNo,
        /// Whether the record has addresses, and the peer itself has signed it.
        is_valid: bool,
    },
    /// The last connection of a peer was closed.
    PeerGone(PeerNo),
    /// A timer may be due.
    Tick,
}

/// Work for the driver of a [`RendezvousServer`](super::RendezvousServer).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Answer to send.
    Respond {
        /// Number of the request.
        request: RequestNo,
        /// Bytes of the response frame.
        bytes: Bytes,
    },
    /// Close the stream of a request that gets no answer.
    Close {
        /// Number of the request.
        request: RequestNo,
    },
    /// Signed record to check; the driver reports with [`Input::RecordChecked`].
    CheckRecord {
        /// Number of the request.
        request: RequestNo,
        /// Peer that must have signed the record.
        peer: PeerNo,
        /// Envelope with the record.
        record: Bytes,
    },
}

/// Counters of a [`RendezvousServer`](super::RendezvousServer).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RendezvousStats {
    /// Well-formed register requests, whatever their result.
    pub register_requests: u64,
    /// Well-formed discover requests, whatever their result.
    pub discover_requests: u64,
    /// Registrations that were accepted, including renewals.
    pub registered: u64,
    /// Discover requests answered with registrations, possibly none.
    pub served: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Registrations returned by discover requests.
    pub given: u64,
}
