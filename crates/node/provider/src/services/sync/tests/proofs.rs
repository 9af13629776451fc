use std::sync::{Arc, OnceLock};

use undertone_membership::{MemberIndex, Version, View};
use undertone_message::WakuMessage;
use undertone_rln::prover::Prover;
use undertone_rln::{
    Epoch, Generation, Identity, Key, MerklePath, MerkleTree, ProofRequest, RlnIdentifier,
    rate_commitment,
};

use super::*;

const EPOCH_S: u64 = 600;
const LIMIT: u32 = 10;
const TIME_NS: i64 = 1_700_000_000_123_456_789;

/// Membership whose accepted roots are given.
struct Roots(RootWindow);

impl View for Roots {
    fn roots(&self) -> &RootWindow {
        &self.0
    }

    fn revision(&self) -> u64 {
        0
    }

    fn version(&self) -> Option<Version> {
        None
    }

    fn members(&self) -> Option<usize> {
        None
    }

    fn path(&self, _: MemberIndex) -> Option<MerklePath> {
        None
    }
}

fn prover() -> &'static (Prover, Verifier) {
    static PROVER: OnceLock<(Prover, Verifier)> = OnceLock::new();
    PROVER.get_or_init(|| {
        let key = Key::load().unwrap();
        let verifier = Verifier::new(&key);
        (Prover::new(key), verifier)
    })
}

/// Tree in which the publisher is the member of index 3.
fn tree(others: u32) -> MerkleTree {
    let mut tree = MerkleTree::new();
    let commitment = Identity::from_seed(b"publisher").commitment();
    tree.set(3, rate_commitment(commitment, LIMIT)).unwrap();
    for other in 0..others {
        tree.set(10 + other, Fr::from(u64::from(other) + 1))
            .unwrap();
    }
    tree
}

/// Message with a valid proof for the root of a tree.
fn proved(tree: &MerkleTree, payload: &str) -> StoredMessage {
    let mut message = WakuMessage::new(payload.as_bytes().to_vec(), "/a/1/b/proto");
    message.timestamp = Some(TIME_NS);
    let x = signal_hash(&message.payload, &message.content_topic, TIME_NS);
    let proof = prover().0.prove(&ProofRequest {
        identity: &Identity::from_seed(b"publisher"),
        limit: LIMIT,
        path: &tree.path(3).unwrap(),
        generation: Generation::Hashed,
        epoch: Epoch::at(TIME_NS as u64, EPOCH_S),
        identifier: &RlnIdentifier::WAKU,
        message_id: 1,
        x,
    });
    message.rate_limit_proof = Some(proof.unwrap().encode().into());
    StoredMessage::new("/waku/2/rs/1/0", message)
}

fn judge(roots: impl IntoIterator<Item = Fr>) -> (PastProofs, Arc<Mutex<Roots>>) {
    let mut window = RootWindow::new(5);
    roots.into_iter().for_each(|root| window.push(root));
    let view = Arc::new(Mutex::new(Roots(window)));
    let policy = Policy {
        generation: Generation::Hashed,
        identifier: RlnIdentifier::WAKU,
        epoch_size_s: EPOCH_S,
        max_clock_gap_ns: 20_000_000_000,
    };
    let shared: SharedView = view.clone();
    (PastProofs::new(prover().1.clone(), policy, shared), view)
}

/// The hash of a message does not cover its proof, so a peer can change the proof alone.
#[test]
fn proofs_of_old_messages_are_judged_by_what_a_relay_would_have_seen() {
    let tree = tree(0);
    let (judge, _) = judge([tree.root()]);
    let good = proved(&tree, "good");
    let other = proved(&tree, "other");
    let of_other = StoredMessage {
        message: WakuMessage {
            rate_limit_proof: other.message.rate_limit_proof.clone(),
            ..good.message.clone()
        },
        ..good.clone()
    };
    let with = |change: fn(&mut Vec<u8>)| {
        let mut changed = good.clone();
        let mut proof = good.message.rate_limit_proof.clone().unwrap().to_vec();
        change(&mut proof);
        changed.message.rate_limit_proof = Some(proof.into());
        assert_eq!(changed.hash, good.hash);
        changed
    };
    let moved = {
        let mut message = good.message.clone();
        message.timestamp = Some(TIME_NS + 3_600_000_000_000);
        StoredMessage::new("/waku/2/rs/1/0", message)
    };
    let judged = [
        (good.clone(), ProofVerdict::Valid),
        (with(|proof| proof.clear()), ProofVerdict::Missing),
        (with(|proof| proof[40] ^= 1), ProofVerdict::Invalid),
        (with(|proof| proof.truncate(100)), ProofVerdict::Invalid),
        (
            with(|proof| *proof = b"proof".to_vec()),
            ProofVerdict::Invalid,
        ),
        (of_other, ProofVerdict::Invalid),
        (moved, ProofVerdict::Invalid),
        (other.clone(), ProofVerdict::Valid),
    ];
    let (messages, expected): (Vec<_>, Vec<_>) = judged.into_iter().unzip();
    assert_eq!(judge.judge(&messages), expected);
}

#[test]
fn a_root_that_the_membership_has_dropped_is_still_known() {
    let (old, new) = (tree(0), tree(1));
    let (judge, view) = judge([old.root()]);
    judge.remember_roots();
    view.lock().0 = RootWindow::new(5);
    view.lock().0.push(new.root());
    let messages = [proved(&old, "a"), proved(&new, "b"), proved(&tree(2), "c")];
    let expected = [
        ProofVerdict::Valid,
        ProofVerdict::Valid,
        ProofVerdict::UnknownRoot,
    ];
    assert_eq!(judge.judge(&messages), expected);
}
