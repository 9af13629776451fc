//! Random members, paths, limits, epochs, ids and signals: zerokit accepts each proof of this crate,
//! this crate accepts each of zerokit's, and both refuse every mutated one.
//!
//! A few cases run each time. The campaign runs the requested number of cases, 200 by default:
//!
//! ```text
//! UNDERTONE_PROOF_CASES=2000 cargo xtask campaign --only random-proofs
//! ```

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::time::UNIX_EPOCH;

use ark_bn254::Bn254;
use ark_groth16::Proof;
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};
use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};
use rln::circuit::ArkGroth16Backend;
use rln::prelude::{
    Hasher, PoseidonHash, RLN, RLNBuilder, RLNProofValues, RLNWitnessInput, SecretFr, Stateless,
    hash_to_field_le,
};
use undertone_rln::*;
use zerokit_utils::merkle_tree::{OptimalMerkleTree, ZerokitMerkleTree};

const CASES: &str = "UNDERTONE_PROOF_CASES";
const SEED: &str = "UNDERTONE_PROOF_SEED";

type Zerokit = RLN<Stateless, ArkGroth16Backend<PoseidonHash>>;

struct Both {
    zerokit: Zerokit,
    prover: Prover,
    verifier: Verifier,
}

#[test]
fn a_few_random_proofs() {
    run(6);
}

#[test]
#[ignore = "takes minutes; cargo xtask campaign --only random-proofs"]
fn campaign_of_random_proofs() {
    let cases = std::env::var(CASES).map_or(200, |cases| cases.parse().expect("a number"));
    run(cases);
}

fn run(cases: u64) {
    let first = match std::env::var(SEED) {
        Ok(seed) => seed.parse().expect("the seed is a number"),
        Err(_) => UNIX_EPOCH.elapsed().map_or(0, |age| age.as_nanos() as u64),
    };
    let key = Key::load().unwrap();
    let both = Both {
        zerokit: RLNBuilder::stateless().build(),
        verifier: Verifier::new(&key),
        prover: Prover::new(key),
    };
    for seed in (first..).take(cases as usize) {
        println!("replay with {SEED}={seed}");
        one(&both, &mut ChaCha20Rng::seed_from_u64(seed));
    }
}

