use ark_bn254::{Fq2, G1Affine, G2Affine};
use ark_ec::AffineRepr;
use ark_serialize::CanonicalSerialize;

use super::*;

/// A statement whose points are all generators: well formed, but it proves nothing.
fn generators() -> ProofStatement {
    let mut proof = [0; PROOF_BYTES];
    G1Affine::generator()
        .serialize_compressed(&mut proof[..32])
        .unwrap();
    G2Affine::generator()
        .serialize_compressed(&mut proof[32..96])
        .unwrap();
    G1Affine::generator()
        .serialize_compressed(&mut proof[96..])
        .unwrap();
    let [y, root, nullifier, x, external_nullifier] = [1, 2, 3, 4, 5].map(Fr::from);
    ProofStatement {
        proof,
        y,
        root,
        nullifier,
        x,
        external_nullifier,
    }
}

fn verify(proof: [u8; PROOF_BYTES]) -> Result<(), SnarkInvalid> {
    Verifier::new(&Key::load().unwrap()).verify(&ProofStatement {
        proof,
        ..generators()
    })
}

const POINTS: [(ProofPoint, std::ops::Range<usize>); 3] = [
    (ProofPoint::A, 0..32),
    (ProofPoint::B, 32..96),
    (ProofPoint::C, 96..128),
];

#[test]
fn well_formed_points_are_not_a_proof() {
    assert_eq!(verify(generators().proof), Err(SnarkInvalid::Equation));
}

#[test]
fn coordinates_must_be_canonical() {
    for (which, range) in POINTS {
        let mut proof = generators().proof;
        // All bits except the two flags are set: far above the base field's modulus.
        proof[range.clone()].fill(0xff);
        proof[range.end - 1] = 0x3f;
        assert_eq!(verify(proof), Err(SnarkInvalid::MalformedPoint(which)));
    }
}

#[test]
fn infinity_is_refused() {
    for (which, range) in POINTS {
        let mut proof = generators().proof;
        proof[range.clone()].fill(0);
        proof[range.end - 1] = 0x40;
        assert_eq!(verify(proof), Err(SnarkInvalid::MalformedPoint(which)));
    }
}

#[test]
fn points_must_be_on_the_curve() {
    let off_curve = (1u8..)
        .find(|x| G1Affine::get_point_from_x_unchecked(ark_bn254::Fq::from(*x), false).is_none())
        .unwrap();
    for (which, range) in [(ProofPoint::A, 0..32), (ProofPoint::C, 96..128)] {
        let mut proof = generators().proof;
        proof[range.clone()].fill(0);
        proof[range.start] = off_curve;
        assert_eq!(verify(proof), Err(SnarkInvalid::MalformedPoint(which)));
    }
}

#[test]
fn the_g2_point_must_be_in_the_subgroup() {
    let outside = (1u64..)
        .filter_map(|x| G2Affine::get_point_from_x_unchecked(Fq2::from(x), false))
        .find(|point| !point.is_in_correct_subgroup_assuming_on_curve())
        .unwrap();
    assert!(outside.is_on_curve());
    let mut proof = generators().proof;
    outside.serialize_compressed(&mut proof[32..96]).unwrap();
    assert_eq!(
        verify(proof),
        Err(SnarkInvalid::MalformedPoint(ProofPoint::B))
    );
}

#[test]
fn verifiers_go_to_other_threads_and_are_cheap_to_clone() {
    fn assert_shareable<T: Send + Sync + Clone>() {}
    assert_shareable::<Verifier>();
    let verifier = Verifier::new(&Key::load().unwrap());
    assert!(Arc::ptr_eq(&verifier.prepared, &verifier.clone().prepared));
}
