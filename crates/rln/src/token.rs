//! Single-use tokens: proofs of which only the signal is missing.
//!
//! A token turns a signal into a proof with a few curve operations. Turning two signals into
//! proofs with the token of one message id is what rate limiting punishes, by revealing the
//! secret. The types stand against it:
//!
//! * [`Member::prepare`](crate::Member::prepare) makes a [`PreparedToken`], which cannot sign.
//! * [`MessageIdCounter::reserve`](crate::MessageIdCounter::reserve) gives out each message id once
//!   as a [`Reserved`], after it is on the disk that the id is used up.
//! * [`PreparedToken::arm`] takes both by value and gives a [`Token`].
//! * [`Token::sign`] takes the token by value.
//!
//! None of the three can be copied or written out. Several prepared tokens of one message id may
//! exist, say when the tree's root has moved, but only one of them can ever be armed.
//!
//! What a token holds is as secret as the identity: with the proof made from it, it reveals the
//! secret. It is wiped from memory on drop.

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
use crate::prover::MessageSlot;
use crate::wire::RateLimitProof;

/// A token that has no message id yet, only the intention to use one.
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

/// A token whose message id is used up on disk: it may sign, once.
pub struct Token(PreparedToken);

/// The message id that was reserved is not the one that the token was prepared for.
#[derive(Debug, thiserror::Error)]
#[error(
    "a token for message id {of_token} of epoch {epoch_of_token} cannot use message id {reserved} \
     of epoch {epoch_reserved}; make a full proof with the reserved one"
)]
pub struct OtherMessageId {
    /// The token's epoch.
    pub epoch_of_token: Epoch,
    /// The token's id.
    pub of_token: u32,
    /// The reserved epoch.
    pub epoch_reserved: Epoch,
    /// The reserved id.
    pub reserved: u32,
    /// What was handed in, for another use.
    pub returned: Box<(PreparedToken, Reserved)>,
}

/// The parts of a proof by powers of the signal; see `docs/rln-fast-path.md`.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Secrets {
    /// A, B and C for x = 0.
    pub(crate) a: G1Projective,
    pub(crate) b: G2Projective,
    pub(crate) c: G1Projective,
    /// C's factor of x.
    pub(crate) linear: G1Projective,
    /// `y = intercept + slope x`; the intercept is the identity's secret.
    pub(crate) intercept: Fr,
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

    /// The epoch that it is for.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The message id that it is for.
    pub fn message_id(&self) -> u32 {
        self.message_id
    }

    /// The root that its proof will name.
    pub fn root(&self) -> Fr {
        self.root
    }

    /// How its network forms external nullifiers.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Makes it a token that can sign.
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
    /// The proof for the message with signal hash `x`.
    ///
    /// `A + x A'`, `B + x B'` and `C + x C' + x² C''`, where only C' is the token's own; the
    /// others are the circuit's points, of which all multiples are at hand.
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

    /// The epoch that it is for.
    pub fn epoch(&self) -> Epoch {
        self.0.epoch
    }

    /// The message id that it uses up.
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
mod tests;
