use std::collections::BTreeSet;
use std::fs;
use std::thread;

use tempfile::TempDir;

use super::*;
use crate::view::MembershipView;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("members.sqlite");
    (folder, path)
}

fn index(index: u32) -> MemberIndex {
    MemberIndex::new(index).unwrap()
}

#[test]
fn members_come_and_go_and_survive_reopening() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    for (expected, commitment) in (0..).zip([10u64, 20, 30]) {
        assert_eq!(
            registry.register(Fr::from(commitment), 5).unwrap(),
            index(expected)
        );
    }
    registry.remove(index(1)).unwrap();
    assert_eq!(
        registry.register(Fr::from(20), 7).unwrap(),
        index(3),
        "indices are not reused"
    );
    drop(registry);

    let registry = SqliteRegistry::open(&path).unwrap();
    let member = |at, commitment: u64, limit| Member {
        index: index(at),
        commitment: Fr::from(commitment),
        limit,
    };
    let members = [member(0, 10, 5), member(2, 30, 5), member(3, 20, 7)];
    assert_eq!(registry.members().unwrap(), members);
    assert_eq!(registry.find(Fr::from(20)).unwrap(), Some(members[2]));
    assert_eq!(registry.find(Fr::from(99)).unwrap(), None);
    assert_eq!(registry.version().unwrap(), Version(5));

    let change = |version, at, kind| Change {
        version: Version(version),
        index: index(at),
        kind,
    };
    let removal = change(4, 1, ChangeKind::Removed);
    let registered = ChangeKind::Registered {
        commitment: Fr::from(20),
        limit: 7,
    };
    let again = change(5, 3, registered);
    assert_eq!(
        registry.changes_since(Version(3), 10).unwrap(),
        [removal, again]
    );
    assert_eq!(registry.changes_since(Version(3), 1).unwrap(), [removal]);
    assert_eq!(registry.changes_since(Version(u64::MAX), 10).unwrap(), []);

    let mut view = MembershipView::new(50);
    assert!(view.refresh(&registry).unwrap());
    assert_eq!(view.tree().root(), registry.tree().unwrap().root());
    assert_eq!(view.roots().len(), 5);
}

#[test]
fn the_last_index_is_not_reused_either() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    assert_eq!(registry.register(Fr::from(10), 5).unwrap(), index(0));
    registry.remove(index(0)).unwrap();
    assert_eq!(registry.register(Fr::from(10), 5).unwrap(), index(1));
}

#[test]
fn many_register_together_or_not_at_all() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    registry.register(Fr::from(1), 1).unwrap();
    let given = registry.register_all(&[(Fr::from(3), 3), (Fr::from(2), 2)]);
    assert_eq!(given.unwrap(), [index(1), index(2)]);
    let refused = registry.register_all(&[(Fr::from(4), 4), (Fr::from(3), 3)]);
    assert!(
        matches!(refused, Err(RegistryError::AlreadyRegistered { index: at }) if at == index(1))
    );
    let refused = registry.register_all(&[(Fr::from(4), 4), (Fr::from(5), 0)]);
    assert!(matches!(
        refused,
        Err(RegistryError::LimitOutOfRange { limit: 0, .. })
    ));
    assert_eq!(registry.find(Fr::from(4)).unwrap(), None);
    assert_eq!(registry.version().unwrap(), Version(3));
    assert_eq!(registry.register_all(&[]).unwrap(), []);
}

#[test]
fn refused_registrations_leave_no_trace() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open_or_create(&path, 20).unwrap();
    registry.register(Fr::from(10), 20).unwrap();
    let refuse = |commitment: u64, limit| registry.register(Fr::from(commitment), limit);
    let known = index(0);
    let error = refuse(10, 3).unwrap_err();
    assert!(matches!(error, RegistryError::AlreadyRegistered { index } if index == known));
    let error = refuse(0, 3).unwrap_err();
    assert!(matches!(error, RegistryError::ZeroCommitment), "{error}");
    for asked in [0, 21, u32::MAX] {
        let error = refuse(11, asked).unwrap_err();
        let expected = matches!(error, RegistryError::LimitOutOfRange { limit, max_limit: 20 }
            if limit == asked);
        assert!(expected, "{error}");
    }
    let error = registry.remove(index(7)).unwrap_err();
    assert!(matches!(error, RegistryError::UnknownMember { index } if index.get() == 7));
    assert_eq!(registry.version().unwrap(), Version(1));
    assert_eq!(registry.register(Fr::from(11), 1).unwrap(), index(1));
}

