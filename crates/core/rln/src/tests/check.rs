use ark_ff::PrimeField;
use proptest::prelude::*;

use super::*;
use crate::external::external_nullifier;
use crate::field::fr_to_le;

const NOW_S: u64 = 1_700_000_000;
const NOW_NS: u64 = NOW_S * 1_000_000_000;
const GAP_NS: u64 = 20_000_000_000;

fn policy() -> Policy {
    Policy {
        generation: Generation::Hashed,
        identifier: RlnIdentifier::WAKU,
        epoch_size_s: 600,
        max_clock_gap_ns: GAP_NS,
    }
}

fn roots() -> RootWindow {
    let mut roots = RootWindow::new(2);
    roots.push(Fr::from(100));
    roots
}

fn proof() -> RateLimitProof {
    RateLimitProof {
        proof: [9; 128],
        merkle_root: fr_to_le(&Fr::from(100)),
        epoch: Epoch(NOW_S / 600).to_bytes(),
        share_x: fr_to_le(&Fr::from(7)),
        share_y: fr_to_le(&Fr::from(8)),
        nullifier: fr_to_le(&Fr::from(9)),
        rln_identifier: RlnIdentifier::WAKU.0,
    }
}

fn run(proof: &RateLimitProof) -> Result<CheckedProof, ProofRejection> {
    check(
        &policy(),
        &roots(),
        NOW_NS,
        NOW_NS as i64,
        Fr::from(7),
        proof,
    )
}

/// The same element in its other 32-byte encoding: value + r.
fn alias(bytes: [u8; 32]) -> [u8; 32] {
    let mut sum = [0; 32];
    let mut carry = 0u16;
    let modulus = Fr::MODULUS.0.map(u64::to_le_bytes).concat();
    for (at, byte) in bytes.into_iter().enumerate() {
        carry += u16::from(byte) + u16::from(modulus[at]);
        sum[at] = carry as u8;
        carry >>= 8;
    }
    assert_eq!(carry, 0);
    sum
}

#[test]
fn a_good_proof_passes_and_its_statement_is_ours() {
    let checked = run(&proof()).unwrap();
    let epoch = Epoch(NOW_S / 600);
    let external_nullifier = external_nullifier(Generation::Hashed, epoch, &RlnIdentifier::WAKU);
    let [root, x, y, nullifier] = [100, 7, 8, 9].map(Fr::from);
    let statement = ProofStatement {
        proof: [9; 128],
        y,
        root,
        nullifier,
        x,
        external_nullifier,
    };
    assert_eq!(
        checked,
        CheckedProof {
            epoch,
            nullifier,
            x,
            y,
            statement
        }
    );
}

#[test]
fn the_clock_gap_is_inclusive() {
    let at = |timestamp_ns: u64| {
        let epoch = Epoch(timestamp_ns / 600_000_000_000).to_bytes();
        let proof = RateLimitProof { epoch, ..proof() };
        check(
            &policy(),
            &roots(),
            NOW_NS,
            timestamp_ns as i64,
            Fr::from(7),
            &proof,
        )
        .map(|_| ())
    };
    assert_eq!(at(NOW_NS - GAP_NS), Ok(()));
    assert_eq!(at(NOW_NS + GAP_NS), Ok(()));
    let (behind_ns, max_clock_gap_ns) = (GAP_NS + 1, GAP_NS);
    let stale = ProofRejection::StaleTimestamp {
        behind_ns,
        max_clock_gap_ns,
    };
    assert_eq!(at(NOW_NS - GAP_NS - 1), Err(stale));
    let future = ProofRejection::FutureTimestamp {
        ahead_ns: behind_ns,
        max_clock_gap_ns,
    };
    assert_eq!(at(NOW_NS + GAP_NS + 1), Err(future));
}

