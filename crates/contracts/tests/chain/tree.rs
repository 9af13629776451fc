//! The tree on the chain against the one in memory.

use alloy::primitives::Uint;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{Terms, field_from_word};
use undertone_rln::{Fr, MerkleTree, rate_commitment};

use crate::world::{ACTIVE_S, World, id, terms};

const STEPS: u32 = 150;

#[tokio::test]
async fn root_and_paths_are_those_of_our_own_tree_after_many_changes() {
    let world = World::with(&Terms {
        max_total_rate_limit: 1_000_000,
        grace_s: u32::MAX,
        ..terms()
    })
    .await;
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let mut tree = MerkleTree::new();
    let mut members = Vec::new();
    assert_eq!(world.root().await, tree.root());
    for name in 0..STEPS {
        // One in four is erased, half of them with its leaf.
        if !members.is_empty() && rng.next_u32().is_multiple_of(4) {
            world.advance(ACTIVE_S).await;
            let at = rng.next_u32() as usize % members.len();
            let (gone, index) = members.swap_remove(at);
            let clear = rng.next_u32().is_multiple_of(2);
            world.erase(1, &[gone], clear).await.unwrap();
            if clear {
                tree.remove(index).unwrap();
            }
        } else {
            let limit = 20 + rng.next_u32() % 500;
            let index = world.join_with(name, limit, &[]).await.unwrap();
            tree.set(index, rate_commitment(id(name), limit)).unwrap();
            members.push((name, index));
        }
        assert_eq!(world.root().await, tree.root(), "after step {name}");
    }
    let leaves = world.read(RlnMembership::nextFreeIndexCall {}).await;
    assert!(leaves > 64, "{leaves}");
    for index in 0..leaves {
        let call = RlnMembership::getMerkleProofCall {
            index: Uint::from(index),
        };
        let siblings = world.read(call).await;
        let siblings: [Fr; 20] = siblings.map(|node| field_from_word(node).unwrap());
        assert_eq!(
            siblings,
            tree.path(index).unwrap().siblings,
            "path of {index}"
        );
    }
}
