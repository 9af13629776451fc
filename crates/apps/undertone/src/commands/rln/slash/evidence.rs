//! Evidence of a rate-limit violation in the messages of one member.
//!
//! Two messages with the same message id reveal the member's secret, but do not show that the member exceeded
//! its limit. The reference implementation restarts its message ids one epoch's length after the first id was
//! used, not at the start of an epoch, and so may repeat ids within its limit.

use std::collections::{BTreeMap, BTreeSet};

use undertone_rln::poseidon::poseidon;
use undertone_rln::{Fr, RateLimitProof, fr_from_le, recover_secret};

/// Secret of a member, and the number of its messages in one epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    pub(super) secret: Fr,
    /// Maximum number of the member's messages in any one epoch.
    pub(super) messages: usize,
}

/// Reason why messages reveal no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Nothing {
    /// No two messages share a nullifier.
    #[error("no two of the messages have the same nullifier")]
    NoNullifierTwice,
    /// All messages that share a nullifier are the same message.
    #[error("the messages reveal nothing: those with one nullifier are the same")]
    Same,
}

/// Recovers a member's secret from the proofs of its messages, and counts the messages.
///
/// # Errors
/// [`Nothing`] if no two different messages share a nullifier.
pub(super) fn evidence(proofs: &[RateLimitProof]) -> Result<Evidence, Nothing> {
    let mut points: BTreeMap<_, Vec<(Fr, Fr)>> = BTreeMap::new();
    for proof in proofs {
        let point = point(proof);
        let name = (proof.epoch, proof.nullifier);
        points.entry(name).or_default().extend(point);
    }
    let pairs = points.values().filter(|points| points.len() > 1);
    let mut pairs = pairs.peekable();
    if pairs.peek().is_none() {
        return Err(Nothing::NoNullifierTwice);
    }
    let secret = pairs
        .flat_map(|points| points[1..].iter().map(move |other| (points[0], *other)))
        .find_map(|(one, other)| recover_secret(one, other))
        .ok_or(Nothing::Same)?;
    let mut epochs: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for proof in proofs.iter().filter(|proof| is_by(secret, proof)) {
        epochs.entry(proof.epoch).or_default().insert(proof.share_x);
    }
    let messages = epochs.values().map(BTreeSet::len).max().unwrap_or(0);
    Ok(Evidence { secret, messages })
}

/// Whether the proof was made by the member with this secret. If so, its nullifier is the hash of the slope
/// of the line through the secret and the proof's point.
fn is_by(secret: Fr, proof: &RateLimitProof) -> bool {
    let Some((x, y)) = point(proof).filter(|(x, _)| *x != Fr::from(0)) else {
        return false;
    };
    let slope = (y - secret) / x;
    fr_from_le(&proof.nullifier) == Ok(poseidon(&[slope]))
}

/// Returns the proof's point on the member's line; `None` if a coordinate is not a field element.
fn point(proof: &RateLimitProof) -> Option<(Fr, Fr)> {
    let element = |bytes| fr_from_le(bytes).ok();
    Some((element(&proof.share_x)?, element(&proof.share_y)?))
}

#[cfg(test)]
#[path = "tests/evidence.rs"]
mod tests;
