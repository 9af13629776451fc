//! Recent roots, and how long the proofs of somebody removed are good for.

use alloy::primitives::U256;
use undertone_contracts::abi::RlnMembership;
use undertone_contracts::{Refusal, field_from_word};
use undertone_rln::{Fr, MerklePath, RootWindow, rate_commitment};

use crate::world::{ACTIVE_S, World, id, identity, refusal};

/// Roots that the contract remembers.
const HISTORY: usize = 5;

async fn recent(world: &World) -> Vec<Fr> {
    let roots = world.read(RlnMembership::getRecentRootsCall {}).await;
    roots
        .iter()
        .map(|root| field_from_word(*root).unwrap())
        .collect()
}

async fn path(world: &World, index: u32) -> MerklePath {
    let call = RlnMembership::getMerkleProofCall {
        index: alloy::primitives::Uint::from(index),
    };
    let siblings = world.read(call).await;
    MerklePath {
        index,
        siblings: siblings.map(|node| field_from_word(node).unwrap()),
    }
}

#[tokio::test]
async fn the_newest_roots_come_first_and_zeros_where_there_was_none() {
    let world = World::new().await;
    assert_eq!(recent(&world).await, [Fr::from(0_u64); HISTORY]);
    let position = world
        .contract
        .read(RlnMembership::getRootAtCall { position: 0 })
        .await;
    assert!(matches!(refusal(position), Refusal::Unknown(_)));

    let mut roots = vec![Fr::from(0_u64); HISTORY];
    for name in 0..7 {
        world.join(name).await;
        roots.insert(0, world.root().await);
        roots.truncate(HISTORY);
        assert_eq!(recent(&world).await, roots);
    }
    for (position, root) in (0..).zip(&roots) {
        let found = world.read(RlnMembership::getRootAtCall { position }).await;
        assert_eq!(field_from_word(found).unwrap(), *root);
    }
    let position = world
        .contract
        .read(RlnMembership::getRootAtCall { position: 5 })
        .await;
    assert!(matches!(refusal(position), Refusal::Unknown(_)));
}

#[tokio::test]
async fn there_are_no_leaves_beyond_the_last_member() {
    let world = World::new().await;
    world.join(0).await;
    for (first, last) in [(0, 1), (1, 0)] {
        let call = RlnMembership::getRateCommitmentsInRangeBoundsInclusiveCall {
            startIndex: first,
            endIndex: last,
        };
        let (first, last) = (U256::from(first), U256::from(last));
        let range = Refusal::Range { first, last };
        assert_eq!(refusal(world.contract.read(call).await), range);
    }
}

/// How a member is removed.
#[derive(Debug, Clone, Copy)]
enum Removal {
    Erased,
    ErasedAndReplaced,
    Slashed,
}

#[tokio::test]
async fn proofs_of_a_removed_member_end_with_the_last_root_that_it_is_in() {
    for removal in [
        Removal::Erased,
        Removal::ErasedAndReplaced,
        Removal::Slashed,
    ] {
        let world = World::new().await;
        for name in 0..3 {
            world.join(name).await;
        }
        world.advance(ACTIVE_S).await;
        let leaf = rate_commitment(id(1), 20);
        let old_path = path(&world, 1).await;
        let old_root = old_path.root_of(leaf);
        assert_eq!(old_root, world.root().await);

        match removal {
            Removal::Erased => world.erase(1, &[1], true).await.unwrap(),
            Removal::ErasedAndReplaced => {
                world.erase(1, &[1], false).await.unwrap();
                assert_eq!(world.join(10).await, 1);
            }
            Removal::Slashed => {
                let (slasher, member) = (world.account(2), identity(1));
                let (secret, to) = (member.secret(), slasher.address());
                world
                    .contract
                    .commit_slash(slasher, secret, to)
                    .await
                    .unwrap();
                world.contract.slash(slasher, secret, to).await.unwrap();
            }
        }
        // The member is in roots from before, and in none from now on.
        assert!(recent(&world).await.contains(&old_root), "{removal:?}");
        for further in 0..4 {
            assert!(
                recent(&world).await.contains(&old_root),
                "{removal:?} {further}"
            );
            let new_path = path(&world, 1).await;
            assert_ne!(new_path.root_of(leaf), world.root().await, "{removal:?}");
            world.join(20 + further).await;
        }
        // Five changes later no window of five roots holds one with the member in it.
        let mut window = RootWindow::new(HISTORY);
        for root in recent(&world).await.into_iter().rev() {
            window.push(root);
        }
        assert!(!window.contains(&old_root), "{removal:?}");
        for index in 0..world.read(RlnMembership::nextFreeIndexCall {}).await {
            let root = path(&world, index).await.root_of(leaf);
            assert!(!window.contains(&root), "{removal:?} at {index}");
        }
    }
}