#[test]
fn each_defect_has_its_own_reason() {
    let good = proof();
    let expected = Epoch(NOW_S / 600);
    let found = Epoch(NOW_S / 600 - 1);
    let mut padded = good.epoch;
    padded[31] = 1;
    let non_canonical = |field| ProofRejection::NonCanonical(field);
    let cases = [
        (
            RateLimitProof {
                epoch: found.to_bytes(),
                ..good.clone()
            },
            ProofRejection::EpochMismatch { expected, found },
        ),
        (
            RateLimitProof {
                epoch: padded,
                ..good.clone()
            },
            ProofRejection::MalformedEpoch(MalformedEpoch { at: 31, value: 1 }),
        ),
        (
            RateLimitProof {
                rln_identifier: [0; 32],
                ..good.clone()
            },
            ProofRejection::ForeignIdentifier,
        ),
        (
            RateLimitProof {
                merkle_root: alias(good.merkle_root),
                ..good.clone()
            },
            non_canonical(ProofField::MerkleRoot),
        ),
        (
            RateLimitProof {
                share_x: alias(good.share_x),
                ..good.clone()
            },
            non_canonical(ProofField::ShareX),
        ),
        (
            RateLimitProof {
                share_y: alias(good.share_y),
                ..good.clone()
            },
            non_canonical(ProofField::ShareY),
        ),
        (
            RateLimitProof {
                nullifier: alias(good.nullifier),
                ..good.clone()
            },
            non_canonical(ProofField::Nullifier),
        ),
        (
            RateLimitProof {
                share_x: fr_to_le(&Fr::from(6)),
                ..good.clone()
            },
            ProofRejection::SignalMismatch,
        ),
        (
            RateLimitProof {
                merkle_root: fr_to_le(&Fr::from(101)),
                ..good.clone()
            },
            ProofRejection::UnknownRoot { window_len: 1 },
        ),
    ];
    for (proof, reason) in cases {
        assert_eq!(run(&proof), Err(reason));
    }
}

#[test]
fn an_empty_window_accepts_no_root() {
    let window = RootWindow::new(50);
    let result = check(
        &policy(),
        &window,
        NOW_NS,
        NOW_NS as i64,
        Fr::from(7),
        &proof(),
    );
    assert_eq!(result, Err(ProofRejection::UnknownRoot { window_len: 0 }));
}

#[test]
fn the_checks_run_in_order() {
    // All fields are wrong at first; correcting one after the other reaches the next check.
    let wrong = [0xff; 32];
    let good = proof();
    let mut bad = RateLimitProof {
        merkle_root: wrong,
        epoch: wrong,
        share_x: wrong,
        share_y: wrong,
        nullifier: wrong,
        rln_identifier: wrong,
        ..good.clone()
    };
    let result = check(&policy(), &roots(), NOW_NS, -1, Fr::from(1), &bad);
    assert_eq!(
        result,
        Err(ProofRejection::NegativeTimestamp { timestamp_ns: -1 })
    );
    let result = check(&policy(), &roots(), NOW_NS, 0, Fr::from(1), &bad);
    assert!(matches!(result, Err(ProofRejection::StaleTimestamp { .. })));
    assert!(matches!(run(&bad), Err(ProofRejection::MalformedEpoch(_))));
    bad.epoch = good.epoch;
    assert_eq!(run(&bad), Err(ProofRejection::ForeignIdentifier));
    bad.rln_identifier = good.rln_identifier;
    assert_eq!(
        run(&bad),
        Err(ProofRejection::NonCanonical(ProofField::MerkleRoot))
    );
    bad.merkle_root = fr_to_le(&Fr::from(1));
    assert_eq!(
        run(&bad),
        Err(ProofRejection::NonCanonical(ProofField::ShareX))
    );
    bad.share_x = fr_to_le(&Fr::from(1));
    assert_eq!(
        run(&bad),
        Err(ProofRejection::NonCanonical(ProofField::ShareY))
    );
    bad.share_y = good.share_y;
    assert_eq!(
        run(&bad),
        Err(ProofRejection::NonCanonical(ProofField::Nullifier))
    );
    bad.nullifier = good.nullifier;
    assert_eq!(run(&bad), Err(ProofRejection::SignalMismatch));
    bad.share_x = good.share_x;
    assert_eq!(
        run(&bad),
        Err(ProofRejection::UnknownRoot { window_len: 1 })
    );
    bad.merkle_root = good.merkle_root;
    assert_eq!(
        run(&bad).map(|checked| checked.epoch),
        Ok(Epoch(NOW_S / 600))
    );
}

proptest! {
    #[test]
    fn no_time_panics(now_ns in any::<u64>(), timestamp_ns in any::<i64>(), gap_ns in any::<u64>(),
                      epoch_size_s in prop_oneof![Just(0), any::<u64>()]) {
        let policy = Policy { max_clock_gap_ns: gap_ns, epoch_size_s, ..policy() };
        let result = check(&policy, &roots(), now_ns, timestamp_ns, Fr::from(7), &proof());
        let distance_ns = (i128::from(now_ns) - i128::from(timestamp_ns)).unsigned_abs();
        let refused_for_time = matches!(
            result,
            Err(ProofRejection::NegativeTimestamp { .. } | ProofRejection::StaleTimestamp { .. }
                | ProofRejection::FutureTimestamp { .. })
        );
        prop_assert_eq!(refused_for_time, timestamp_ns < 0 || distance_ns > u128::from(gap_ns));
    }
}
