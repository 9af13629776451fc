//! Receiving: honest proofs pass, and each way of tampering fails for its own reason.

use crate::proofs::support::*;
use proptest::prelude::*;
use undertone_rln::check::check;
use undertone_rln::*;

#[test]
fn an_honest_proof_passes_over_the_wire() {
    let bytes = honest().encode();
    let proof = RateLimitProof::decode(&bytes).unwrap();
    let checked = receive(b"hello", &proof).unwrap();
    assert_eq!(checked.epoch, Epoch(2_833_333));
    assert_eq!(checked.x, x_of(b"hello"));
}

#[test]
fn the_public_values_follow_the_definitions() {
    let network = network();
    let checked = receive(b"hello", &honest()).unwrap();
    let secret = *network.identity.secret();
    let external = external_nullifier(Generation::Hashed, checked.epoch, &RlnIdentifier::WAKU);
    let slope = poseidon::poseidon(&[secret, external, Fr::from(3)]);
    assert_eq!(checked.y, secret + slope * checked.x);
    assert_eq!(checked.nullifier, poseidon::poseidon(&[slope]));
    assert_eq!(checked.statement.root, network.tree.root());
}

#[test]
fn direct_generation_proofs_verify_among_themselves_only() {
    let network = network();
    let proof = prove(Generation::Direct, b"hello", 3);
    let run = |generation| {
        let now = NOW_NS as i64;
        let policy = policy(generation);
        let checked = check(&policy, &network.roots, NOW_NS, now, x_of(b"hello"), &proof).unwrap();
        network.verifier.verify(&checked.statement)
    };
    assert_eq!(run(Generation::Direct), Ok(()));
    assert_eq!(run(Generation::Hashed), Err(SnarkInvalid::Equation));
}

#[test]
fn a_proof_replayed_with_another_payload_is_refused() {
    let replayed = receive(b"hallo", &honest());
    assert_eq!(
        replayed,
        Err(Refused::Check(ProofRejection::SignalMismatch))
    );
    let adjusted = RateLimitProof {
        share_x: fr_to_le(&x_of(b"hallo")),
        ..honest()
    };
    assert_eq!(
        receive(b"hallo", &adjusted),
        Err(Refused::Snark(SnarkInvalid::Equation))
    );
}

#[test]
fn each_public_value_is_bound_by_the_proof() {
    let checked = receive(b"hello", &honest()).unwrap();
    let verifier = &network().verifier;
    let good = checked.statement;
    assert_eq!(verifier.verify(&good), Ok(()));
    let one = Fr::from(1);
    let tampered = [
        ProofStatement {
            y: good.y + one,
            ..good.clone()
        },
        ProofStatement {
            root: good.root + one,
            ..good.clone()
        },
        ProofStatement {
            nullifier: good.nullifier + one,
            ..good.clone()
        },
        ProofStatement {
            x: good.x + one,
            ..good.clone()
        },
        ProofStatement {
            external_nullifier: good.external_nullifier + one,
            ..good.clone()
        },
        ProofStatement {
            x: good.y,
            y: good.x,
            ..good.clone()
        },
    ];
    for statement in tampered {
        assert_eq!(
            verifier.verify(&statement),
            Err(SnarkInvalid::Equation),
            "{statement:?}"
        );
    }
}

#[test]
fn tampered_fields_on_the_wire() {
    let bump = |bytes: [u8; 32]| fr_to_le(&(fr_from_le(&bytes).unwrap() + Fr::from(1)));
    let good = honest();
    let equation = Refused::Snark(SnarkInvalid::Equation);
    let cases = [
        (
            RateLimitProof {
                share_y: bump(good.share_y),
                ..good.clone()
            },
            equation,
        ),
        (
            RateLimitProof {
                nullifier: bump(good.nullifier),
                ..good.clone()
            },
            Refused::Snark(SnarkInvalid::Equation),
        ),
        (
            RateLimitProof {
                share_x: bump(good.share_x),
                ..good.clone()
            },
            Refused::Check(ProofRejection::SignalMismatch),
        ),
        (
            RateLimitProof {
                merkle_root: bump(good.merkle_root),
                ..good.clone()
            },
            Refused::Check(ProofRejection::UnknownRoot { window_len: 1 }),
        ),
        (
            RateLimitProof {
                epoch: Epoch(2_833_332).to_bytes(),
                ..good.clone()
            },
            Refused::Check(ProofRejection::EpochMismatch {
                expected: Epoch(2_833_333),
                found: Epoch(2_833_332),
            }),
        ),
        (
            RateLimitProof {
                rln_identifier: [1; 32],
                ..good.clone()
            },
            Refused::Check(ProofRejection::ForeignIdentifier),
        ),
    ];
    for (proof, reason) in cases {
        assert_eq!(receive(b"hello", &proof), Err(reason));
    }
}

