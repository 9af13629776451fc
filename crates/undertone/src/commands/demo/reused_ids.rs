//! Proofs of a spammer: a member that does not count its messages and reuses message ids.

use std::sync::{Arc, Mutex, PoisonError};

use undertone_membership::{MemberIndex, View};
use undertone_node::driver::ProofSource;
use undertone_relay::ProofFailure;
use undertone_rln::{
    Epoch, Fr, Generation, Identity, ProofRequest, Prover, RateLimitProof, RlnIdentifier,
};

/// Source of valid proofs that takes message ids in turn and reuses them past the limit.
pub(crate) struct ReusedIds {
    pub(crate) identity: Identity,
    pub(crate) index: MemberIndex,
    /// Registered limit of the member, messages per epoch.
    pub(crate) limit: u32,
    /// Number of proofs made so far.
    pub(crate) next: u32,
    pub(crate) generation: Generation,
    pub(crate) prover: Arc<Prover>,
    pub(crate) view: Arc<Mutex<dyn View>>,
}

impl ProofSource for ReusedIds {
    fn reuses_ids(&self) -> bool {
        true
    }

    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        let message_id = self.next % self.limit;
        self.next += 1;
        let path = {
            let view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
            view.path(self.index).ok_or(ProofFailure::Synchronizing)?
        };
        self.prover
            .prove(&ProofRequest {
                identity: &self.identity,
                limit: self.limit,
                path: &path,
                generation: self.generation,
                epoch,
                identifier: &RlnIdentifier::WAKU,
                message_id,
                x,
            })
            .map_err(|error| ProofFailure::Prover(Arc::new(error)))
    }
}
