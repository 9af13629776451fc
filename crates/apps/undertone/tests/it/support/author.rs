//! Author of messages with real proofs, without a node.

use undertone_message::WakuMessage;
use undertone_rln::{
    Epoch, Generation, Identity, Key, MerklePath, ProofRequest, Prover, RateLimitProof,
    RlnIdentifier, signal_hash,
};

pub(crate) const TOPIC: &str = "/test/1/a/proto";

/// A member that publishes what it is told, under any message id.
pub(crate) struct Author {
    pub(crate) identity: Identity,
    pub(crate) limit: u32,
    pub(crate) epoch_s: u64,
    prover: Prover,
}

impl Author {
    pub(crate) fn new(identity: Identity, limit: u32, epoch_s: u64) -> Self {
        Self {
            identity,
            limit,
            epoch_s,
            prover: Prover::new(Key::load().unwrap()),
        }
    }

    /// Makes a message with its proof, given the path of the author's leaf.
    pub(crate) fn message(
        &self,
        path: &MerklePath,
        payload: &str,
        at_ns: i64,
        message_id: u32,
    ) -> WakuMessage {
        let mut message = WakuMessage::new(payload.as_bytes().to_vec(), TOPIC);
        message.timestamp = Some(at_ns);
        let proof = self.prover.prove(&ProofRequest {
            identity: &self.identity,
            limit: self.limit,
            path,
            generation: Generation::Hashed,
            epoch: Epoch::at(at_ns.unsigned_abs(), self.epoch_s),
            identifier: &RlnIdentifier::WAKU,
            message_id,
            x: signal_hash(&message.payload, TOPIC, at_ns),
        });
        let proof: RateLimitProof = proof.unwrap();
        message.rate_limit_proof = Some(proof.encode().into());
        message
    }
}
