//! Single-use tokens: proofs that are complete except for the signal.
//!
//! A token turns a signal into a proof with a few curve operations. Signing two signals with tokens of
//! one message id exceeds the rate limit and reveals the secret. The types prevent this:
//!
//! * [`Member::prepare`](crate::Member::prepare) makes a [`PreparedToken`], which cannot sign.
//! * [`MessageIdCounter::reserve`](crate::MessageIdCounter::reserve) gives out each message id once
//!   as a [`Reserved`], after the disk records the id as used.
//! * [`PreparedToken::arm`] takes both by value and returns a [`Token`].
//! * [`Token::sign`] takes the token by value.
//!
//! None of the three types can be copied or serialised. Several prepared tokens of one message id may
//! exist, for example after the tree's root has changed, but only one of them can ever be armed.
//!
//! A token is as secret as the identity, because it contains the identity's secret. It is wiped from
//! memory on drop.

use std::fmt;
use std::sync::Arc;

use ark_bn254::{G1Projective, G2Projective};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::counter::Reserved;
use crate::engine::Engine;
use crate::epoch::Epoch;
use crate::external::{Generation, RlnIdentifier};
use crate::field::{Fr, fr_to_le};
use crate::member::compress;
use crate::proof_request::MessageSlot;
use crate::wire::RateLimitProof;

/// A token prepared for a message id that is not yet reserved; it cannot sign.
pub struct PreparedToken {
    engine: Arc<Engine>,
    generation: Generation,
    epoch: Epoch,
    identifier: RlnIdentifier,
    message_id: u32,
    root: Fr,
    nullifier: Fr,
    secrets: Secrets,
}

/// A token whose message id is recorded on disk as used: it may sign once.
pub struct Token(PreparedToken);

/// Error for a reserved message id that differs from the one the token was prepared for.
#[derive(Debug, thiserror::Error)]
#[error(
    "a token for message id {of_token} of epoch {epoch_of_token} cannot use message id {reserved} \
     of epoch {epoch_reserved}; make a full proof with the reserved one"
)]
pub struct OtherMessageId {
    /// Epoch of the token.
    pub epoch_of_token: Epoch,
    /// Message id of the token.
    pub of_token: u32,
    /// Epoch of the reserved id.
    pub epoch_reserved: Epoch,
    /// Message id that was reserved.
    pub reserved: u32,
    /// The token and the reserved id, returned for another use.
    pub returned: Box<(PreparedToken, Reserved)>,
}

/// Coefficients of a proof by powers of the signal; see `docs/design/rln-fast-path.md`.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Secrets {
    /// Point A for x = 0.
    pub(crate) a: G1Projective,
    /// Point B for x = 0.
    pub(crate) b: G2Projective,
    /// Point C for x = 0.
    pub(crate) c: G1Projective,
    /// Coefficient of x in C.
    pub(crate) linear: G1Projective,
    /// Constant of the line `y = intercept + slope x`, which is the identity's secret.
    pub(crate) intercept: Fr,
    /// Slope of the line, a1.
    pub(crate) slope: Fr,
}

impl PreparedToken {
    pub(crate) fn new(
        engine: &Arc<Engine>,
        slot: &MessageSlot<'_>,
        root: Fr,
        nullifier: Fr,
        secrets: Secrets,
    ) -> Self {
        Self {
            engine: Arc::clone(engine),
            generation: slot.generation,
            epoch: slot.epoch,
            identifier: *slot.identifier,
            message_id: slot.message_id,
            root,
            nullifier,
            secrets,
        }
    }

    /// Epoch for which the token was prepared.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Message id for which the token was prepared.
    pub fn message_id(&self) -> u32 {
        self.message_id
    }

    /// Merkle root that the proof will name.
    pub fn root(&self) -> Fr {
        self.root
    }

    /// The network's formula for external nullifiers.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Turns the prepared token into one that can sign.
    ///
    /// # Errors
    /// [`OtherMessageId`] when the reserved id or its epoch is not this token's.
    pub fn arm(self, reserved: Reserved) -> Result<Token, OtherMessageId> {
        if (reserved.epoch(), reserved.message_id()) == (self.epoch, self.message_id) {
            return Ok(Token(self));
        }
        Err(OtherMessageId {
            epoch_of_token: self.epoch,
            of_token: self.message_id,
            epoch_reserved: reserved.epoch(),
            reserved: reserved.message_id(),
            returned: Box::new((self, reserved)),
        })
    }
}

impl Token {
    /// Makes the proof for the message with signal hash `x`.
    ///
    /// The points are `A + x A'`, `B + x B'` and `C + x C' + x² C''`. Of the coefficients only C' is
    /// specific to the token; the others are combinations of the circuit's points, whose multiples
    /// are precomputed.
    pub fn sign(self, x: Fr) -> RateLimitProof {
        let PreparedToken {
            engine,
            epoch,
            identifier,
            root,
            nullifier,
            secrets,
            ..
        } = &self.0;
        let signal = &engine.signal;
        let sloped = x * secrets.slope;
        let (mut a, mut b) = (secrets.a, secrets.b);
        signal.a_x.add_to(&mut a, x);
        signal.a_y.add_to(&mut a, sloped);
        signal.b_x.add_to(&mut b, x);
        let mut c = secrets.c + secrets.linear * x;
        signal.square_x.add_to(&mut c, x * x);
        signal.square_y.add_to(&mut c, x * sloped);
        RateLimitProof {
            proof: compress(a, b, c),
            merkle_root: fr_to_le(root),
            epoch: epoch.to_bytes(),
            share_x: fr_to_le(&x),
            share_y: fr_to_le(&(secrets.intercept + sloped)),
            nullifier: fr_to_le(nullifier),
            rln_identifier: identifier.0,
        }
    }

    /// Epoch to which the token's message id belongs.
    pub fn epoch(&self) -> Epoch {
        self.0.epoch
    }

    /// Message id that the proof uses.
    pub fn message_id(&self) -> u32 {
        self.0.message_id
    }
}

impl fmt::Debug for PreparedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedToken")
            .field("epoch", &self.epoch)
            .field("message_id", &self.message_id)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token")
            .field("epoch", &self.0.epoch)
            .field("message_id", &self.0.message_id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "tests/token.rs"]
mod tests;
