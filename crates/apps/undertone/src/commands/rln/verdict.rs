//! All checks that a relay applies to a single message, in the same order.
//!
//! The nullifier log is left out: it compares a message with earlier ones, and a tool that runs once has not
//! seen any.

use bytes::Bytes;
use undertone_message::{DecodeError, MessageLimits, WakuMessage};
use undertone_rln::check::check;
use undertone_rln::{
    CheckedProof, Policy, ProofDecodeError, ProofRejection, RateLimitProof, RootWindow,
    SnarkInvalid, Verifier, signal_hash,
};

/// Checked proof of a valid message, or the reason for its rejection.
pub(super) type Verdict = Result<CheckedProof, Invalid>;

/// Reasons for rejecting a message, by validation stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Invalid {
    /// The bytes are not a message, or too long.
    #[error("not a WakuMessage: {0}")]
    Message(DecodeError),
    /// The proof field is absent or empty.
    #[error("no proof, on a network that demands one")]
    MissingProof,
    /// The proof field cannot be decoded.
    #[error("{0}")]
    ProofEncoding(ProofDecodeError),
    /// One of the cheap checks failed.
    #[error("{0}")]
    Check(ProofRejection),
    /// The proof does not verify.
    #[error("{0}")]
    Snark(SnarkInvalid),
}

impl Invalid {
    /// Returns the name of the stage, for use by programs.
    pub(super) fn stage(&self) -> &'static str {
        match self {
            Self::Message(_) => "message",
            Self::MissingProof => "missing-proof",
            Self::ProofEncoding(_) => "proof-encoding",
            Self::Check(_) => "check",
            Self::Snark(_) => "snark",
        }
    }

    /// Returns advice for the message's author, if any.
    pub(super) fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::MissingProof => Some("make a message with its proof: undertone rln prove"),
            Self::Check(
                ProofRejection::StaleTimestamp { .. } | ProofRejection::FutureTimestamp { .. },
            ) => Some("a message holds for seconds; --now-ns N judges it as of another moment"),
            Self::Check(ProofRejection::EpochMismatch { .. } | ProofRejection::SignalMismatch) => {
                Some("payload, content topic or timestamp are not those that the proof is for")
            }
            Self::Check(ProofRejection::UnknownRoot { .. }) => Some(
                "the publisher's registry is another one, or has changed much since; compare \
                 with `undertone rln list`",
            ),
            Self::Snark(_) => {
                Some("the message was changed after it was proved, or made for another --network")
            }
            Self::Message(_) | Self::ProofEncoding(_) | Self::Check(_) => None,
        }
    }
}

/// Inputs of a relay's validation besides the message.
pub(super) struct Judge<'a> {
    /// The network's requirements on a proof.
    pub(super) policy: Policy,
    /// Membership roots that are accepted.
    pub(super) roots: &'a RootWindow,
    /// Maximum length of a message on the network, bytes.
    pub(super) max_message_bytes: usize,
    /// Verifier of the zero-knowledge proof.
    pub(super) verifier: Verifier,
    /// Time of the relay's clock, Unix nanoseconds.
    pub(super) unix_now_ns: u64,
}

impl Judge<'_> {
    /// Validates an encoded message.
    pub(super) fn judge(&self, bytes: &Bytes) -> Verdict {
        let mut limits = MessageLimits::default();
        limits.max_message_bytes = self.max_message_bytes;
        let message = WakuMessage::decode_with(bytes, &limits).map_err(Invalid::Message)?;
        let field = message.rate_limit_proof.as_ref();
        let field = field
            .filter(|field| !field.is_empty())
            .ok_or(Invalid::MissingProof)?;
        let proof = RateLimitProof::decode(field).map_err(Invalid::ProofEncoding)?;
        let timestamp_ns = message.timestamp_ns();
        let x = signal_hash(&message.payload, &message.content_topic, timestamp_ns);
        let now_ns = self.unix_now_ns;
        let checked = check(&self.policy, self.roots, now_ns, timestamp_ns, x, &proof);
        let checked = checked.map_err(Invalid::Check)?;
        let verified = self.verifier.verify(&checked.statement);
        verified.map_err(Invalid::Snark)?;
        Ok(checked)
    }
}
