use super::*;

fn wire() -> RateLimitProof {
    RateLimitProof {
        proof: [1; 128],
        merkle_root: [2; 32],
        epoch: Epoch(7).to_bytes(),
        share_x: [3; 32],
        share_y: [4; 32],
        nullifier: [5; 32],
        rln_identifier: RlnIdentifier::WAKU.0,
    }
}

#[test]
fn a_message_proof_comes_back_as_it_went() {
    let proof = ModuleProof::from_wire(&wire()).unwrap();
    assert_eq!(proof.to_wire(&RlnIdentifier::WAKU), wire());
    let expected = external_nullifier(Generation::Hashed, Epoch(7), &RlnIdentifier::WAKU);
    assert_eq!(proof.external_nullifier, fr_to_le(&expected));
    // By the fields' order and widths of the specification.
    let fields: [(&[u8], u8, usize); 5] = [
        (&proof.proof, 1, 128),
        (&proof.root, 2, 32),
        (&proof.share_x, 3, 32),
        (&proof.share_y, 4, 32),
        (&proof.nullifier, 5, 32),
    ];
    for (field, value, length) in fields {
        assert_eq!(field, vec![value; length]);
    }
}

#[test]
fn an_epoch_that_is_no_number_has_no_external_nullifier() {
    let mut wire = wire();
    wire.epoch[31] = 1;
    assert!(ModuleProof::from_wire(&wire).is_err());
}
