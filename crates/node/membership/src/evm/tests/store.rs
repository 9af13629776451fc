use alloy::primitives::Address;

use super::*;

const CONTRACT: Contract = Contract {
    chain_id: 1,
    address: Address::ZERO,
};

fn page(entries: &[StoredChange], number: u64) -> StorePage<'_> {
    StorePage {
        entries,
        cursor: BlockCursor {
            number,
            hash: None,
            accepted: Version(0),
        },
        checkpoints: &[],
        unverified: &[],
        settled: false,
    }
}

fn registration(block: u64, at: u32, commitment: u64) -> StoredChange {
    let commitment = Fr::from(commitment);
    StoredChange {
        block,
        step: LeafChange {
            index: MemberIndex::new(at).unwrap(),
            before: Fr::from(0),
            after: undertone_rln::rate_commitment(commitment, 20),
        },
        member: Some((commitment, 20)),
    }
}

#[test]
fn what_was_committed_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.sqlite");
    let entries = [registration(5, 0, 10), registration(6, 1, 11)];
    let store = Store::open(&path, &CONTRACT, 4).unwrap();
    assert_eq!(store.commit(&page(&entries, 9)).unwrap(), Version(2));
    drop(store);
    let store = Store::open(&path, &CONTRACT, 4).unwrap();
    assert_eq!(store.cursor().unwrap().number, 9);
    assert_eq!(store.version().unwrap(), Version(2));
    assert_eq!(store.find(Fr::from(11)).unwrap().unwrap().index.get(), 1);
    let steps: Vec<_> = entries.iter().map(|entry| entry.step).collect();
    assert_eq!(store.tail(Version(2), 10).unwrap(), steps);
    assert_eq!(store.tail(Version(1), 10).unwrap(), steps[..1]);
}

#[test]
fn another_contract_or_follower_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.sqlite");
    let store = Store::open(&path, &CONTRACT, 0).unwrap();
    let second = Store::open(&path, &CONTRACT, 0).unwrap_err();
    assert!(matches!(second, StorageError::Locked { .. }), "{second}");
    drop(store);
    for (chain_id, address) in [(2, Address::ZERO), (1, Address::repeat_byte(1))] {
        let other = Contract { chain_id, address };
        let error = Store::open(&path, &other, 0).unwrap_err();
        assert!(
            matches!(error, StorageError::OtherContract { .. }),
            "{error}"
        );
    }
    Store::open(&path, &CONTRACT, 0).unwrap();
}

#[test]
fn a_page_is_taken_whole_or_not_at_all() {
    let store = Store::in_memory(&CONTRACT, 0).unwrap();
    let mut entries = [registration(5, 0, 10), registration(6, 1, 11)];
    store.commit(&page(&entries[..1], 5)).unwrap();
    let before = store.cursor().unwrap();
    // SQLite has no such number: the second row fails.
    entries[1].block = u64::MAX;
    store.commit(&page(&entries, 9)).unwrap_err();
    assert_eq!(store.version().unwrap(), Version(1));
    assert_eq!(store.cursor().unwrap(), before);
}

#[test]
fn another_schema_is_refused_with_the_version_of_such_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chain.sqlite");
    drop(Store::open(&path, &CONTRACT, 0).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 7).unwrap();
    drop(connection);
    let error = Store::open(&path, &CONTRACT, 0).unwrap_err();
    let expected = matches!(
        error,
        StorageError::WrongSchema {
            found: 7,
            supported: 1,
            ..
        }
    );
    assert!(expected, "{error}");
    let text = error.to_string();
    assert!(text.contains("schema 7, this one reads 1"), "{text}");
}
