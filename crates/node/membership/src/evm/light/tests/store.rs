use alloy::primitives::address;
use undertone_rln::MerkleTree;

use super::*;

const CONTRACT: Contract = Contract {
    chain_id: 59_141,
    address: address!("b9cd878c90e49f797b4431fbf4fb333108cb90e6"),
};

fn known() -> LightState {
    let member = Member {
        index: MemberIndex::new(5).unwrap(),
        commitment: Fr::from(7),
        limit: 20,
    };
    let mut tree = MerkleTree::new();
    tree.set(5, member.leaf()).unwrap();
    LightState {
        block: Some(BlockRef {
            number: 9,
            hash: [3; 32].into(),
        }),
        roots: vec![Fr::from(4), tree.root()],
        orphans: vec![Orphan {
            root: Fr::from(2),
            until_block: 41,
        }],
        own: Some(Own {
            commitment: member.commitment,
            place: Some(OwnPlace {
                member,
                path: tree.path(5).unwrap(),
            }),
        }),
    }
}

#[test]
fn what_is_saved_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.sqlite");
    let open = || LightStore::open(&path, &CONTRACT).unwrap();
    assert_eq!(open().load().unwrap(), LightState::default());
    let mut known = known();
    let store = open();
    store.save(&known).unwrap();
    assert!(matches!(
        LightStore::open(&path, &CONTRACT),
        Err(StorageError::Locked { .. })
    ));
    drop(store);
    assert_eq!(open().load().unwrap(), known);
    // Everything is replaced.
    known.roots = vec![Fr::from(8)];
    known.orphans.clear();
    let commitment = Fr::from(6);
    let place = None;
    known.own = Some(Own { commitment, place });
    open().save(&known).unwrap();
    assert_eq!(open().load().unwrap(), known);
    known.own = None;
    open().save(&known).unwrap();
    assert_eq!(open().load().unwrap(), known);
}

#[test]
fn another_contracts_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.sqlite");
    drop(LightStore::open(&path, &CONTRACT).unwrap());
    let other = Contract {
        chain_id: 1,
        ..CONTRACT
    };
    assert!(matches!(
        LightStore::open(&path, &other),
        Err(StorageError::OtherContract { .. })
    ));
}

#[test]
fn the_other_modes_file_is_refused_and_left_as_it_is() {
    use crate::evm::store::Store as Full;
    let folder = tempfile::tempdir().unwrap();
    let (light, full) = (folder.path().join("light"), folder.path().join("full"));
    drop(LightStore::open(&light, &CONTRACT).unwrap());
    drop(Full::open(&full, &CONTRACT, 0).unwrap());
    let message = Full::open(&light, &CONTRACT, 0).unwrap_err().to_string();
    assert!(message.contains("not of full mode"), "{message}");
    let message = LightStore::open(&full, &CONTRACT).unwrap_err().to_string();
    assert!(message.contains("not of light mode"), "{message}");
    assert!(LightStore::open(&light, &CONTRACT).is_ok());
    assert!(Full::open(&full, &CONTRACT, 0).is_ok());
}

#[test]
fn a_value_that_is_no_field_element_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.sqlite");
    let store = LightStore::open(&path, &CONTRACT).unwrap();
    store.save(&known()).unwrap();
    let connection = store.connection.lock();
    connection
        .execute("UPDATE roots SET root = ?1", [[0xff; 32]])
        .unwrap();
    drop(connection);
    assert!(matches!(store.load(), Err(StorageError::Corrupt { .. })));
}
