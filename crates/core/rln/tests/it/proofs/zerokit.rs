//! Proofs of this crate with zerokit's verifier, and zerokit's proofs with this crate's.

use crate::proofs::support::*;
use ark_bn254::Bn254;
use ark_groth16::Proof;
use ark_serialize::{CanonicalDeserialize, CanonicalSerialize};
use rln::prelude::{
    Hasher, PoseidonHash, RLNBuilder, RLNProofValues, RLNWitnessInput, SecretFr, hash_to_field_le,
};
use undertone_rln::*;
use zerokit_utils::merkle_tree::{OptimalMerkleTree, ZerokitMerkleTree};

/// Computes the external nullifier of nwaku >= 0.38 with zerokit's own functions.
fn zerokit_external_nullifier(epoch: Epoch) -> Fr {
    let epoch = hash_to_field_le(&epoch.to_bytes());
    Hasher::<PoseidonHash>::hash_pair(epoch, hash_to_field_le(&RlnIdentifier::WAKU.0))
}

#[test]
fn zerokit_verifies_our_wire_proofs() {
    let wire = RateLimitProof::decode(&honest().encode()).unwrap();
    let proof = Proof::<Bn254>::deserialize_compressed(wire.proof.as_slice()).unwrap();
    let epoch = Epoch::from_bytes(&wire.epoch).unwrap();
    let values = |y| {
        RLNProofValues::new_single()
            .y(y)
            .root(fr_from_le(&wire.merkle_root).unwrap())
            .nullifier(fr_from_le(&wire.nullifier).unwrap())
            .x(fr_from_le(&wire.share_x).unwrap())
            .external_nullifier(zerokit_external_nullifier(epoch))
            .build()
    };
    let zerokit = RLNBuilder::stateless().build();
    let x = hash_to_field_le(&[b"hello", TOPIC.as_bytes(), &NOW_NS.to_le_bytes()].concat());
    let roots = [network().tree.root()];
    let y = fr_from_le(&wire.share_y).unwrap();
    assert!(
        zerokit
            .verify_with_roots(&proof, &values(y), &x, &roots)
            .unwrap()
    );
    let wrong = values(y + Fr::from(1));
    assert!(
        !zerokit
            .verify_with_roots(&proof, &wrong, &x, &roots)
            .unwrap()
    );
}

#[test]
fn we_verify_zerokits_proofs() {
    let network = network();
    let mut tree = <OptimalMerkleTree<PoseidonHash> as ZerokitMerkleTree>::default(20).unwrap();
    for index in [0, MEMBER, 6] {
        tree.set(index as usize, network.tree.leaf(index).unwrap())
            .unwrap();
    }
    let epoch = Epoch::at(NOW_NS, EPOCH_SIZE_S);
    let mut secret = *network.identity.secret();
    let witness = RLNWitnessInput::new_single()
        .identity_secret(SecretFr::from(&mut secret))
        .user_message_limit(Fr::from(LIMIT))
        .merkle_proof(&tree.proof(MEMBER as usize).unwrap())
        .x(hash_to_field_le(
            &[b"hello", TOPIC.as_bytes(), &NOW_NS.to_le_bytes()].concat(),
        ))
        .external_nullifier(zerokit_external_nullifier(epoch))
        .message_id(Fr::from(3))
        .build()
        .unwrap();
    let (proof, values) = RLNBuilder::stateless()
        .build()
        .generate_proof(&witness)
        .unwrap();
    let mut wire = RateLimitProof {
        proof: [0; 128],
        merkle_root: fr_to_le(&values.root()),
        epoch: epoch.to_bytes(),
        share_x: fr_to_le(&values.x()),
        share_y: fr_to_le(&values.y().unwrap()),
        nullifier: fr_to_le(&values.nullifier().unwrap()),
        rln_identifier: RlnIdentifier::WAKU.0,
    };
    proof
        .serialize_compressed(wire.proof.as_mut_slice())
        .unwrap();
    assert!(receive(b"hello", &wire).is_ok());
    let ours = honest();
    assert_eq!(wire.nullifier, ours.nullifier);
    assert_eq!(wire.share_y, ours.share_y);
    assert_ne!(wire.proof, ours.proof, "proofs are randomised");
}
