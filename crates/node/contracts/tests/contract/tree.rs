//! The tree on the chain against the one in memory.

use alloy::primitives::{B256, U256, Uint, keccak256};
use alloy::sol_types::SolValue;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{ContractTerms, Refusal, field_from_word, word_from_field};
use undertone_rln::tree::CAPACITY;
use undertone_rln::{Fr, MerkleTree, rate_commitment};

use crate::world::{ACTIVE_S, World, id, refusal, terms};

const STEPS: u32 = 150;

#[tokio::test]
async fn root_and_paths_are_those_of_our_own_tree_after_many_changes() {
    let world = World::with(&ContractTerms {
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

/// Slot of the tree's first word: where an upgradeable contract keeps it, storage tells.
async fn slot_of_the_tree(world: &World) -> U256 {
    let tree = world.read(RlnMembership::merkleTreeCall {}).await;
    let word = (U256::from(tree.numberOfLeaves) << 40) | U256::from(tree.maxIndex);
    for slot in 0..1_000_u64 {
        if storage(world, U256::from(slot)).await == word {
            return U256::from(slot);
        }
    }
    panic!("no slot has {word:#x}");
}

async fn storage(world: &World, slot: U256) -> U256 {
    let at = (world.contract.address(), slot, "latest");
    world.chain.request("eth_getStorageAt", at).await.unwrap()
}

async fn write(world: &World, slot: U256, word: U256) {
    let at = (world.contract.address(), slot, B256::from(word));
    let done: bool = world.chain.request("anvil_setStorageAt", at).await.unwrap();
    assert!(done);
}

/// A tree with 2^20 - 1 leaves that are empty: what the contract has to have stored is written, as so
/// many registrations would take a day.
#[tokio::test]
async fn the_last_leaf_of_the_tree_has_a_member_and_after_it_there_is_no_more_room() {
    let world = World::new().await;
    world.join(0).await;
    let slot = slot_of_the_tree(&world).await;
    let elements = slot + U256::from(1);
    let element = |level: u32, index: u32| {
        let key = U256::from(level) * U256::from(u32::MAX) + U256::from(index);
        U256::from_be_bytes(keccak256((key, elements).abi_encode()).0)
    };

    // Left of the last leaf's path: the nodes of empty subtrees.
    let last = CAPACITY - 1;
    let mut tree = MerkleTree::new();
    let path = tree.path(last).unwrap();
    for (level, sibling) in (0..).zip(path.siblings) {
        let left = (last >> level) - 1;
        write(&world, element(level, left), word_from_field(&sibling)).await;
    }
    let mask = (U256::from(1) << 40) - U256::from(1);
    let word = (storage(&world, slot).await & mask) | (U256::from(last) << 40);
    write(&world, slot, word).await;
    // Behind the tree's two words, with the place in the ring of roots.
    let next = slot + U256::from(2);
    let kept = storage(&world, next).await >> 32 << 32;
    write(&world, next, kept | U256::from(last)).await;
    let free = world.read(RlnMembership::nextFreeIndexCall {}).await;
    assert_eq!(free, last, "the layout is as expected");

    assert_eq!(world.join(1).await, last);
    tree.set(last, rate_commitment(id(1), 20)).unwrap();
    assert_eq!(world.root().await, tree.root());
    let call = RlnMembership::getMerkleProofCall {
        index: Uint::from(last),
    };
    let siblings = world.read(call).await;
    let siblings: [Fr; 20] = siblings.map(|node| field_from_word(node).unwrap());
    assert_eq!(siblings, tree.path(last).unwrap().siblings);

    assert_eq!(refusal(world.join_with(2, 20, &[]).await), Refusal::Full);
    // And it is given up and given away as any other.
    world.advance(ACTIVE_S).await;
    world.erase(1, &[1], true).await.unwrap();
    tree.remove(last).unwrap();
    assert_eq!(world.root().await, tree.root());
    assert_eq!(world.join(2).await, last);
    tree.set(last, rate_commitment(id(2), 20)).unwrap();
    assert_eq!(world.root().await, tree.root());
}
