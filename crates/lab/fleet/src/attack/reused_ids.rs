//! Proofs of a spammer: a member that does not count its messages and reuses message ids.

use std::sync::Arc;

use undertone_node::driver::ProofSource;
use undertone_relay::ProofFailure;
use undertone_rln::{Epoch, Fr, ProofRequest, RateLimitProof, RlnIdentifier};

use crate::credentials::Credentials;

/// Source of valid proofs that uses message ids in turn and reuses them past the limit.
pub(crate) struct ReusedIds {
    member: Credentials,
    /// Number of proofs made so far.
    made: u32,
}

impl ReusedIds {
    /// Makes a source of this member's proofs.
    pub(crate) fn new(member: Credentials) -> Self {
        Self { member, made: 0 }
    }
}

impl ProofSource for ReusedIds {
    fn reuses_ids(&self) -> bool {
        true
    }

    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        let message_id = self.made % self.member.limit;
        self.made += 1;
        let path = self.member.path().ok_or(ProofFailure::Synchronizing)?;
        self.member
            .prover
            .prove(&ProofRequest {
                identity: &self.member.identity,
                limit: self.member.limit,
                path: &path,
                generation: self.member.generation,
                epoch,
                identifier: &RlnIdentifier::WAKU,
                message_id,
                x,
            })
            .map_err(|error| ProofFailure::Prover(Arc::new(error)))
    }
}
