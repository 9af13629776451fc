//! Everything that a relay checks about one message by itself, in a relay's order.
//!
//! The nullifier log is left out: it is about the messages before, and a tool that runs once has
//! seen none.

use bytes::Bytes;
use undertone_message::{DecodeError, Limits, WakuMessage};
use undertone_rln::check::check;
use undertone_rln::{
    CheckedProof, Policy, ProofDecodeError, RateLimitProof, Rejection, RootWindow, SnarkInvalid,
    Verifier, signal_hash,
};

/// The proof of a valid message, or what is wrong.
pub(super) type Verdict = Result<CheckedProof, Invalid>;

/// Why a relay would refuse a message, by the stage that refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Invalid {
    /// The bytes are no message, or too many.
    #[error("not a WakuMessage: {0}")]
    Message(DecodeError),
    /// The proof field is absent or empty.
    #[error("no proof, on a network that demands one")]
    MissingProof,
    /// The proof field is no proof.
    #[error("{0}")]
    ProofEncoding(ProofDecodeError),
    /// One of the cheap checks failed.
    #[error("{0}")]
    Check(Rejection),
    /// The proof itself does not hold.
    #[error("{0}")]
    Snark(SnarkInvalid),
}

impl Invalid {
    /// Name of the stage, for machines.
    pub(super) fn stage(&self) -> &'static str {
        match self {
            Self::Message(_) => "message",
            Self::MissingProof => "missing-proof",
            Self::ProofEncoding(_) => "proof-encoding",
            Self::Check(_) => "check",
            Self::Snark(_) => "snark",
        }
    }

    /// What its author may want to know.
    pub(super) fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::MissingProof => Some("make a message with its proof: undertone rln prove"),
            Self::Check(Rejection::StaleTimestamp { .. } | Rejection::FutureTimestamp { .. }) => {
                Some("a message holds for seconds; --now-ns N judges it as of another moment")
            }
            Self::Check(Rejection::EpochMismatch { .. } | Rejection::SignalMismatch) => {
                Some("payload, content topic or timestamp are not those that the proof is for")
            }
            Self::Check(Rejection::UnknownRoot { .. }) => Some(
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

/// What a relay knows when it judges.
pub(super) struct Judge<'a> {
    /// What the network demands of a proof.
    pub(super) policy: Policy,
    /// The accepted membership roots.
    pub(super) roots: &'a RootWindow,
    /// Longest message of the network, bytes.
    pub(super) max_message_bytes: usize,
    /// Checks the proof itself.
    pub(super) verifier: Verifier,
    /// The relay's clock, Unix time in nanoseconds.
    pub(super) unix_now_ns: u64,
}

impl Judge<'_> {
    /// Judges an encoded message.
    pub(super) fn judge(&self, bytes: &Bytes) -> Verdict {
        let limits = Limits {
            max_message_bytes: self.max_message_bytes,
            ..Limits::default()
        };
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