/// Runs all checks for one random member and message.
fn one(both: &Both, rng: &mut ChaCha20Rng) {
    let identity = Identity::generate(rng);
    let limit = 1 + rng.next_u32() % [1, 20, 65_535][rng.next_u32() as usize % 3];
    let message_id = rng.next_u32() % limit.min(30);
    let x = hash_to_field(&[&rng.next_u64().to_le_bytes()]);
    // Epochs of one second below 2^34, nearly as late as 64 bits of nanoseconds can express.
    let epoch = Epoch((rng.next_u64() >> 30) >> (rng.next_u32() % 34));
    let index = rng.next_u32() % tree::CAPACITY;
    let mut leaves = vec![(index, rate_commitment(identity.commitment(), limit))];
    for _ in 0..rng.next_u32() % 4 {
        let other = (index ^ (1 << (rng.next_u32() % 20))) ^ (rng.next_u32() % 2);
        leaves.extend((other != index).then(|| (other, Fr::from(rng.next_u64()))));
    }
    let mut ours = MerkleTree::new();
    let mut theirs = <OptimalMerkleTree<PoseidonHash> as ZerokitMerkleTree>::default(20).unwrap();
    for (index, leaf) in &leaves {
        ours.set(*index, *leaf).unwrap();
        theirs.set(*index as usize, *leaf).unwrap();
    }
    let slot = MessageSlot {
        generation: Generation::Hashed,
        epoch,
        identifier: &RlnIdentifier::WAKU,
        message_id,
    };
    let external = Hasher::<PoseidonHash>::hash_pair(
        hash_to_field_le(&epoch.to_bytes()),
        hash_to_field_le(&RlnIdentifier::WAKU.0),
    );

    let member = both
        .prover
        .member(&identity, limit, &ours.path(index).unwrap())
        .unwrap();
    let full = statement(&member.prove(&slot, x, rng).unwrap(), external);
    let folder = tempfile::tempdir().unwrap();
    let mut counter = MessageIdCounter::open(folder.path().join("ids"), limit).unwrap();
    let reserved = (0..=message_id)
        .map(|_| {
            counter
                .reserve(epoch, &WallClock::stopped_in(epoch))
                .unwrap()
        })
        .last()
        .unwrap();
    let token = member.prepare(&slot, rng).unwrap().arm(reserved).unwrap();
    let signed = statement(&token.sign(x), external);

    let mut secret = *identity.secret();
    let witness = RLNWitnessInput::new_single()
        .identity_secret(SecretFr::from(&mut secret))
        .user_message_limit(Fr::from(limit))
        .merkle_proof(&theirs.proof(index as usize).unwrap())
        .x(x)
        .external_nullifier(external)
        .message_id(Fr::from(message_id))
        .build()
        .unwrap();
    let (proof, values) = both.zerokit.generate_proof(&witness).unwrap();
    let mut bytes = [0; 128];
    proof.serialize_compressed(bytes.as_mut_slice()).unwrap();
    let zerokits = ProofStatement {
        proof: bytes,
        y: values.y().unwrap(),
        root: values.root(),
        nullifier: values.nullifier().unwrap(),
        x: values.x(),
        external_nullifier: values.external_nullifier(),
    };

    for honest in [&full, &signed, &zerokits] {
        assert_eq!((honest.root, honest.y), (ours.root(), zerokits.y));
        assert_eq!(honest.nullifier, zerokits.nullifier);
        assert_eq!(both.verifier.verify(honest), Ok(()));
        assert!(zerokit_accepts(&both.zerokit, honest));
    }
    for changed in mutations(&signed, rng) {
        assert!(
            both.verifier.verify(&changed).is_err(),
            "we accept {changed:?}"
        );
        let theirs = zerokit_accepts(&both.zerokit, &changed);
        assert!(!theirs, "zerokit accepts {changed:?}");
    }
}

fn statement(proof: &RateLimitProof, external_nullifier: Fr) -> ProofStatement {
    ProofStatement {
        proof: proof.proof,
        y: fr_from_le(&proof.share_y).unwrap(),
        root: fr_from_le(&proof.merkle_root).unwrap(),
        nullifier: fr_from_le(&proof.nullifier).unwrap(),
        x: fr_from_le(&proof.share_x).unwrap(),
        external_nullifier,
    }
}

/// Returns the statement with each public value and some proof bits changed, one at a time.
fn mutations(honest: &ProofStatement, rng: &mut ChaCha20Rng) -> Vec<ProofStatement> {
    let by = Fr::from(1 + rng.next_u64() / 2);
    let mut all = vec![honest.clone(); 5];
    all[0].y += by;
    all[1].root += by;
    all[2].nullifier += by;
    all[3].x += by;
    all[4].external_nullifier += by;
    for _ in 0..12 {
        let mut changed = honest.clone();
        let bit = rng.next_u32() as usize % (8 * changed.proof.len());
        changed.proof[bit / 8] ^= 1 << (bit % 8);
        all.push(changed);
    }
    all
}

/// Returns zerokit's verdict, with its own decoding and its own verifier.
fn zerokit_accepts(zerokit: &Zerokit, statement: &ProofStatement) -> bool {
    let Ok(proof) = Proof::<Bn254>::deserialize_compressed(statement.proof.as_slice()) else {
        return false;
    };
    let values = RLNProofValues::new_single()
        .y(statement.y)
        .root(statement.root)
        .nullifier(statement.nullifier)
        .x(statement.x)
        .external_nullifier(statement.external_nullifier)
        .build();
    zerokit.verify(&proof, &values).is_ok_and(|holds| holds)
}
