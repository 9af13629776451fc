use undertone_services::sending::{FailReason, SendEvent, SendEventKind};

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
    std::fs::write(
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
