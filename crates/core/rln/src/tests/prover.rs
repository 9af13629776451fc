use super::*;
use crate::epoch::Epoch;
use crate::external::{Generation, RlnIdentifier};
use crate::field::Fr;
use crate::tree::MerkleTree;

fn refuse(limit: u32, message_id: u32) -> ProveError {
    let identity = Identity::from_seed(b"a");
    let request = ProofRequest {
        identity: &identity,
        limit,
        path: &MerkleTree::new().path(0).unwrap(),
        generation: Generation::Hashed,
        epoch: Epoch(1),
        identifier: &RlnIdentifier::WAKU,
        message_id,
        x: Fr::from(1),
    };
    Prover::new(Key::load().unwrap())
        .prove(&request)
        .unwrap_err()
}

#[test]
fn used_up_and_impossible_limits_are_refused() {
    for (limit, message_id) in [(1, 1), (20, 20), (20, u32::MAX)] {
        match refuse(limit, message_id) {
            ProveError::MessageIdOutOfRange {
                message_id: id,
                limit: of,
            } => {
                assert_eq!((id, of), (message_id, limit));
            }
            other => panic!("{other}"),
        }
    }
    for limit in [0, MAX_LIMIT + 1] {
        assert!(matches!(refuse(limit, 0), ProveError::LimitOutOfRange { limit: l } if l == limit));
    }
}

#[test]
fn the_last_members_are_kept_and_no_more() {
    let tree = MerkleTree::new();
    let prover = Prover::new(Key::load().unwrap());
    let prove = |name: u8, index: u32| {
        let identity = Identity::from_seed(&[name]);
        let path = tree.path(index).unwrap();
        let request = ProofRequest {
            identity: &identity,
            limit: 20,
            path: &path,
            generation: Generation::Hashed,
            epoch: Epoch(1),
            identifier: &RlnIdentifier::WAKU,
            message_id: 0,
            x: Fr::from(1),
        };
        prover.prove(&request).unwrap();
    };
    let kept = || -> Vec<u32> {
        let members = prover.shared.members.lock();
        members.iter().map(|member| member.path().index).collect()
    };
    prove(0, 0);
    prove(1, 1);
    // A member that is used again becomes the newest, and moves to the new path.
    prove(0, 100);
    assert_eq!(kept(), [1, 100]);
    for name in 2..=MAX_MEMBERS as u8 {
        prove(name, u32::from(name));
    }
    assert_eq!(kept(), [100, 2, 3, 4, 5, 6, 7, 8]);
}
