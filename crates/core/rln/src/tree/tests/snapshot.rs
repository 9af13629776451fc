use std::fs;

use proptest::prelude::*;

use super::*;

const REGISTRY: [u8; 16] = [0xab; 16];

fn roots(numbers: &[u64]) -> RootWindow {
    let mut roots = RootWindow::new(50);
    for number in numbers {
        roots.push(Fr::from(*number));
    }
    roots
}

fn tree(leaves: u32) -> MerkleTree {
    let mut tree = MerkleTree::new();
    let leaves: Vec<_> = (0..leaves).map(|at| (at, Fr::from(at + 1))).collect();
    tree.set_many(&leaves).unwrap();
    tree
}

/// Writes the bytes to a file and returns the result of loading it.
fn load_bytes(bytes: &[u8]) -> Result<TreeSnapshot, SnapshotDamage> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree");
    fs::write(&path, bytes).unwrap();
    match load(&path) {
        Ok(snapshot) => Ok(snapshot.expect("the file was just written")),
        Err(SnapshotError::Damaged { what, path: named }) => {
            assert_eq!(named, path);
            Err(what)
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn what_was_saved_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tree");
    assert!(load(&path).unwrap().is_none());
    for leaves in [0, 1, 2, 3, 100] {
        let tree = tree(leaves);
        save(&path, REGISTRY, 7, &tree, &roots(&[1, 2, 3])).unwrap();
        let mut loaded = load(&path).unwrap().unwrap();
        assert_eq!((loaded.registry, loaded.version), (REGISTRY, 7));
        assert_eq!(loaded.roots, [1, 2, 3].map(Fr::from));
        assert_eq!(loaded.tree.levels, tree.levels);
        // The loaded tree can be changed further.
        let mut tree = tree;
        tree.set(leaves, Fr::from(9)).unwrap();
        loaded.tree.set(leaves, Fr::from(9)).unwrap();
        assert_eq!(loaded.tree.root(), tree.root());
        assert_eq!(loaded.tree.path(leaves / 2), tree.path(leaves / 2));
    }
}

#[test]
fn each_changed_byte_is_noticed() {
    let good = encode(REGISTRY, 7, &tree(3), &roots(&[5]));
    assert!(load_bytes(&good).is_ok());
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 0x04;
        let damage = load_bytes(&bytes).map(|_| ()).unwrap_err();
        let expected = match at {
            0..8 => matches!(damage, SnapshotDamage::Magic),
            8..12 => matches!(damage, SnapshotDamage::Format { .. }),
            12..16 => matches!(damage, SnapshotDamage::Depth { .. }),
            16..24 => matches!(
                damage,
                SnapshotDamage::Length { .. } | SnapshotDamage::TooMany { .. }
            ),
            _ => damage == SnapshotDamage::Checksum,
        };
        assert!(expected, "byte {at}: {damage}");
    }
}

#[test]
fn each_truncation_and_anything_appended_is_noticed() {
    let good = encode(REGISTRY, 7, &tree(3), &roots(&[5]));
    let longer = [good.clone(), vec![0]].concat();
    let shorter = (0..good.len()).map(|length| good[..length].to_vec());
    for bytes in shorter.chain([longer]) {
        let damage = load_bytes(&bytes).map(|_| ()).unwrap_err();
        match damage {
            SnapshotDamage::Length { found_bytes, .. } => {
                assert_eq!(found_bytes, bytes.len() as u64);
            }
            other => panic!("{} bytes: {other}", bytes.len()),
        }
    }
}

#[test]
fn a_header_cannot_ask_for_more_than_a_tree() {
    let mut bytes = encode(REGISTRY, 7, &tree(3), &roots(&[]));
    bytes[16..20].copy_from_slice(&(CAPACITY + 1).to_le_bytes());
    let damage = SnapshotDamage::TooMany {
        leaves: CAPACITY + 1,
        roots: 0,
    };
    assert_eq!(load_bytes(&bytes).map(|_| ()), Err(damage));
}

#[test]
fn nodes_must_be_canonical_even_if_the_checksum_fits() {
    let mut bytes = encode(REGISTRY, 7, &tree(1), &roots(&[]));
    bytes[HEADER_BYTES + 32..HEADER_BYTES + 64].fill(0xff);
    let checked = bytes.len() - CHECKSUM_BYTES;
    let checksum = Sha256::digest(&bytes[..checked]);
    bytes[checked..].copy_from_slice(&checksum);
    let damage = SnapshotDamage::NonCanonical { at: 1 };
    assert_eq!(load_bytes(&bytes).map(|_| ()), Err(damage));
}

/// Golden test of the format: an empty tree at version 258.
#[test]
fn golden_bytes() {
    let bytes = encode(REGISTRY, 258, &MerkleTree::new(), &roots(&[]));
    let header = "5554524c4e54524502000000140000000000000000000000";
    assert_eq!(hex::encode(&bytes[..24]), header);
    assert_eq!(hex::encode(&bytes[24..32]), "0201000000000000");
    assert_eq!(bytes[32..48], REGISTRY);
    assert_eq!(bytes.len(), 80);
    assert_eq!(bytes[48..], Sha256::digest(&bytes[..48])[..]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn sparse_trees_round_trip(leaves in prop::collection::vec((0u32..300, 0u64..9), 0..12)) {
        let leaves: Vec<_> = leaves.into_iter().map(|(at, leaf)| (at, Fr::from(leaf))).collect();
        let mut tree = MerkleTree::new();
        tree.set_many(&leaves).unwrap();
        let loaded = load_bytes(&encode(REGISTRY, 1, &tree, &roots(&[]))).unwrap();
        prop_assert_eq!(loaded.tree.levels, tree.levels);
    }
}
