//! Source of the node's own proofs, and what it depends on: the node's membership.

use undertone_relay::ProofFailure;
use undertone_rln::{Epoch, Fr, RateLimitProof};

use crate::driver::tokens::pool::PoolMonitor;

/// Generates proofs for the node's own messages. Runs on its own thread and may block.
pub trait ProofSource: Send {
    /// Returns a proof for the message with signal hash `x` in `epoch`.
    ///
    /// # Errors
    /// [`ProofFailure`] is passed on to the publisher.
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure>;

    /// Uses up the message ids of `epoch`, from the next one on, whose nullifiers are taken because another
    /// node has used them. Returns their number.
    ///
    /// # Errors
    /// [`ProofFailure`] is passed on to the publisher, for example when no id is left.
    fn skip_taken(
        &mut self,
        epoch: Epoch,
        is_taken: &mut dyn FnMut(Fr) -> bool,
    ) -> Result<u32, ProofFailure> {
        let _ = (epoch, is_taken);
        Ok(0)
    }

    /// Identity commitment of the prover, if leaks of its secret are to be detected: it is compared with the
    /// commitment of each secret that two messages reveal.
    fn commitment(&self) -> Option<Fr> {
        None
    }

    /// Whether the source reuses message ids on purpose, as an attacker of the laboratory does.
    fn reuses_ids(&self) -> bool {
        false
    }

    /// Tries again what the disk refused when the last proof was made. Returns whether it still does.
    fn is_refused_by_disk(&mut self) -> bool {
        false
    }

    /// Monitor of the token pool behind this source, if there is one.
    fn tokens(&self) -> Option<PoolMonitor> {
        None
    }
}

/// Change of this node's membership since the last check.
#[non_exhaustive]
pub enum MembershipState {
    /// No change, as far as is known.
    Unchanged,
    /// The node has become a member; from now on this source makes its proofs.
    Joined(Box<dyn ProofSource>),
    /// The node lost its membership or was moved to another leaf: drop its source of proofs and check again.
    Left,
    /// The dropped source has not ended yet: check again.
    Ending,
}

/// Checks this node's membership. Called on the membership thread after each registry change; may block.
pub type MembershipProbe = Box<dyn FnMut() -> MembershipState + Send>;
