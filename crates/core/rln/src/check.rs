//! The cheap checks of a received proof, in order. They precede the pairing check.

use crate::epoch::{Epoch, MalformedEpoch};
use crate::external::{ExternalNullifiers, Generation, RlnIdentifier};
use crate::field::{Fr, fr_from_le};
use crate::roots::RootWindow;
use crate::verifier::ProofStatement;
use crate::wire::{ProofField, RateLimitProof};

/// A network's requirements on a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Formula for external nullifiers.
    pub generation: Generation,
    /// The only application identifier that is accepted.
    pub identifier: RlnIdentifier,
    /// Length of an epoch in seconds; 0 is read as 1.
    pub epoch_size_s: u64,
    /// Largest accepted difference between a timestamp and our clock, in either direction.
    pub max_clock_gap_ns: u64,
}

/// A proof that passed the cheap checks; the snark itself is still unverified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedProof {
    /// Epoch of the message's timestamp.
    pub epoch: Epoch,
    /// Nullifier of the message, the key of the nullifier log.
    pub nullifier: Fr,
    /// Signal hash of the message.
    pub x: Fr,
    /// Value of the member's line at `x`.
    pub y: Fr,
    /// Statement to pass to [`crate::Verifier::verify`].
    pub statement: ProofStatement,
}

/// Reason for rejecting a proof; one variant for each check, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofRejection {
    /// The timestamp is before 1970.
    #[error("message timestamp {timestamp_ns} ns is before 1970")]
    NegativeTimestamp {
        /// Timestamp of the message, Unix nanoseconds.
        timestamp_ns: i64,
    },
    /// The timestamp is too far in the past.
    #[error(
        "message timestamp is {behind_ns} ns behind our clock, at most {max_clock_gap_ns} ns \
         are accepted"
    )]
    StaleTimestamp {
        /// Difference from our clock, nanoseconds.
        behind_ns: u64,
        /// Largest difference that the policy accepts, nanoseconds.
        max_clock_gap_ns: u64,
    },
    /// The timestamp is too far in the future.
    #[error(
        "message timestamp is {ahead_ns} ns ahead of our clock, at most {max_clock_gap_ns} ns \
         are accepted"
    )]
    FutureTimestamp {
        /// Difference from our clock, nanoseconds.
        ahead_ns: u64,
        /// Largest difference that the policy accepts, nanoseconds.
        max_clock_gap_ns: u64,
    },
    /// The epoch field is not a number.
    #[error("epoch of the proof: {0}")]
    MalformedEpoch(#[from] MalformedEpoch),
    /// The proof's epoch is not that of the timestamp.
    #[error("proof is for epoch {found}, the message's timestamp is in epoch {expected}")]
    EpochMismatch {
        /// Epoch of the message's timestamp.
        expected: Epoch,
        /// Epoch that the proof names.
        found: Epoch,
    },
    /// The proof is for another application. A member has a separate nullifier for each application, so
    /// accepting foreign proofs would circumvent the rate limit.
    #[error("rln_identifier of the proof is not this network's")]
    ForeignIdentifier,
    /// A field encodes a value of r or more, an alias of a smaller one.
    #[error("{0} of the proof is not a canonical field element")]
    NonCanonical(ProofField),
    /// `share_x` is not the hash of this message.
    #[error("share_x of the proof is not the hash of this message")]
    SignalMismatch,
    /// The root is not in the window of accepted roots.
    #[error("merkle_root of the proof is not among the {window_len} accepted roots")]
    UnknownRoot {
        /// Number of roots accepted at present; 0 means that no root has been learnt yet.
        window_len: usize,
    },
}