#[test]
fn the_bound_of_limits_stays_with_the_file() {
    let (_folder, path) = folder();
    drop(SqliteRegistry::open_or_create(&path, 20).unwrap());
    assert_eq!(
        SqliteRegistry::open_or_create(&path, 600)
            .unwrap()
            .max_limit(),
        20
    );
    let (_folder, path) = folder();
    assert_eq!(
        SqliteRegistry::open_or_create(&path, u32::MAX)
            .unwrap()
            .max_limit(),
        MAX_LIMIT
    );
}

#[test]
fn the_tree_fills_up() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    let sql = "INSERT INTO changes VALUES (1, 1048575, zeroblob(32), NULL, NULL)";
    registry.connection.lock().execute(sql, []).unwrap();
    let error = registry.register(Fr::from(10), 1).unwrap_err();
    assert!(matches!(error, RegistryError::Full), "{error}");
}

#[test]
fn threads_with_their_own_connections_share_the_indices() {
    const THREADS: u64 = 4;
    const EACH: u64 = 12;
    let (_folder, path) = folder();
    let register_some = |thread: u64| {
        let registry = SqliteRegistry::open(&path).unwrap();
        let first = 1 + thread * EACH;
        let commitments = (first..first + EACH).map(Fr::from);
        let indices = commitments.map(|c| registry.register(c, 5).unwrap().get());
        indices.collect::<Vec<_>>()
    };
    let indices: Vec<u32> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || register_some(thread)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    let distinct = BTreeSet::from_iter(&indices);
    assert_eq!(distinct.len() as u64, THREADS * EACH, "{indices:?}");
    let registry = SqliteRegistry::open(&path).unwrap();
    assert_eq!(registry.version().unwrap(), Version(THREADS * EACH));
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let (_folder, path) = folder();
    let content = b"these are my holiday notes, not a database; ".repeat(100);
    fs::write(&path, &content).unwrap();
    let error = SqliteRegistry::open(&path).unwrap_err();
    assert!(
        matches!(&error, StorageError::NotADatabase { path: p } if *p == path),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), content);
}

#[test]
fn a_foreign_database_is_left_alone() {
    let (_folder, path) = folder();
    let foreign = Connection::open(&path).unwrap();
    foreign
        .execute_batch("CREATE TABLE holidays (day TEXT)")
        .unwrap();
    drop(foreign);
    let content = fs::read(&path).unwrap();
    let error = SqliteRegistry::open(&path).unwrap_err();
    assert!(
        matches!(&error, StorageError::NotARegistry { path: p } if *p == path),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), content);
}

