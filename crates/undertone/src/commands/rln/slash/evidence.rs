//! What messages show about the member that published them.
//!
//! Two messages with one message id reveal the member's secret. That does not show that it published more
//! than it may: the reference implementation starts its message ids again one epoch's length after the first
//! one was used, not when an epoch begins, and so may repeat ids within its limit.

use std::collections::{BTreeMap, BTreeSet};

use undertone_rln::poseidon::poseidon;
use undertone_rln::{Fr, RateLimitProof, fr_from_le, recover_secret};

/// A member, and how many messages of it in one epoch are at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    pub(super) secret: Fr,
    /// The most messages of an epoch that are its own.
    pub(super) messages: usize,
}

/// Why messages show nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Nothing {
    /// No two of them have one nullifier.
    #[error("no two of the messages have the same nullifier")]
    NoNullifierTwice,
    /// Those with one nullifier are the same message.
    #[error("the messages reveal nothing: those with one nullifier are the same")]
    Same,
}

/// What these messages' proofs show.
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

/// Whether the proof is one of the member with this secret: its nullifier is the hash of the slope of the
/// line from the secret to its point.
fn is_by(secret: Fr, proof: &RateLimitProof) -> bool {
    let Some((x, y)) = point(proof).filter(|(x, _)| *x != Fr::from(0)) else {
        return false;
    };
    let slope = (y - secret) / x;
    fr_from_le(&proof.nullifier) == Ok(poseidon(&[slope]))
}

/// The point of the member's line; `None` for what is no field element.
fn point(proof: &RateLimitProof) -> Option<(Fr, Fr)> {
    let element = |bytes| fr_from_le(bytes).ok();
    Some((element(&proof.share_x)?, element(&proof.share_y)?))
}

#[cfg(test)]
mod tests;
