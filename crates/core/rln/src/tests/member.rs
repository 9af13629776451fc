use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::*;
use crate::epoch::{Epoch, WallClock};
use crate::external::{Generation, RlnIdentifier, external_nullifier};
use crate::field::fr_from_le;
use crate::identity::rate_commitment;
use crate::key::Key;
use crate::prover::{MessageSlot, Prover};
use crate::tree::MerkleTree;
use crate::verifier::{ProofStatement, Verifier};

fn slot(message_id: u32) -> MessageSlot<'static> {
    MessageSlot {
        generation: Generation::Hashed,
        epoch: Epoch(5),
        identifier: &RlnIdentifier::WAKU,
        message_id,
    }
}

fn statement(proof: &crate::RateLimitProof) -> ProofStatement {
    ProofStatement {
        proof: proof.proof,
        y: fr_from_le(&proof.share_y).unwrap(),
        root: fr_from_le(&proof.merkle_root).unwrap(),
        nullifier: fr_from_le(&proof.nullifier).unwrap(),
        x: fr_from_le(&proof.share_x).unwrap(),
        external_nullifier: external_nullifier(Generation::Hashed, Epoch(5), &RlnIdentifier::WAKU),
    }
}

/// A member that followed the tree equals a member computed from scratch at the tree's last state.
#[test]
fn following_the_tree_is_starting_anew() {
    let key = Key::load().unwrap();
    let prover = Prover::new(Arc::clone(&key));
    let identity = Identity::from_seed(b"follows");
    let mut tree = MerkleTree::new();
    tree.set(13, rate_commitment(identity.commitment(), 20))
        .unwrap();
    let mut member = prover
        .member(&identity, 20, &tree.path(13).unwrap())
        .unwrap();
    member.signal();
    for (index, leaf) in [(12, 7), (14, 8), (1000, 9), (12, 0)] {
        tree.set(index, Fr::from(leaf)).unwrap();
        member.update(&tree.path(13).unwrap());
        assert_eq!(member.root(), tree.root());
    }
    let anew = prover
        .member(&identity, 20, &tree.path(13).unwrap())
        .unwrap();
    let (ours, theirs) = (&member.share, &anew.share);
    assert_eq!(ours.wires, theirs.wires);
    assert_eq!(ours.values, theirs.values);
    assert_eq!((&ours.left, &ours.right), (&theirs.left, &theirs.right));
    assert_eq!(
        (ours.a, ours.b_g1, ours.c),
        (theirs.a, theirs.b_g1, theirs.c)
    );
    assert_eq!(ours.b_g2, theirs.b_g2);
    let (ours, theirs) = (member.signal(), anew.signal());
    assert_eq!((ours.fixed, ours.sloped), (theirs.fixed, theirs.sloped));
    let factors = |share: &SignalShare| [share.at_k, share.at_p, share.at_q];
    assert_eq!(factors(ours), factors(theirs));
}

/// With the same blinding, a token's proof has the same bytes as the full proof, for any signal.
#[test]
fn a_tokens_proof_is_the_full_proof() {
    let key = Key::load().unwrap();
    let verifier = Verifier::new(&key);
    let prover = Prover::new(key);
    let identity = Identity::from_seed(b"token");
    let mut tree = MerkleTree::new();
    tree.set(3, rate_commitment(identity.commitment(), 20))
        .unwrap();
    let member = prover
        .member(&identity, 20, &tree.path(3).unwrap())
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut counter = crate::MessageIdCounter::open(folder.path().join("ids"), 20).unwrap();
    for (message_id, x) in [(0, Fr::ZERO), (1, -Fr::from(1)), (2, Fr::from(77))] {
        let rng = || ChaCha8Rng::seed_from_u64(u64::from(message_id));
        let full = member.prove(&slot(message_id), x, &mut rng()).unwrap();
        let token = member.prepare(&slot(message_id), &mut rng()).unwrap();
        let token = token
            .arm(
                counter
                    .reserve(Epoch(5), &WallClock::stopped_in(Epoch(5)))
                    .unwrap(),
            )
            .unwrap();
        assert_eq!(token.sign(x), full);
        assert_eq!(verifier.verify(&statement(&full)), Ok(()));
    }
}
