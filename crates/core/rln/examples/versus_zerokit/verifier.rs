//! Verification: one proof, batches, batches with one bad proof. Times include decoding on both
//! sides.

use ark_serialize::CanonicalDeserialize;
use rln::prelude::{Proof, RLNBuilder, RLNProofValues};
use undertone_rln::prover::os_rng;
use undertone_rln::{
    BatchPolicy, Epoch, Fr, Generation, Identity, Key, MerkleTree, MessageSlot, ProofStatement,
    Prover, RlnIdentifier, Verifier, external_nullifier, fr_from_le, rate_commitment,
};

use crate::clock::once_ms;
use crate::report::BatchFigure;

const LIMIT: u32 = 1000;
const EPOCH: Epoch = Epoch(2_833_333);
/// Number of distinct proofs; more would only repeat the same work.
const DIFFERENT: u32 = 8;
const SIZES: [usize; 9] = [2, 4, 5, 6, 8, 16, 32, 64, 128];
const RUNS: usize = 15;

/// Results of the verifier's measurement.
pub(crate) struct VerifierFigures {
    /// One proof, decoded and checked.
    pub(crate) verify_ratio: f64,
    pub(crate) batch: Vec<BatchFigure>,
    pub(crate) bad_proof_batch: Vec<BatchFigure>,
}

pub(crate) fn measure() -> VerifierFigures {
    let statements = statements();
    let zerokit = RLNBuilder::stateless().build();
    let [first, ..] = &statements[..] else {
        unreachable!("there are eight statements");
    };
    let values = RLNProofValues::new_single()
        .y(first.y)
        .root(first.root)
        .nullifier(first.nullifier)
        .x(first.x)
        .external_nullifier(first.external_nullifier)
        .build();
    let zerokit_verify = || {
        let proof = Proof::deserialize_compressed(&first.proof[..]).expect("an honest proof");
        let holds = zerokit.verify(&proof, &values).expect("five inputs");
        assert!(holds, "an honest proof");
    };

    let verifier = Verifier::new(&Key::load().expect("the vendored key"));
    let verify = || verifier.verify(first).expect("an honest proof");
    let (zerokit_ms, ours_ms) = alternating_ms(51, zerokit_verify, verify);

    let mut rng = os_rng().expect("random numbers");
    let mut batches = |sizes: &[usize], bad: usize| -> Vec<BatchFigure> {
        let figure = |n: usize| {
            let mut batch: Vec<_> = statements.iter().cycle().take(n).cloned().collect();
            if bad > 0 {
                batch[n / 3].x += Fr::from(1);
            }
            let work = || {
                let verdicts = verifier.verify_batch(&batch, &mut rng);
                let refused = verdicts.iter().filter(|verdict| verdict.is_err());
                assert_eq!(refused.count(), bad);
            };
            let (zerokit_ms, batch_ms) = alternating_ms(RUNS, zerokit_verify, work);
            let per_proof_ms = batch_ms / n as f64;
            BatchFigure {
                n,
                per_proof_ms,
                ratio: zerokit_ms / per_proof_ms,
            }
        };
        sizes.iter().copied().map(figure).collect()
    };
    // An attacker faces only the batch sizes that a node forms.
    let policy = BatchPolicy::default();
    let formed = policy.single_below..=policy.max_batch;
    let formed: Vec<_> = SIZES.into_iter().filter(|n| formed.contains(n)).collect();
    VerifierFigures {
        verify_ratio: zerokit_ms / ours_ms,
        batch: batches(&SIZES, 0),
        bad_proof_batch: batches(&formed, 1),
    }
}

/// Returns the medians of two kinds of work that alternate, so that a temporarily busy machine slows
/// both.
fn alternating_ms(runs: usize, mut theirs: impl FnMut(), mut ours: impl FnMut()) -> (f64, f64) {
    let mut times: [Vec<f64>; 2] = Default::default();
    for _ in 0..runs {
        times[0].push(once_ms(&mut theirs).0);
        times[1].push(once_ms(&mut ours).0);
    }
    let [theirs, ours] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    (theirs, ours)
}

fn statements() -> Vec<ProofStatement> {
    let identity = Identity::from_seed(b"versus");
    let mut tree = MerkleTree::new();
    tree.set(7, rate_commitment(identity.commitment(), LIMIT))
        .expect("an index of the tree");
    let path = tree.path(7).expect("an index of the tree");
    let prover = Prover::new(Key::load().expect("the vendored key"));
    let member = prover
        .member(&identity, LIMIT, &path)
        .expect("a valid limit");
    let mut rng = os_rng().expect("random numbers");
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
