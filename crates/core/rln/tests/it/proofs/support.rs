//! Small network shared by the tests of a binary: a tree with three members, a prover, a verifier, and
//! one honest message with its proof.

use std::sync::{Arc, OnceLock};

use undertone_rln::check::check;
use undertone_rln::*;

pub(crate) const LIMIT: u32 = 20;
pub(crate) const MEMBER: u32 = 5;
pub(crate) const NOW_NS: u64 = 1_700_000_000_000_000_000;
pub(crate) const EPOCH_SIZE_S: u64 = 600;
pub(crate) const TOPIC: &str = "/test/1/a/proto";

pub(crate) struct Network {
    pub(crate) identity: Identity,
    pub(crate) tree: MerkleTree,
    pub(crate) roots: RootWindow,
    pub(crate) prover: Prover,
    pub(crate) verifier: Verifier,
}

/// Reason for refusing a message, by the stage that refused it.
#[derive(Debug, PartialEq)]
pub(crate) enum Refused {
    Check(ProofRejection),
    Snark(SnarkInvalid),
}

pub(crate) fn network() -> &'static Network {
    static NETWORK: OnceLock<Network> = OnceLock::new();
    NETWORK.get_or_init(|| {
        let key = Key::load().unwrap();
        let identity = Identity::from_seed(b"member");
        let mut tree = MerkleTree::new();
        tree.set(
            0,
            rate_commitment(Identity::from_seed(b"other").commitment(), 1),
        )
        .unwrap();
        tree.set(MEMBER, rate_commitment(identity.commitment(), LIMIT))
            .unwrap();
        tree.set(
            6,
            rate_commitment(Identity::from_seed(b"third").commitment(), 7),
        )
        .unwrap();
        let mut roots = RootWindow::new(50);
        roots.push(tree.root());
        let verifier = Verifier::new(&key);
        Network {
            identity,
            tree,
            roots,
            prover: Prover::new(Arc::clone(&key)),
            verifier,
        }
    })
}

pub(crate) fn policy(generation: Generation) -> Policy {
    Policy {
        generation,
        identifier: RlnIdentifier::WAKU,
        epoch_size_s: EPOCH_SIZE_S,
        max_clock_gap_ns: 20_000_000_000,
    }
}

pub(crate) fn x_of(payload: &[u8]) -> Fr {
    signal_hash(payload, TOPIC, NOW_NS as i64)
}

/// Makes a proof for a message at `NOW_NS`.
pub(crate) fn prove(generation: Generation, payload: &[u8], message_id: u32) -> RateLimitProof {
    let network = network();
    let request = ProofRequest {
        identity: &network.identity,
        limit: LIMIT,
        path: &network.tree.path(MEMBER).unwrap(),
        generation,
        epoch: Epoch::at(NOW_NS, EPOCH_SIZE_S),
        identifier: &RlnIdentifier::WAKU,
        message_id,
        x: x_of(payload),
    };
    network.prover.prove(&request).unwrap()
}

/// Returns the honest proof for `b"hello"` with message id 3, made once.
pub(crate) fn honest() -> RateLimitProof {
    static PROOF: OnceLock<RateLimitProof> = OnceLock::new();
    PROOF
        .get_or_init(|| prove(Generation::Hashed, b"hello", 3))
        .clone()
}

/// Runs both stages of a receiver for a message with this payload.
pub(crate) fn receive(payload: &[u8], proof: &RateLimitProof) -> Result<CheckedProof, Refused> {
    let network = network();
    let policy = policy(Generation::Hashed);
    let timestamp_ns = NOW_NS as i64;
    let checked = check(
        &policy,
        &network.roots,
        NOW_NS,
        timestamp_ns,
        x_of(payload),
        proof,
    )
    .map_err(Refused::Check)?;
    network
        .verifier
        .verify(&checked.statement)
        .map_err(Refused::Snark)?;
    Ok(checked)
}
