//! A registered member with a message-id counter on disk.

use std::sync::Arc;

use undertone_membership::MemberIndex;
use undertone_relay::ProofFailure;
use undertone_rln::{
    CounterError, Epoch, Fr, Generation, Identity, MessageIdCounter, ProofRequest, Prover,
    RateLimitProof, RlnIdentifier, WallClock,
};

use super::membership_source::SharedView;
use super::rln::ProofSource;
use super::time::MemberClock;

/// The honest [`ProofSource`]: a registered member with a message-id counter on disk.
pub struct MemberProofs {
    /// Secret identity of the member.
    pub identity: Identity,
    /// Index of the member's leaf in the tree.
    pub index: MemberIndex,
    /// Registered rate limit of the member, messages per epoch.
    pub limit: u32,
    /// Generation of the external nullifier that the network uses.
    pub generation: Generation,
    /// Counter of message ids; each id is on disk before it is used.
    pub counter: MessageIdCounter,
    /// Clock that the counter checks epochs against.
    pub clock: MemberClock,
    /// Generator of RLN proofs.
    pub prover: Arc<Prover>,
    /// Membership tree that the proofs' paths are taken from.
    pub view: SharedView,
}

/// Skips the ids of an epoch, from the next one on, whose nullifiers are already used; returns their number.
pub(super) fn skip_taken(
    counter: &mut MessageIdCounter,
    clock: &WallClock,
    epoch: Epoch,
    nullifier_of: impl Fn(u32) -> Fr,
    is_taken: &mut dyn FnMut(Fr) -> bool,
) -> Result<u32, CounterError> {
    let mut skipped = 0;
    while is_taken(nullifier_of(counter.ready(epoch, clock)?)) {
        counter.next(epoch, clock)?;
        skipped += 1;
    }
    Ok(skipped)
}

/// Failure reported to the publisher when the counter gives no id.
pub(super) fn no_id(error: CounterError) -> ProofFailure {
    match error {
        CounterError::Exhausted { epoch, limit } => ProofFailure::Exhausted { limit, epoch },
        error => ProofFailure::Prover(Arc::new(error)),
    }
}

impl ProofSource for MemberProofs {
    fn prove(&mut self, epoch: Epoch, x: Fr) -> Result<RateLimitProof, ProofFailure> {
        let path = self.view.lock().path(self.index);
        let path = path.ok_or(ProofFailure::Synchronizing)?;
        let message_id = self.counter.next(epoch, &self.clock.now()).map_err(no_id)?;
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

    fn skip_taken(
        &mut self,
        epoch: Epoch,
        is_taken: &mut dyn FnMut(Fr) -> bool,
    ) -> Result<u32, ProofFailure> {
        let nullifier_of = self
            .identity
            .nullifiers(self.generation, epoch, &RlnIdentifier::WAKU);
        let clock = self.clock.now();
        skip_taken(&mut self.counter, &clock, epoch, nullifier_of, is_taken).map_err(no_id)
    }

    fn commitment(&self) -> Option<Fr> {
        Some(self.identity.commitment())
    }
}
