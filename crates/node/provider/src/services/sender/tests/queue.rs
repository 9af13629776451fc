use undertone_gossip::Time;
use undertone_services::sending::{
    FailReason, Input, MessageSender, Output, SendEvent, SendEventKind, SenderConfig,
};

use super::super::report::SendReports;
use super::*;

fn record(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

#[test]
fn what_was_written_is_there_after_the_file_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.sqlite");
    let (mut queue, kept) = SenderQueue::open(&path).unwrap();
    assert_eq!(kept.records.len() + kept.events.len(), 0);
    let mut reports = SendReports::default();
    let event = SendEvent {
        id: SendId(7),
        kind: SendEventKind::Failed(FailReason::Refused),
        hash: Some(MessageHash([9; 32])),
    };
    let (report, _) = reports.note(&event, 1_000);
    let put = |id, text| QueueWrite::Put(SendId(id), record(text));
    queue.commit(&[put(7, "a"), put(8, "b")]).unwrap();
    queue.commit(&[put(8, "c")]).unwrap();
    queue.commit(&[QueueWrite::Erase(SendId(7))]).unwrap();
    queue.commit(&[QueueWrite::Note(report)]).unwrap();
    drop(queue);
    let (mut queue, kept) = SenderQueue::open(&path).unwrap();
    assert_eq!(kept.records, [record("c")]);
    assert_eq!(kept.events, [report]);
    assert_eq!(kept.last_id, SendId(8));
    queue.commit(&[QueueWrite::Erase(SendId(8))]).unwrap();
    queue
        .commit(&[QueueWrite::Forget(vec![report.number])])
        .unwrap();
    drop(queue);
    let (_, kept) = SenderQueue::open(&path).unwrap();
    assert_eq!(kept.records.len() + kept.events.len(), 0);
    assert_eq!(kept.last_id, SendId(8), "numbers are not given again");
}

/// Permissions of the files of a queue.
fn modes(folder: &Path) -> Vec<(String, u32)> {
    let mut modes: Vec<(String, u32)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            (entry.file_name().into_string().unwrap(), mode)
        })
        .collect();
    modes.sort();
    modes
}

#[test]
fn only_its_owner_reads_a_queue() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.sqlite");
    let (mut queue, _) = SenderQueue::open(&path).unwrap();
    queue
        .commit(&[QueueWrite::Put(SendId(1), record("secret"))])
        .unwrap();
    let private = |name: &str| (name.to_owned(), 0o600);
    let expected = [private("queue.sqlite"), private("queue.sqlite-wal")];
    assert_eq!(modes(folder.path()), expected);
    // As earlier versions left it.
    drop(queue);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let _queue = SenderQueue::open(&path).unwrap();
    assert_eq!(modes(folder.path())[0], private("queue.sqlite"));
}

/// A queue as versions that knew no fragments made it: layout 1, records of version 1.
const FORMER: &str = "
    CREATE TABLE records (id INTEGER PRIMARY KEY, record BLOB NOT NULL) STRICT;
    CREATE TABLE events (
        number INTEGER PRIMARY KEY,
        id INTEGER NOT NULL,
        step INTEGER NOT NULL,
        hash BLOB CHECK (hash IS NULL OR length(hash) = 32),
        at_ns INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE last (only INTEGER PRIMARY KEY CHECK (only = 1), id INTEGER NOT NULL) STRICT;
    INSERT INTO last (only, id) VALUES (1, 287454020);
    INSERT INTO records (id, record) VALUES (287454020, x'0108c4e6888901120e2f77616b752f322f72732f312f301a2a0a0568656c6c6f12112f6170702f312f636861742f70726f746f508080d0e2c6bfce972faa0103070809208180a8b1e39fe7cb172802300238014001f5252c1b');
    INSERT INTO events (number, id, step, hash, at_ns) VALUES (5, 287454020, 0, NULL, 5);
    PRAGMA application_id = 1431589713;
    PRAGMA user_version = 1;
";

#[test]
fn a_queue_of_a_version_without_fragments_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.sqlite");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(FORMER).unwrap();
    drop(connection);
    let (_queue, kept) = SenderQueue::open(&path).unwrap();
    assert_eq!(kept.last_id, SendId(287_454_020));
    assert_eq!(kept.events[0].step, SendStep::Queued);
    let zero = 1_700_000_000_000_000_000;
    let rng = rand_chacha::rand_core::SeedableRng::seed_from_u64(1);
    let mut machine = MessageSender::new(SenderConfig::default(), zero, rng);
    let [record] = &kept.records[..] else {
        panic!("one record: {kept:?}");
    };
    let restored = machine.restore(Time::ZERO, record);
    assert_eq!((restored, machine.len()), (Ok(SendId(287_454_020)), 1));
    machine.handle(
        Time::ZERO,
        Input::RelayTopics(["/waku/2/rs/1/0".into()].into()),
    );
    let outputs: Vec<Output> = std::iter::from_fn(|| machine.poll()).collect();
    let [Output::Relay { message, .. }] = &outputs[..] else {
        panic!("it goes out with the proof that it has: {outputs:?}");
    };
    assert_eq!(&message.payload[..], b"hello");
    assert_eq!(message.rate_limit_proof.as_deref(), Some(&[7, 8, 9][..]));
}

#[test]
fn one_node_has_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("queue.sqlite");
    let (_queue, _) = SenderQueue::open(&path).unwrap();
    let second = SenderQueue::open(&path).unwrap_err();
    assert!(matches!(second, SendQueueError::Locked { .. }), "{second}");
}

#[test]
fn foreign_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(
        &text,
        "not a database at all, but long enough to be taken for one".repeat(20),
    )
    .unwrap();
    let refused = SenderQueue::open(&text).unwrap_err();
    assert!(
        matches!(refused, SendQueueError::Foreign { .. }),
        "{refused}"
    );
    let other = folder.path().join("other.sqlite");
    let connection = Connection::open(&other).unwrap();
    connection
        .execute_batch("CREATE TABLE a (b INTEGER)")
        .unwrap();
    drop(connection);
    let refused = SenderQueue::open(&other).unwrap_err();
    assert!(
        matches!(refused, SendQueueError::Foreign { .. }),
        "{refused}"
    );
    let newer = folder.path().join("newer.sqlite");
    drop(SenderQueue::open(&newer).unwrap());
    let connection = Connection::open(&newer).unwrap();
    connection.pragma_update(None, "user_version", 2).unwrap();
    drop(connection);
    let refused = SenderQueue::open(&newer).unwrap_err();
    assert!(
        matches!(refused, SendQueueError::Version { found: 2, .. }),
        "{refused}"
    );
}
