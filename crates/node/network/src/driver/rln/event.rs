//! Messages from the rate-limiting threads to the event loop.

use std::sync::mpsc;

use libp2p::PeerId;
use undertone_gossip::RequestId;
use undertone_relay::{ProofFailure, ProofTicket};
use undertone_rln::{Epoch, Fr, RateLimitProof, RootWindow};

use super::source::ProofSource;
use crate::command::MembershipSnapshot;

/// Messages from the proof and membership threads to the event loop.
pub(crate) enum RlnEvent {
    /// A proof was verified.
    Verified {
        ticket: ProofTicket,
        /// Peer that the proof was attributed to when verification started; `None` for an own one.
        from: Option<PeerId>,
        valid: bool,
    },
    /// A proof for an own message was generated, or its generation failed.
    Proved {
        request: RequestId,
        result: Box<Result<RateLimitProof, ProofFailure>>,
    },
    /// Asks whether a message with this nullifier is known; a thread blocks until the answer.
    IsTaken {
        epoch: Epoch,
        nullifier: Fr,
        reply: mpsc::Sender<bool>,
    },
    /// Message ids of the epoch were skipped because another node had used them.
    Skipped {
        epoch: Epoch,
        ids: u32,
        /// Number of ids already found used before.
        before: u32,
    },
    /// The followed membership has changed.
    Membership {
        roots: RootWindow,
        now: MembershipSnapshot,
    },
    /// The node has become a member; from now on this source generates its proofs.
    Joined(Box<dyn ProofSource>),
    /// The node lost its membership or was moved to another leaf.
    Left,
}
