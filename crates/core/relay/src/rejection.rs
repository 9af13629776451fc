//! Reasons for dropping a message, and whether its sender is blamed.

use thiserror::Error;
use undertone_message::DecodeError;
use undertone_rln::ProofRejection as Why;

/// Reason why a message was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rejection {
    /// Too many proofs wait for verification, in total or of this peer; nobody is blamed.
    #[error("too many proofs wait to be checked")]
    Capacity,
    /// The data is not a valid `WakuMessage`.
    #[error("not a WakuMessage: {0}")]
    Decode(DecodeError),
    /// The message is already known; if a peer sent it, in another encoding. Nobody is blamed.
    #[error("the same message came before, in this or another encoding")]
    Duplicate,
    /// With automatic sharding, the content topic belongs to another shard than the one on which the
    /// message arrived; nobody is blamed, as other implementations forward such messages.
    #[error("the content topic belongs to another shard")]
    OtherShard,
    /// The proof field cannot be decoded.
    #[error("proof: {0}")]
    MalformedProof(undertone_rln::ProofDecodeError),
    /// The network requires a proof and the message has none.
    #[error("no proof on a network with RLN")]
    MissingProof,
    /// One of the checks before the zero-knowledge proof failed.
    #[error("proof: {0}")]
    Proof(undertone_rln::ProofRejection),
    /// The zero-knowledge proof is invalid.
    #[error("the zero-knowledge proof does not hold")]
    Snark,
    /// The nullifier was used for another message in this epoch.
    #[error("more messages than the member's limit in this epoch")]
    Spam {
        /// Whether the peer itself sent another message under the nullifier. Only then is it blamed: an
        /// honest relay forwards the first one that it sees, which may differ from the first one seen here.
        repeated: bool,
    },
    /// The message is longer than the network allows.
    #[error("message of {len} bytes is over the network's limit of {max}")]
    TooLarge {
        /// Length of the message, bytes.
        len: usize,
        /// Longest allowed length, bytes.
        max: usize,
    },
    /// The peer was disconnected, or sent an invalid proof, before this message was judged.
    #[error("not judged: the peer that sent the message was cut off before")]
    Unjudged,
    /// The topic does not belong to the network.
    #[error("the topic is not part of this network")]
    WrongShard,
}

impl Rejection {
    /// Whether the reason says nothing about the message, so that a later copy is judged as if it were the
    /// first.
    pub fn is_no_judgement(&self) -> bool {
        self.is_unknown_root() || matches!(self, Self::Capacity | Self::OtherShard | Self::Unjudged)
    }

    /// Whether the peer that sent the message is blamed. A peer that may have forwarded the message in good
    /// faith is not: otherwise one author could set honest neighbours against each other.
    pub fn is_blamed(&self) -> bool {
        match self {
            Self::Capacity | Self::Duplicate | Self::OtherShard | Self::Unjudged => false,
            Self::Spam { repeated } => *repeated,
            Self::Decode(error) => !error.forwarder_may_be_honest(),
            Self::Proof(why) => match why {
                // The peer's clock or its view of the membership, or ours, may differ.
                Why::StaleTimestamp { .. }
                | Why::FutureTimestamp { .. }
                | Why::UnknownRoot { .. }
                // nwaku takes the identifier from the message; up to version 0.37 it accepts aliases too.
                | Why::ForeignIdentifier
                | Why::NonCanonical(_) => false,
                Why::NegativeTimestamp { .. }
                | Why::MalformedEpoch(_)
                | Why::EpochMismatch { .. }
                | Why::SignalMismatch => true,
            },
            Self::MalformedProof(_)
            | Self::MissingProof
            | Self::Snark
            | Self::TooLarge { .. }
            | Self::WrongShard => true,
        }
    }

    /// Returns the metrics label of the reason, one of a fixed set, so that the number of time series is
    /// bounded.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Capacity => "capacity",
            Self::Decode(_) => "decode",
            Self::Duplicate => "duplicate",
            Self::MalformedProof(_) => "malformed_proof",
            Self::MissingProof => "missing_proof",
            Self::Proof(why) => match why {
                Why::NegativeTimestamp { .. } => "negative_timestamp",
                Why::StaleTimestamp { .. } => "stale_timestamp",
                Why::FutureTimestamp { .. } => "future_timestamp",
                Why::MalformedEpoch(_) => "malformed_epoch",
                Why::EpochMismatch { .. } => "epoch_mismatch",
                Why::ForeignIdentifier => "foreign_identifier",
                Why::NonCanonical(_) => "non_canonical",
                Why::SignalMismatch => "signal_mismatch",
                Why::UnknownRoot { .. } => "unknown_root",
            },
            Self::OtherShard => "other_shard",
            Self::Snark => "snark",
            Self::Spam { .. } => "spam",
            Self::TooLarge { .. } => "too_large",
            Self::Unjudged => "unjudged",
            Self::WrongShard => "wrong_shard",
        }
    }
}
