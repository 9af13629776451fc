use std::collections::BTreeMap;

use proptest::prelude::*;
use rln::hashers::PoseidonHash;
use zerokit_utils::merkle_tree::{OptimalMerkleTree, ZerokitMerkleProof, ZerokitMerkleTree};

use super::*;

type Zerokit = OptimalMerkleTree<PoseidonHash>;

/// Reference model: hashes the two halves recursively, stopping where no leaf is set.
fn naive(leaves: &BTreeMap<u32, Fr>, height: usize, first: u32) -> Fr {
    if height == 0 {
        return leaves.get(&first).copied().unwrap_or(Fr::ZERO);
    }
    let half = 1 << (height - 1);
    if leaves.range(first..first + 2 * half).next().is_none() {
        return (0..height).fold(Fr::ZERO, |zero, _| poseidon(&[zero, zero]));
    }
    poseidon(&[
        naive(leaves, height - 1, first),
        naive(leaves, height - 1, first + half),
    ])
}

#[test]
fn indices_end_at_the_capacity() {
    let mut tree = MerkleTree::new();
    let error = Err(IndexOutOfRange { index: CAPACITY });
    assert_eq!(tree.set(CAPACITY, Fr::from(1)), error);
    assert_eq!(tree.remove(CAPACITY), error);
    assert_eq!(
        tree.leaf(CAPACITY),
        Err(IndexOutOfRange { index: CAPACITY })
    );
    assert_eq!(
        tree.path(u32::MAX),
        Err(IndexOutOfRange { index: u32::MAX })
    );
    assert!(
        tree.set_many(&[(0, Fr::from(1)), (CAPACITY, Fr::from(1))])
            .is_err()
    );
    assert_eq!(
        tree.root(),
        MerkleTree::new().root(),
        "a refused batch leaves no trace"
    );
    assert_eq!(tree.set(CAPACITY - 1, Fr::from(1)), Ok(()));
    let path = tree.path(CAPACITY - 1).unwrap();
    assert_eq!(path.root_of(Fr::from(1)), tree.root());
}

/// Root of the empty depth-20 tree, as on chain (LazyIMT's zero hash 20).
#[test]
fn empty_root() {
    let expected = "15019797232609675441998260052101280400536945603062888308240081994073687793470";
    assert_eq!(MerkleTree::new().root().to_string(), expected);
}

#[test]
fn removing_restores_the_root() {
    let mut tree = MerkleTree::new();
    tree.set(5, Fr::from(1)).unwrap();
    let before = tree.root();
    tree.set(6, Fr::from(2)).unwrap();
    assert_ne!(tree.root(), before);
    tree.remove(6).unwrap();
    assert_eq!(tree.root(), before);
    assert_eq!(tree.leaf(6), Ok(Fr::ZERO));
}

#[test]
fn memory_follows_the_leaves() {
    let mut tree = MerkleTree::new();
    assert_eq!(tree.memory_bytes(), 0);
    let leaves: Vec<_> = (0..1000).map(|at| (at, Fr::from(at + 1))).collect();
    tree.set_many(&leaves).unwrap();
    // 1000 leaves, 1000 nodes above them and one node for each nearly empty level.
    assert!(
        (64_000..65_000).contains(&tree.memory_bytes()),
        "{}",
        tree.memory_bytes()
    );
    for at in 1000..1100 {
        tree.set(at, Fr::from(1)).unwrap();
    }
    assert!(tree.memory_bytes() < 80_000, "{}", tree.memory_bytes());
}

/// Small and large indices, so that neighbouring and distant leaves both occur.
fn operations() -> impl Strategy<Value = Vec<(u32, Option<u64>)>> {
    let index = prop_oneof![
        0u32..12,
        0u32..2000,
        Just(CAPACITY / 2),
        Just(CAPACITY / 2 - 1)
    ];
    prop::collection::vec((index, prop::option::of(1..u64::MAX)), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn equals_naive_recomputation_and_zerokit(operations in operations()) {
        let mut tree = MerkleTree::new();
        let mut model = BTreeMap::new();
        let mut zerokit = Zerokit::default(DEPTH).unwrap();
        for (index, value) in operations {
            let leaf = value.map(Fr::from);
            match leaf {
                Some(leaf) => tree.set(index, leaf).unwrap(),
                None => tree.remove(index).unwrap(),
            }
            model.insert(index, leaf.unwrap_or(Fr::ZERO));
            zerokit.set(index as usize, leaf.unwrap_or(Fr::ZERO)).unwrap();
            prop_assert_eq!(tree.root(), naive(&model, DEPTH, 0));
            prop_assert_eq!(tree.root(), zerokit.root());
        }
        for (index, leaf) in model {
            let path = tree.path(index).unwrap();
            prop_assert_eq!(tree.leaf(index), Ok(leaf));
            prop_assert_eq!(path.root_of(leaf), tree.root());
            prop_assert_ne!(path.root_of(leaf + Fr::from(1)), tree.root());
            let theirs = zerokit.proof(index as usize).unwrap();
            prop_assert_eq!(path.siblings.to_vec(), theirs.get_path_elements());
        }
    }

    #[test]
    fn a_batch_equals_single_sets(leaves in prop::collection::vec((0u32..64, 0u64..9), 0..20)) {
        let leaves: Vec<_> = leaves.into_iter().map(|(at, leaf)| (at, Fr::from(leaf))).collect();
        let mut batched = MerkleTree::new();
        batched.set_many(&leaves).unwrap();
        let mut single = MerkleTree::new();
        for (at, leaf) in &leaves {
            single.set(*at, *leaf).unwrap();
        }
        prop_assert_eq!(batched.root(), single.root());
        prop_assert_eq!(batched.path(3), single.path(3));
    }
}
