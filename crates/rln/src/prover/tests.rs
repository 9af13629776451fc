use super::*;
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