/// Bypass that the identifier check prevents: a valid proof for another application identifier.
#[test]
fn a_sound_proof_for_a_foreign_identifier_is_refused() {
    let network = network();
    let foreign = RlnIdentifier(*b"rln/another-application/v1.0.0\0\0");
    let request = ProofRequest {
        identity: &network.identity,
        limit: LIMIT,
        path: &network.tree.path(MEMBER).unwrap(),
        generation: Generation::Hashed,
        epoch: Epoch::at(NOW_NS, EPOCH_SIZE_S),
        identifier: &foreign,
        message_id: 3,
        x: x_of(b"hello"),
    };
    let proof = network.prover.prove(&request).unwrap();
    assert_ne!(
        proof.nullifier,
        honest().nullifier,
        "it would count separately"
    );
    assert_eq!(
        receive(b"hello", &proof),
        Err(Refused::Check(ProofRejection::ForeignIdentifier))
    );
    let relabelled = RateLimitProof {
        rln_identifier: RlnIdentifier::WAKU.0,
        ..proof
    };
    assert_eq!(
        receive(b"hello", &relabelled),
        Err(Refused::Snark(SnarkInvalid::Equation))
    );
}

#[test]
fn an_old_root_is_refused_once_it_left_the_window() {
    let network = network();
    let run = |roots: &RootWindow| {
        let policy = policy(Generation::Hashed);
        check(
            &policy,
            roots,
            NOW_NS,
            NOW_NS as i64,
            x_of(b"hello"),
            &honest(),
        )
        .map(|_| ())
    };
    let mut tree = network.tree.clone();
    let mut roots = RootWindow::new(2);
    assert_eq!(
        run(&roots),
        Err(ProofRejection::UnknownRoot { window_len: 0 })
    );
    roots.push(tree.root());
    tree.set(7, Fr::from(1)).unwrap();
    roots.push(tree.root());
    assert_eq!(run(&roots), Ok(()));
    tree.set(8, Fr::from(1)).unwrap();
    roots.push(tree.root());
    assert_eq!(
        run(&roots),
        Err(ProofRejection::UnknownRoot { window_len: 2 })
    );
}

#[test]
fn a_stale_message_is_refused() {
    let network = network();
    let policy = policy(Generation::Hashed);
    let later_ns = NOW_NS + policy.max_clock_gap_ns + 1;
    let x = x_of(b"hello");
    let result = check(
        &policy,
        &network.roots,
        later_ns,
        NOW_NS as i64,
        x,
        &honest(),
    );
    let (behind_ns, max_clock_gap_ns) = (20_000_000_001, 20_000_000_000);
    assert_eq!(
        result,
        Err(ProofRejection::StaleTimestamp {
            behind_ns,
            max_clock_gap_ns
        })
    );
}

#[test]
fn using_a_message_id_twice_reveals_the_secret() {
    let first = receive(b"hello", &honest()).unwrap();
    let second = receive(b"again", &prove(Generation::Hashed, b"again", 3)).unwrap();
    let other_id = receive(b"again", &prove(Generation::Hashed, b"again", 4)).unwrap();
    assert_eq!(first.nullifier, second.nullifier);
    assert_ne!(first.nullifier, other_id.nullifier);
    for (earlier, later) in [(&first, &second), (&second, &first)] {
        let mut log = NullifierLog::new(NullifierLimits::new(100));
        let mut insert = |p: &CheckedProof| log.insert(p.epoch, p.nullifier, p.x, p.y);
        assert_eq!(insert(earlier), NullifierStatus::New);
        assert_eq!(insert(&other_id), NullifierStatus::New);
        match insert(later) {
            NullifierStatus::Spam { secret } => {
                assert_eq!(secret.secret(), network().identity.secret());
                assert_eq!(secret.commitment(), network().identity.commitment());
            }
            other => panic!("{other:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// No single flipped bit of the proof is accepted, including the sign bits of A and C.
    #[test]
    fn no_flipped_bit_of_the_proof_is_accepted(at in 0usize..128, bit in 0u32..8) {
        let mut proof = honest();
        proof.proof[at] ^= 1 << bit;
        prop_assert!(matches!(receive(b"hello", &proof), Err(Refused::Snark(_))));
    }
}
