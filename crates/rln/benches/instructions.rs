//! Fixed work of the verifier for `cargo xtask instructions`, which counts the instructions of the functions
//! named `measured_*`. Takes the name of the work; prints how many times it was done.

use std::hint::black_box;

use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use undertone_rln::{
    Epoch, Fr, Generation, Identity, Key, MerkleTree, MessageSlot, ProofStatement, Prover,
    RlnIdentifier, Verifier, external_nullifier, fr_from_le, rate_commitment,
};

const LIMIT: u32 = 1000;
const EPOCH: Epoch = Epoch(2_833_333);
/// More different proofs would only repeat the same work.
const DIFFERENT: u32 = 4;
/// Proofs of one measurement, and of a batch.
const PROOFS: usize = 32;

fn main() {
    let work = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
    let measured: fn(&Verifier, &[ProofStatement]) = match work.as_deref() {
        Some("verify") => measured_one_by_one,
        Some("verify-batch") => measured_batch,
        // A plain `cargo bench` starts every benchmark, this one without a name.
        _ => {
            println!("cargo xtask instructions runs this");
            return;
        }
    };
    let key = Key::load().expect("the vendored key");
    let verifier = Verifier::new(&key);
    let statements: Vec<_> = statements(Prover::new(key))
        .into_iter()
        .cycle()
        .take(PROOFS)
        .collect();
    measured(&verifier, &statements);
    println!("times: {PROOFS}");
}

/// Proofs that are decoded and checked one after the other.
#[inline(never)]
fn measured_one_by_one(verifier: &Verifier, statements: &[ProofStatement]) {
    for statement in statements {
        verifier
            .verify(black_box(statement))
            .expect("an honest proof");
    }
}

/// Proofs that are decoded and checked together.
#[inline(never)]
fn measured_batch(verifier: &Verifier, statements: &[ProofStatement]) {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let verdicts = verifier.verify_batch(black_box(statements), &mut rng);
    assert!(verdicts.iter().all(Result::is_ok), "honest proofs");
}

fn statements(prover: Prover) -> Vec<ProofStatement> {
    let identity = Identity::from_seed(b"instructions");
    let mut tree = MerkleTree::new();
    tree.set(7, rate_commitment(identity.commitment(), LIMIT))
        .expect("an index of the tree");
    let path = tree.path(7).expect("an index of the tree");
    let member = prover
        .member(&identity, LIMIT, &path)
        .expect("a valid limit");
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let statement = |message_id: u32| {
        let x = Fr::from(1_000_003 * message_id + 1);
        let slot = MessageSlot {
            generation: Generation::Hashed,
            epoch: EPOCH,
            identifier: &RlnIdentifier::WAKU,
            message_id,
        };
        let proof = member.prove(&slot, x, &mut rng).expect("an unused id");
        let element = |bytes| fr_from_le(bytes).expect("our own proof");
        ProofStatement {
            proof: proof.proof,
            y: element(&proof.share_y),
            root: tree.root(),
            nullifier: element(&proof.nullifier),
            x,
            external_nullifier: external_nullifier(Generation::Hashed, EPOCH, &RlnIdentifier::WAKU),
        }
    };
    (0..DIFFERENT).map(statement).collect()
}