/// Checks everything about a proof except the nullifier log and the SNARK.
///
/// `x` is the signal hash recomputed from the message ([`crate::signal_hash`]). The order is: clock
/// gap, epoch, identifier, canonical root, share_x, share_y and nullifier, signal, root.
///
/// # Errors
/// Returns the [`ProofRejection`] of the first check that fails. All are the sender's fault, except that
/// [`ProofRejection::UnknownRoot`] and the timestamps may also mean that our own roots or clock are wrong.
pub fn check(
    policy: &Policy,
    roots: &RootWindow,
    unix_now_ns: u64,
    timestamp_ns: i64,
    x: Fr,
    proof: &RateLimitProof,
) -> Result<CheckedProof, ProofRejection> {
    let externals = ExternalNullifiers::new(policy.generation, policy.identifier);
    check_with(
        policy,
        &externals,
        roots,
        unix_now_ns,
        timestamp_ns,
        x,
        proof,
    )
}

/// As [`check`], but with cached external nullifiers, for callers that check many proofs.
///
/// `externals` must be of the policy's generation and identifier.
///
/// # Errors
/// As [`check`].
pub fn check_with(
    policy: &Policy,
    externals: &ExternalNullifiers,
    roots: &RootWindow,
    unix_now_ns: u64,
    timestamp_ns: i64,
    x: Fr,
    proof: &RateLimitProof,
) -> Result<CheckedProof, ProofRejection> {
    let checked = check_message(policy, externals, unix_now_ns, timestamp_ns, x, proof)?;
    if !roots.contains(&checked.statement.root) {
        return Err(ProofRejection::UnknownRoot {
            window_len: roots.len(),
        });
    }
    Ok(checked)
}

/// Checks everything about a proof except the root, the nullifier log and the SNARK, for past messages, whose
/// roots are not in a window. The order is that of [`check`].
///
/// `externals` must be of the policy's generation and identifier.
///
/// # Errors
/// As [`check`], except for the root.
pub fn check_message(
    policy: &Policy,
    externals: &ExternalNullifiers,
    unix_now_ns: u64,
    timestamp_ns: i64,
    x: Fr,
    proof: &RateLimitProof,
) -> Result<CheckedProof, ProofRejection> {
    let time_ns = within_gap(unix_now_ns, timestamp_ns, policy.max_clock_gap_ns)?;
    let expected = Epoch::at(time_ns, policy.epoch_size_s);
    let found = Epoch::from_bytes(&proof.epoch)?;
    if found != expected {
        return Err(ProofRejection::EpochMismatch { expected, found });
    }
    if proof.rln_identifier != policy.identifier.0 {
        return Err(ProofRejection::ForeignIdentifier);
    }
    let canonical =
        |field, bytes| fr_from_le(bytes).map_err(|_| ProofRejection::NonCanonical(field));
    let root = canonical(ProofField::MerkleRoot, &proof.merkle_root)?;
    let share_x = canonical(ProofField::ShareX, &proof.share_x)?;
    let y = canonical(ProofField::ShareY, &proof.share_y)?;
    let nullifier = canonical(ProofField::Nullifier, &proof.nullifier)?;
    if share_x != x {
        return Err(ProofRejection::SignalMismatch);
    }
    let external_nullifier = externals.get(expected);
    let proof = proof.proof;
    let statement = ProofStatement {
        proof,
        y,
        root,
        nullifier,
        x,
        external_nullifier,
    };
    Ok(CheckedProof {
        epoch: expected,
        nullifier,
        x,
        y,
        statement,
    })
}

/// Returns the timestamp as unsigned time if it is within the accepted gap of our clock.
fn within_gap(
    now_ns: u64,
    timestamp_ns: i64,
    max_clock_gap_ns: u64,
) -> Result<u64, ProofRejection> {
    let time_ns = u64::try_from(timestamp_ns)
        .map_err(|_| ProofRejection::NegativeTimestamp { timestamp_ns })?;
    let behind_ns = now_ns.saturating_sub(time_ns);
    let ahead_ns = time_ns.saturating_sub(now_ns);
    if behind_ns > max_clock_gap_ns {
        return Err(ProofRejection::StaleTimestamp {
            behind_ns,
            max_clock_gap_ns,
        });
    }
    if ahead_ns > max_clock_gap_ns {
        return Err(ProofRejection::FutureTimestamp {
            ahead_ns,
            max_clock_gap_ns,
        });
    }
    Ok(time_ns)
}

#[cfg(test)]
#[path = "tests/check.rs"]
mod tests;
