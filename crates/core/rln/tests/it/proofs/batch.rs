//! Batch verification gives each proof the same verdict as single verification.

use std::sync::OnceLock;

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_rln::check::check;
use undertone_rln::*;

use crate::proofs::support::*;

/// Four different statements that hold.
fn honest_statements() -> &'static [ProofStatement; 4] {
    static STATEMENTS: OnceLock<[ProofStatement; 4]> = OnceLock::new();
    STATEMENTS.get_or_init(|| {
        std::array::from_fn(|i| {
            let payload = [i as u8; 3];
            let proof = prove(Generation::Hashed, &payload, i as u32);
            let policy = policy(Generation::Hashed);
            let roots = &network().roots;
            check(
                &policy,
                roots,
                NOW_NS,
                NOW_NS as i64,
                x_of(&payload),
                &proof,
            )
            .unwrap()
            .statement
        })
    })
}

/// Flaw of a statement in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    None,
    /// Public input, by its position in the circuit, that has another value.
    Input(usize),
    /// The proof is that of another statement.
    OthersProof,
    /// Points `A` and `C` swapped, which are of the right group.
    Swapped,
    /// Bytes that do not encode a point.
    Malformed(ProofPoint),
}

const FLAWS: [Flaw; 9] = [
    Flaw::Input(0),
    Flaw::Input(1),
    Flaw::Input(2),
    Flaw::Input(3),
    Flaw::Input(4),
    Flaw::OthersProof,
    Flaw::Malformed(ProofPoint::A),
    Flaw::Malformed(ProofPoint::B),
    Flaw::Swapped,
];

impl Flaw {
    fn verdict(self) -> Result<(), SnarkInvalid> {
        match self {
            Self::None => Ok(()),
            Self::Malformed(point) => Err(SnarkInvalid::MalformedPoint(point)),
            _ => Err(SnarkInvalid::Equation),
        }
    }

    fn apply(self, at: usize) -> ProofStatement {
        let mut statement = honest_statements()[at % 4].clone();
        match self {
            Self::None => {}
            Self::Input(0) => statement.y += Fr::from(1),
            Self::Input(1) => statement.root += Fr::from(1),
            Self::Input(2) => statement.nullifier += Fr::from(1),
            Self::Input(3) => statement.x += Fr::from(1),
            Self::Input(_) => statement.external_nullifier += Fr::from(1),
            Self::OthersProof => statement.proof = honest_statements()[(at + 1) % 4].proof,
            Self::Swapped => {
                let (head, c) = statement.proof.split_at_mut(96);
                head[..32].swap_with_slice(c);
            }
            Self::Malformed(point) => {
                let range = match point {
                    ProofPoint::A => 0..32,
                    ProofPoint::B => 32..96,
                    ProofPoint::C => 96..128,
                };
                statement.proof[range].fill(0xff);
            }
        }
        statement
    }
}

fn assert_verdicts(flaws: &[Flaw], seed: u64) {
    let statements: Vec<_> = flaws
        .iter()
        .enumerate()
        .map(|(at, f)| f.apply(at))
        .collect();
    let expected: Vec<_> = flaws.iter().map(|flaw| flaw.verdict()).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let verdicts = network().verifier.verify_batch(&statements, &mut rng);
    assert_eq!(verdicts, expected, "seed {seed}, {flaws:?}");
}

#[test]
fn the_flaws_have_their_verdicts_alone_too() {
    for flaw in FLAWS.into_iter().chain([Flaw::None]) {
        let verdict = network().verifier.verify(&flaw.apply(1));
        assert_eq!(verdict, flaw.verdict(), "{flaw:?}");
        assert_verdicts(&[flaw], 1);
    }
}

#[test]
fn an_empty_batch_has_no_verdicts() {
    assert_verdicts(&[], 1);
}

#[test]
fn one_flaw_at_each_position() {
    for size in 2..=9 {
        assert_verdicts(&vec![Flaw::None; size], 2);
        for at in 0..size {
            let mut flaws = vec![Flaw::None; size];
            flaws[at] = FLAWS[(at + size) % FLAWS.len()];
            assert_verdicts(&flaws, at as u64);
        }
    }
}

#[test]
fn large_batches() {
    assert_verdicts(&[Flaw::None; 32], 3);
    for at in [0, 15, 16, 31] {
        let mut flaws = [Flaw::None; 32];
        flaws[at] = Flaw::Input(3);
        assert_verdicts(&flaws, at as u64);
    }
    assert_verdicts(&[Flaw::Input(0); 32], 4);
}

/// Two errors that cancel when the equations are multiplied without coefficients: statements with
/// each other's inputs, whose sum over the batch is that of the right ones.
#[test]
fn errors_do_not_cancel() {
    let [first, second, ..] = honest_statements().clone();
    let swapped = [
        ProofStatement {
            proof: second.proof,
            ..first.clone()
        },
        ProofStatement {
            proof: first.proof,
            ..second
        },
    ];
    for seed in 0..8 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let verdicts = network().verifier.verify_batch(&swapped, &mut rng);
        assert_eq!(verdicts, [Err(SnarkInvalid::Equation); 2]);
    }
}

fn flaws() -> impl Strategy<Value = Vec<Flaw>> {
    let flaw = prop_oneof![
        3 => Just(Flaw::None),
        1 => prop::sample::select(FLAWS.to_vec()),
    ];
    prop::collection::vec(flaw, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_mixture(flaws in flaws(), seed: u64) {
        assert_verdicts(&flaws, seed);
    }
}
