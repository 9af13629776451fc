//! Why a message is dropped, and whether its sender is blamed.

use thiserror::Error;
use undertone_message::DecodeError;
use undertone_rln::Rejection as Why;

/// Why a message was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Rejection {
    /// Too many proofs wait, in all or of this peer; nobody is blamed.
    #[error("too many proofs wait to be checked")]
    Capacity,
    /// No `WakuMessage`.
    #[error("not a WakuMessage: {0}")]
    Decode(DecodeError),
    /// The same message, for a peer's under another envelope; nobody is blamed.
    #[error("the same message came before, in this or another encoding")]
    Duplicate,
    /// With automatic sharding, the content topic belongs to another shard than the one that the
    /// message came on; nobody is blamed, as other implementations pass such messages on.
    #[error("the content topic belongs to another shard")]
    OtherShard,
    /// The proof field cannot be read.
    #[error("proof: {0}")]
    MalformedProof(undertone_rln::ProofDecodeError),
    /// The network demands a proof and there is none.
    #[error("no proof on a network with RLN")]
    MissingProof,
    /// One of the checks before the pairing failed.
    #[error("proof: {0}")]
    Proof(undertone_rln::Rejection),
    /// The zero-knowledge proof does not hold.
    #[error("the zero-knowledge proof does not hold")]
    Snark,
    /// The nullifier was used for another message in this epoch.
    #[error("more messages than the member's limit in this epoch")]
    Spam {
        /// Whether the peer itself sent us another message under the nullifier. Only then is it
        /// blamed: an honest relay forwards the first of them that it sees, and that may be
        /// another than the one we saw first.
        repeated: bool,
    },
    /// Over the network's limit.
    #[error("message of {len} bytes is over the network's limit of {max}")]
    TooLarge {
        /// Bytes of the message.
        len: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// The peer was disconnected, or a proof of it did not hold, before this message was judged.
    #[error("not judged: the peer that sent the message was cut off before")]
    Unjudged,
    /// A topic outside the network.
    #[error("the topic is not part of this network")]
    WrongShard,
}

impl Rejection {
    /// Whether this says nothing about the message: a later copy is judged as if it were the first.
    pub fn is_no_judgement(&self) -> bool {
        self.is_unknown_root() || matches!(self, Self::Capacity | Self::OtherShard | Self::Unjudged)
    }

    /// Whether the peer that sent the message is to blame. Where it may have forwarded the message
    /// in good faith, it is not: blaming it would let one author set honest neighbours against
    /// each other.
    pub fn is_blamed(&self) -> bool {
        match self {
            Self::Capacity | Self::Duplicate | Self::OtherShard | Self::Unjudged => false,
            Self::Spam { repeated } => *repeated,
            Self::Decode(error) => !error.forwarder_may_be_honest(),
            Self::Proof(why) => match why {
                // Its clock or its view of the membership, or ours, may differ.
                Why::StaleTimestamp { .. }
                | Why::FutureTimestamp { .. }
                | Why::UnknownRoot { .. }
                // nwaku takes the identifier from the message; up to 0.37 it takes aliases too.
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
}
