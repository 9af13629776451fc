//! Verdicts on past messages.

use std::fmt;

use undertone_message::MessageHash;
use undertone_rln::{Epoch, ProofRejection, RecoveredSecret};

use crate::rejection::Rejection;

const NS_PER_S: u64 = 1_000_000_000;

/// Verdict on a past message; its text names the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistoryVerdict {
    /// The proof is valid, and its root was accepted at the time of the message.
    Valid {
        /// Epoch in which the message was published.
        epoch: Epoch,
        /// Time since a newer root had replaced that of the proof, nanoseconds; `None` if it was the newest.
        replaced_for_ns: Option<u64>,
    },
    /// The message does not have the hash that the store states.
    WrongHash,
    /// A relay would have refused the message at any time.
    Rejected(Rejection),
    /// The registry never had the root of the proof.
    UnknownRoot,
    /// The registry got the root of the proof only after the time of the message.
    EarlyRoot {
        /// Time at which the registry first had the root, Unix nanoseconds.
        since_ns: u64,
    },
    /// Relays no longer accepted the root of the proof at the time of the message.
    ExpiredRoot {
        /// Time until which the root was accepted, Unix nanoseconds.
        until_ns: u64,
    },
    /// An earlier message has the same content and proof under another hash: in one of them, the topic or
    /// metadata, which the proof does not cover, was changed.
    Repeated {
        /// The earlier message.
        first: MessageHash,
    },
    /// An earlier message of the epoch has the same nullifier: the member exceeded its rate limit.
    DoubleSignal {
        /// The earlier message.
        first: MessageHash,
        /// Secret of the member, which the two messages reveal.
        secret: RecoveredSecret,
    },
}

impl fmt::Display for HistoryVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valid { .. } => f.write_str("published by a member within its rate limit"),
            Self::WrongHash => f.write_str("the hash is not that of topic and message"),
            Self::Rejected(Rejection::Proof(why)) => why.fmt(f),
            Self::Rejected(rejection) => rejection.fmt(f),
            Self::UnknownRoot => f.write_str("the root of the proof was never the registry's"),
            Self::EarlyRoot { since_ns } => write!(
                f,
                "the root of the proof is of a later membership: the registry has it since Unix time {}",
                seconds(*since_ns)
            ),
            Self::ExpiredRoot { until_ns } => write!(
                f,
                "the root of the proof is of an earlier membership: it was accepted until Unix time {}",
                seconds(*until_ns)
            ),
            Self::Repeated { first } => {
                write!(
                    f,
                    "the same as {first}, on another topic or with other metadata"
                )
            }
            Self::DoubleSignal { first, .. } => write!(
                f,
                "more messages than the member's limit: the nullifier is that of {first}"
            ),
        }
    }
}

/// Formats a time in seconds with milliseconds.
fn seconds(unix_ns: u64) -> String {
    format!(
        "{}.{:03} s",
        unix_ns / NS_PER_S,
        unix_ns % NS_PER_S / 1_000_000
    )
}

impl HistoryVerdict {
    /// All names that [`Self::label`] returns, the valid one first.
    pub const LABELS: [&'static str; 17] = [
        "valid",
        "wrong_hash",
        "too_large",
        "wrong_shard",
        "other_shard",
        "missing_proof",
        "malformed_proof",
        "wrong_timestamp",
        "wrong_epoch",
        "foreign_identifier",
        "signal_mismatch",
        "unknown_root",
        "early_root",
        "expired_root",
        "bad_proof",
        "repeated",
        "double_signal",
    ];

    /// Whether the message was published by a member within its rate limit.
    pub fn is_valid(&self) -> bool {
        matches!(self, Self::Valid { .. })
    }

    /// Machine-readable name of the verdict, for programs and tables; one of [`Self::LABELS`].
    pub fn label(&self) -> &'static str {
        match self {
            Self::Valid { .. } => "valid",
            Self::WrongHash => "wrong_hash",
            Self::UnknownRoot => "unknown_root",
            Self::EarlyRoot { .. } => "early_root",
            Self::ExpiredRoot { .. } => "expired_root",
            Self::Repeated { .. } => "repeated",
            Self::DoubleSignal { .. } => "double_signal",
            Self::Rejected(rejection) => match rejection {
                Rejection::Proof(why) => match why {
                    ProofRejection::NegativeTimestamp { .. }
                    | ProofRejection::StaleTimestamp { .. }
                    | ProofRejection::FutureTimestamp { .. } => "wrong_timestamp",
                    ProofRejection::MalformedEpoch(_) | ProofRejection::EpochMismatch { .. } => {
                        "wrong_epoch"
                    }
                    ProofRejection::NonCanonical(_) => "malformed_proof",
                    ProofRejection::UnknownRoot { .. } => "unknown_root",
                    ProofRejection::ForeignIdentifier | ProofRejection::SignalMismatch => {
                        rejection.label()
                    }
                },
                Rejection::Snark => "bad_proof",
                rejection => rejection.label(),
            },
        }
    }
}
