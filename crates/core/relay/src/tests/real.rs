//! Real members and proofs, with a key that is loaded once per process.

use std::sync::OnceLock;

use undertone_rln::{
    Epoch, Fr, Generation, Identity, Key, MerkleTree, ProofRequest, ProofStatement, Prover,
    RateLimitProof, RlnIdentifier, Verifier, rate_commitment,
};

/// Messages that each member may publish in an epoch.
pub(crate) const LIMIT: u32 = 20;

const MEMBERS: u32 = 5;

pub(crate) struct Rln {
    tree: MerkleTree,
    prover: Prover,
    verifier: Verifier,
}

pub(crate) fn identity(member: u32) -> Identity {
    Identity::from_seed(&member.to_le_bytes())
}

pub(crate) fn rln() -> &'static Rln {
    static RLN: OnceLock<Rln> = OnceLock::new();
    RLN.get_or_init(|| {
        let key = Key::load().unwrap();
        let mut tree = MerkleTree::new();
        for member in 0..MEMBERS {
            let leaf = rate_commitment(identity(member).commitment(), LIMIT);
            tree.set(member, leaf).unwrap();
        }
        Rln {
            tree,
            verifier: Verifier::new(&key),
            prover: Prover::new(key),
        }
    })
}

impl Rln {
    pub(crate) fn root(&self) -> Fr {
        self.tree.root()
    }

    pub(crate) fn holds(&self, statement: &ProofStatement) -> bool {
        self.verifier.verify(statement).is_ok()
    }

    pub(crate) fn prove(
        &self,
        member: u32,
        message_id: u32,
        epoch: Epoch,
        x: Fr,
    ) -> RateLimitProof {
        let request = ProofRequest {
            identity: &identity(member),
            limit: LIMIT,
            path: &self.tree.path(member).unwrap(),
            generation: Generation::Hashed,
            epoch,
            identifier: &RlnIdentifier::WAKU,
            message_id,
            x,
        };
        self.prover.prove(&request).unwrap()
    }
}
