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

    /// Skips the message ids of `epoch`, from the next one on, whose nullifiers another node has already used. Returns
    /// the number of skipped ids.
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

    /// Returns the identity commitment of the prover if leaks of its secret are to be detected. It is compared with the
    /// commitment of each secret that two messages reveal.
    fn commitment(&self) -> Option<Fr> {
        None
    }

    /// Whether the source reuses message ids on purpose, like the laboratory's attackers.
    fn reuses_ids(&self) -> bool {
        false
    }

    /// Retries the disk write that failed for the last proof. Returns whether it still fails.
    fn is_refused_by_disk(&mut self) -> bool {
        false
    }

    /// Returns the monitor of the token pool behind this source, if there is one.
    fn tokens(&self) -> Option<PoolMonitor> {
        None
    }
}

/// Change of this node's membership since the last check.
#[non_exhaustive]
pub enum MembershipState {
    /// No known change.
    Unchanged,
    /// The node has become a member; from now on this source generates its proofs.
    Joined(Box<dyn ProofSource>),
    /// The node lost its membership or was moved to another leaf: drop its proof source and check again.
    Left,
    /// The dropped source is still shutting down: check again.
    Ending,
}

/// Checks this node's membership. Called on the membership thread after each registry change; may block.
pub type MembershipProbe = Box<dyn FnMut() -> MembershipState + Send>;