#[test]
fn another_schema_is_refused() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    registry
        .connection
        .lock()
        .pragma_update(None, "user_version", 4)
        .unwrap();
    drop(registry);
    let error = SqliteRegistry::open(&path).unwrap_err();
    assert!(
        matches!(
            error,
            StorageError::WrongSchema {
                found: 4,
                supported: 3,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_registry_keeps_its_identity_and_no_other_has_it() {
    let (_folder, path) = folder();
    let (_other_folder, other_path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    let id = registry.id();
    registry.register(Fr::from(1), 5).unwrap();
    assert_eq!(SqliteRegistry::open(&path).unwrap().id(), id);
    assert_ne!(SqliteRegistry::open(&other_path).unwrap().id(), id);
}

#[test]
fn a_file_from_before_identities_gets_one_and_keeps_its_members() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open_or_create(&path, 9).unwrap();
    registry.register(Fr::from(1), 5).unwrap();
    let back =
        "DROP TABLE identity; ALTER TABLE changes DROP COLUMN unix_ns; PRAGMA user_version = 1;";
    registry.connection.lock().execute_batch(back).unwrap();
    drop(registry);
    let migrated = SqliteRegistry::open(&path).unwrap();
    assert_eq!(migrated.max_limit(), 9);
    assert_eq!(migrated.members().unwrap().len(), 1);
    assert_eq!(SqliteRegistry::open(&path).unwrap().id(), migrated.id());
}

#[test]
fn a_file_from_before_times_gets_them_for_later_changes() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    registry.register(Fr::from(1), 5).unwrap();
    let id = registry.id();
    let back = "ALTER TABLE changes DROP COLUMN unix_ns; PRAGMA user_version = 2;";
    registry.connection.lock().execute_batch(back).unwrap();
    drop(registry);
    let before_ns = unix_now_ns();
    let migrated = SqliteRegistry::open(&path).unwrap();
    assert_eq!(migrated.id(), id);
    migrated.register(Fr::from(2), 5).unwrap();
    migrated.remove(index(0)).unwrap();
    let dated = migrated.dated_changes_since(Version(0), 9).unwrap();
    let changes = migrated.changes_since(Version(0), 9).unwrap();
    assert!(dated.iter().map(|dated| dated.change).eq(changes));
    assert!(dated.iter().map(|dated| dated.moment).eq(1..=3));
    let times: Vec<_> = dated.iter().map(|dated| dated.unix_ns).collect();
    assert_eq!(times[0], None);
    let before_ns = before_ns.map(i64::unsigned_abs);
    assert!(before_ns <= times[1] && times[1] <= times[2], "{times:?}");
    assert!(times[2] <= unix_now_ns().map(i64::unsigned_abs));
}

#[test]
fn a_missing_folder_is_named() {
    let (folder, _) = folder();
    let path = folder.path().join("none").join("members.sqlite");
    let error = SqliteRegistry::open(&path).unwrap_err();
    assert!(matches!(&error, StorageError::Io { path: p, .. } if p.starts_with(folder.path())));
    assert!(error.to_string().contains("none"), "{error}");
}

#[test]
fn damaged_pages_are_reported() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    for commitment in 1..=50u64 {
        registry.register(Fr::from(commitment), 5).unwrap();
    }
    drop(registry);
    let good = fs::read(&path).unwrap();
    // Page 1 holds the header and the schema, each other page a part of a table or an index.
    assert!(good.len() > 5 * PAGE_BYTES);
    for page in 1..good.len() / PAGE_BYTES {
        let mut bytes = good.clone();
        bytes[page * PAGE_BYTES..][..PAGE_BYTES].fill(0x5a);
        fs::write(&path, &bytes).unwrap();
        let error = SqliteRegistry::open(&path).unwrap_err();
        let expected = matches!(&error, StorageError::Corrupt { path: p, .. } if *p == path);
        assert!(expected, "page {page}: {error}");
    }
}

const PAGE_BYTES: usize = 4096;

#[test]
fn values_that_no_registry_writes_are_reported() {
    let reading = |sql: &str| {
        let (_folder, path) = folder();
        let registry = SqliteRegistry::open(&path).unwrap();
        registry.connection.lock().execute(sql, []).unwrap();
        let from_members = registry.members().map(|_| ()).unwrap_err();
        from_members.to_string()
    };
    let blob = "ff".repeat(32);
    let shown = reading(&format!("INSERT INTO members VALUES (3, x'{blob}', 5)"));
    assert!(
        shown.contains("commitment of member 3 is not a canonical"),
        "{shown}"
    );

    let (_folder, path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    let sql = format!("INSERT INTO changes VALUES (1, 4, x'{blob}', NULL, NULL)");
    registry.connection.lock().execute(&sql, []).unwrap();
    let error = registry.changes_since(Version(0), 10).unwrap_err();
    let what = StorageDamage::Commitment { index: 4 };
    let expected = matches!(&error, RegistryError::Storage(StorageError::Corrupt { what: w, .. })
        if *w == what);
    assert!(expected, "{error}");
}

#[test]
fn a_writer_that_never_ends_is_reported() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    let mut other = Connection::open(&path).unwrap();
    let held = other
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    registry
        .connection
        .lock()
        .busy_timeout(std::time::Duration::ZERO)
        .unwrap();
    let error = registry.register(Fr::from(1), 5).unwrap_err();
    let expected = matches!(&error, RegistryError::Storage(StorageError::Locked { path: p })
        if *p == path);
    assert!(expected, "{error}");
    drop(held);
    assert_eq!(registry.register(Fr::from(1), 5).unwrap(), index(0));
}

#[test]
fn a_full_disk_is_reported_and_changes_nothing() {
    let (_folder, path) = folder();
    let registry = SqliteRegistry::open(&path).unwrap();
    registry.register(Fr::from(1), 5).unwrap();
    // The page limit makes SQLite report what it reports for a full disk.
    registry
        .connection
        .lock()
        .pragma_update(None, "max_page_count", 1)
        .unwrap();
    let error = (2..10_000u64)
        .find_map(|c| registry.register(Fr::from(c), 5).err())
        .unwrap();
    let expected = matches!(&error, RegistryError::Storage(StorageError::DiskFull { path: p })
        if *p == path);
    assert!(expected, "{error}");
    let members = registry.members().unwrap().len() as u64;
    assert_eq!(registry.version().unwrap(), Version(members));
    let mut view = MembershipView::new(50);
    view.refresh(&registry).unwrap();
    assert_eq!(view.tree().root(), registry.tree().unwrap().root());
}
