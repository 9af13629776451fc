//! Inputs and outputs of a server of rendezvous.

use bytes::Bytes;

use crate::{PeerNo, RequestNo};

/// Event that a driver hands to a [`RendezvousServer`](super::RendezvousServer).
#[derive(Clone, Debug)]
pub enum Input {
    /// A frame arrived.
    Request {
        /// Peer that sent it.
        peer: PeerNo,
        /// Number under which the driver wants the answer.
        request: RequestNo,
        /// Bytes of the request frame.
        bytes: Bytes,
    },
    /// A frame arrived beyond the rate limit.
    TooMany {
        /// Number under which the driver wants the answer.
        request: RequestNo,
        /// Bytes of the request frame, which say what kind of answer the peer can read.
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
    /// Time has passed.
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
    /// End of a request to which there is no answer.
    Close {
        /// Number of the request.
        request: RequestNo,
    },
    /// Signed record to be checked; the result is wanted as [`Input::RecordChecked`].
    CheckRecord {
        /// Number of the request.
        request: RequestNo,
        /// Peer that must have signed the record.
        peer: PeerNo,
        /// Envelope with the record.
        record: Bytes,
    },
}

/// Counts of what a [`RendezvousServer`](super::RendezvousServer) did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RendezvousStats {
    /// Requests to register that could be read, whatever came of them.
    pub register_requests: u64,
    /// Questions for registrations that could be read, whatever came of them.
    pub discover_requests: u64,
    /// Registrations that were kept, renewals included.
    pub registered: u64,
    /// Questions that were answered with registrations, possibly none.
    pub served: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Registrations given to those who asked.
    pub given: u64,
}
