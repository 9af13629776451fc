//! Faults of disks and servers: errors that name the place and the remedy, and recovery.

use std::fs;
use std::process::Command;

use undertone_archive::{Archive, ArchiveError, ArchiveOptions, ArchiveUrl, QueryError};

use crate::fixture::{Place, everything, message, payloads};

async fn opened(url: &ArchiveUrl) -> Result<Archive, ArchiveError> {
    Archive::open(url, ArchiveOptions::default()).await
}

#[tokio::test]
async fn a_directory_that_vanishes_is_noticed_and_its_return_too() {
    let place = Place::sqlite().unwrap();
    let archive = place.open("none").await;
    archive.insert(vec![message(1, "before")]).await.unwrap();
    let parent = place.directory.as_ref().unwrap().path();
    let (here, away) = (parent.join("archive"), parent.join("away"));
    fs::rename(&here, &away).unwrap();
    let error = archive.insert(vec![message(2, "lost")]).await.unwrap_err();
    assert!(matches!(error, ArchiveError::Vanished { .. }));
    let text = error.to_string();
    assert!(
        text.contains(here.to_str().unwrap()) && text.contains("mount or restore"),
        "{text}"
    );
    assert!(matches!(
        archive.query(everything()).await,
        Err(QueryError::Archive(ArchiveError::Vanished { .. }))
    ));
    assert!(archive.health().failing);
    // An empty directory, such as a mount point without its disk, is not the archive.
    fs::create_dir(&here).unwrap();
    archive.insert(vec![message(2, "lost")]).await.unwrap_err();
    fs::remove_dir(&here).unwrap();
    fs::rename(&away, &here).unwrap();
    archive.insert(vec![message(3, "after")]).await.unwrap();
    assert_eq!(payloads(&archive, everything()).await, ["before", "after"]);
    let health = archive.health();
    assert!(!health.failing && health.last_error.is_some() && health.failed_batches == 2);
}

/// When nothing arrives, the retention is what notices.
#[tokio::test]
async fn a_quiet_archive_notices_too_that_its_directory_is_gone() {
    let place = Place::sqlite().unwrap();
    let archive = place.open("none").await;
    let parent = place.directory.as_ref().unwrap().path();
    let (here, away) = (parent.join("archive"), parent.join("away"));
    fs::rename(&here, &away).unwrap();
    archive.maintain(0).await.unwrap_err();
    let health = archive.health();
    assert!(health.failing && health.failed_batches == 0);
    fs::rename(&away, &here).unwrap();
    archive.maintain(0).await.unwrap();
    assert!(!archive.health().failing);
    // A retention that succeeds does not hide insertions that fail.
    fs::rename(&here, &away).unwrap();
    archive.insert(vec![message(1, "x")]).await.unwrap_err();
    fs::rename(&away, &here).unwrap();
    archive.maintain(0).await.unwrap();
    assert!(archive.health().failing);
    archive.insert(vec![message(1, "x")]).await.unwrap();
    assert!(!archive.health().failing);
}

/// An archive restored from a copy has the same names but other files.
#[tokio::test]
async fn a_restored_copy_is_taken_up() {
    let place = Place::sqlite().unwrap();
    let parent = place.directory.as_ref().unwrap().path();
    let (here, copy) = (parent.join("archive"), parent.join("copy"));
    drop_and_wait(place.open("none").await, "copied").await;
    let copied = Command::new("cp").arg("-r").args([&here, &copy]).status();
    assert!(copied.unwrap().success());
    let archive = place.open("none").await;
    archive
        .insert(vec![message(2, "not in the copy")])
        .await
        .unwrap();
    fs::rename(&here, parent.join("away")).unwrap();
    fs::rename(&copy, &here).unwrap();
    let error = archive.insert(vec![message(3, "x")]).await.unwrap_err();
    assert!(matches!(error, ArchiveError::Vanished { .. }));
    archive.insert(vec![message(3, "after")]).await.unwrap();
    assert_eq!(payloads(&archive, everything()).await, ["copied", "after"]);
}

/// Inserts a message and closes the archive; opening it again waits until it is closed.
async fn drop_and_wait(archive: Archive, payload: &str) {
    archive.insert(vec![message(1, payload)]).await.unwrap();
    let url = ArchiveUrl::sqlite(archive.place());
    drop(archive);
    opened(&url).await.unwrap();
    opened(&url).await.unwrap();
}

#[tokio::test]
async fn two_writers_of_one_directory_are_refused() {
    let place = Place::sqlite().unwrap();
    let _first = place.open("none").await;
    let error = opened(&place.url).await.unwrap_err();
    assert!(matches!(error, ArchiveError::InUse { .. }));
    assert!(error.to_string().contains("another process"));
}

#[tokio::test]
async fn what_one_process_writes_another_reads_and_changes_nothing() {
    let place = Place::sqlite().unwrap();
    let absent = Archive::open_to_read(&place.url, 1).await.unwrap_err();
    assert!(matches!(absent, ArchiveError::NoArchive { .. }), "{absent}");
    let here = place.directory.as_ref().unwrap().path().join("archive");
    assert!(!here.exists());

    let writer = place.open("none").await;
    writer.insert(vec![message(1, "first")]).await.unwrap();
    let reader = Archive::open_to_read(&place.url, 1).await.unwrap();
    assert_eq!(payloads(&reader, everything()).await, ["first"]);
    writer.insert(vec![message(2, "second")]).await.unwrap();
    assert_eq!(payloads(&reader, everything()).await, ["first", "second"]);
    assert_eq!(
        reader.stats().await.unwrap().messages,
        1,
        "as it was opened"
    );
    let refused = reader.insert(vec![message(3, "third")]).await.unwrap_err();
    assert!(matches!(refused, ArchiveError::Closed { .. }), "{refused}");
    writer.insert(vec![message(3, "third")]).await.unwrap();
}

#[cfg(feature = "postgres")]
#[tokio::test]
async fn a_database_is_read_without_making_an_archive_of_it() {
    let Some(place) = Place::postgres() else {
        return;
    };
    for _ in 0..2 {
        let absent = Archive::open_to_read(&place.url, 1).await.unwrap_err();
        assert!(matches!(absent, ArchiveError::NoArchive { .. }), "{absent}");
    }
    let writer = place.open("none").await;
    writer.insert(vec![message(1, "first")]).await.unwrap();
    let reader = Archive::open_to_read(&place.url, 1).await.unwrap();
    assert_eq!(payloads(&reader, everything()).await, ["first"]);
}

#[tokio::test]
async fn a_damaged_archive_is_called_so() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(
        directory.path().join("archive.sqlite"),
        "no database".repeat(500),
    )
    .unwrap();
    let error = opened(&ArchiveUrl::sqlite(directory.path()))
        .await
        .unwrap_err();
    assert!(matches!(error, ArchiveError::Damaged { .. }));
    assert!(
        error
            .to_string()
            .contains(directory.path().to_str().unwrap())
    );
}

#[tokio::test]
async fn a_file_in_the_place_of_a_directory_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = opened(&ArchiveUrl::sqlite(file.path())).await.unwrap_err();
    assert!(matches!(error, ArchiveError::NotAnArchive { .. }));
    let text = error.to_string();
    assert!(text.contains(file.path().to_str().unwrap()), "{text}");
    assert!(text.contains("is of another program"), "{text}");
}

#[tokio::test]
async fn a_database_of_another_program_is_named_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let marker = directory.path().join("archive.sqlite");
    let other = rusqlite::Connection::open(&marker).unwrap();
    other
        .execute_batch("CREATE TABLE message (id INTEGER)")
        .unwrap();
    drop(other);
    let before = fs::read(&marker).unwrap();
    let error = opened(&ArchiveUrl::sqlite(directory.path()))
        .await
        .unwrap_err();
    assert!(
        matches!(error, ArchiveError::NotAnArchive { .. }),
        "{error}"
    );
    assert_eq!(fs::read(&marker).unwrap(), before);
}

/// Archive with thirty messages in one slot, which is closed again, and the file of the slot.
async fn thirty_messages() -> (Place, std::path::PathBuf) {
    let place = Place::sqlite().unwrap();
    let archive = place.open("none").await;
    let batch = (0..30).map(|n| message(n, &"x".repeat(3000)));
    archive.insert(batch.collect()).await.unwrap();
    drop(archive);
    // Closing ends when the next process may have the archive.
    while opened(&place.url).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let directory = place.directory.as_ref().unwrap().path();
    let slot = directory.join("archive/slot-00000000.sqlite");
    (place, slot)
}

#[tokio::test]
async fn an_emptied_slot_is_damage_and_stays_where_it_is() {
    let (place, slot) = thirty_messages().await;
    fs::write(&slot, "").unwrap();
    let error = loop {
        match opened(&place.url).await {
            Err(ArchiveError::InUse { .. }) => {}
            outcome => break outcome.unwrap_err(),
        }
    };
    assert!(matches!(error, ArchiveError::Damaged { .. }), "{error}");
    assert!(
        error.to_string().contains(slot.to_str().unwrap()),
        "{error}"
    );
    let error = Archive::open_to_read(&place.url, 1).await.unwrap_err();
    assert!(matches!(error, ArchiveError::Damaged { .. }), "{error}");
    assert!(slot.exists());
}

#[tokio::test]
async fn damage_that_a_query_finds_is_told_by_the_health() {
    let (place, slot) = thirty_messages().await;
    let mut bytes = fs::read(&slot).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0x55);
    fs::write(&slot, bytes).unwrap();
    let archive = place.open("none").await;
    assert!(archive.health().damage.is_none());
    archive.query(everything()).await.unwrap_err();
    let damage = archive.health().damage.unwrap().to_string();
    assert!(
        damage.contains("slot-00000000.sqlite is damaged: restore it"),
        "{damage}"
    );
}

/// A process that was killed while it made a slot.
#[tokio::test]
async fn an_unfinished_slot_is_removed() {
    let (place, slot) = thirty_messages().await;
    let left = ["slot-00000001.new", "slot-00000001.new-journal"];
    let left = left.map(|name| slot.with_file_name(name));
    for path in &left {
        fs::write(path, "half").unwrap();
    }
    let archive = place.open("none").await;
    assert_eq!(archive.stats().await.unwrap().messages, 30);
    assert!(left.iter().all(|path| !path.exists()));
}

/// Run by another process in its own namespace, on a small file system.
#[tokio::test]
async fn on_a_small_disk() {
    let Ok(directory) = std::env::var("UNDERTONE_SMALL_DISK") else {
        return;
    };
    let archive = opened(&ArchiveUrl::sqlite(&directory)).await.unwrap();
    let filler = std::path::Path::new(&directory).with_file_name("filler");
    archive.insert(vec![message(0, "first")]).await.unwrap();
    let mut failed = None;
    let mut kept = 1;
    for n in 1..10_000 {
        match archive.insert(vec![message(n, &"x".repeat(20_000))]).await {
            Ok(report) => kept += report.inserted,
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
        if n == 5 {
            fs::write(&filler, vec![0; 2 << 20]).unwrap();
        }
    }
    let error = failed.expect("the disk is full at some time");
    assert!(matches!(error, ArchiveError::Full { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains(&directory) && text.contains("free space"),
        "{text}"
    );
    assert_eq!(payloads(&archive, everything()).await.len(), kept);
    archive
        .insert(vec![message(20_000, &"x".repeat(20_000))])
        .await
        .unwrap_err();
    fs::remove_file(&filler).unwrap();
    archive
        .insert(vec![message(20_001, "after")])
        .await
        .unwrap();
    assert_eq!(payloads(&archive, everything()).await.len(), kept + 1);
    println!("the small disk was full");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "mounts a tmpfs; cargo xtask test --only unit"]
fn a_full_disk_is_called_so_and_writing_resumes() {
    let directory = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=6m small-disk \"$1\" && shift && exec \"$@\"";
    let output = Command::new("unshare")
        .args([
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
        ])
        .arg(directory.path())
        .arg(std::env::current_exe().unwrap())
        .args(["faults::on_a_small_disk", "--exact", "--nocapture"])
        .env("UNDERTONE_SMALL_DISK", directory.path().join("archive"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("the small disk was full"),
        "needs user namespaces\n{text}{errors}"
    );
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use crate::fixture::server;
    use crate::postgres_server::{PASSWORD, PostgresServer};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_server_that_stops_is_unreachable_until_it_is_back() {
        let Some(mut server) = PostgresServer::start(true) else {
            return;
        };
        let url: ArchiveUrl = server.create_database("store").parse().unwrap();
        let archive = opened(&url).await.unwrap();
        archive.insert(vec![message(1, "before")]).await.unwrap();
        for (time, crash) in [(2, false), (3, true)] {
            if crash {
                server.crash();
            } else {
                server.stop();
            }
            let error = archive.insert(vec![message(9, "lost")]).await.unwrap_err();
            assert!(
                matches!(error, ArchiveError::Unreachable { .. }),
                "{error:?}"
            );
            let text = error.to_string();
            assert!(
                text.contains("postgres://waku@127.0.0.1:") && text.contains("/store"),
                "{text}"
            );
            assert!(!format!("{text}{error:?}{archive:?}").contains(PASSWORD));
            let error = archive.query(everything()).await.unwrap_err();
            assert!(
                matches!(error, QueryError::Archive(ArchiveError::Unreachable { .. })),
                "{error:?}"
            );
            assert!(archive.health().failing);
            server.start_again();
            archive.insert(vec![message(time, "after")]).await.unwrap();
            assert!(!archive.health().failing);
        }
        assert_eq!(
            payloads(&archive, everything()).await,
            ["before", "after", "after"]
        );
        drop(archive);
        server.stop();
        let error = opened(&url).await.unwrap_err();
        assert!(
            matches!(error, ArchiveError::Unreachable { .. }),
            "{error:?}"
        );
    }

    #[tokio::test]
    async fn a_wrong_password_and_a_missing_database_are_called_so() {
        let Some(server) = server() else {
            return;
        };
        let wrong = server.url("postgres").replace(PASSWORD, "wr0ng");
        let error = opened(&wrong.parse().unwrap()).await.unwrap_err();
        assert!(matches!(error, ArchiveError::Denied { .. }), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("wr0ng"));
        let error = opened(&server.url("nothing").parse().unwrap())
            .await
            .unwrap_err();
        assert!(matches!(error, ArchiveError::Vanished { .. }), "{error:?}");
    }

    #[tokio::test]
    async fn a_full_disk_of_the_server_is_called_so_and_writing_resumes() {
        let Some(place) = Place::postgres() else {
            return;
        };
        let (server, database) = (server().unwrap(), place.database.as_deref().unwrap());
        let archive = place.open("none").await;
        archive.insert(vec![message(1, "before")]).await.unwrap();
        server.sql(
            database,
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
               BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$;
             CREATE TRIGGER full_disk BEFORE INSERT ON message FOR EACH ROW EXECUTE FUNCTION full_disk()",
        );
        let error = archive.insert(vec![message(2, "lost")]).await.unwrap_err();
        assert!(matches!(error, ArchiveError::Full { .. }), "{error:?}");
        server.sql(database, "DROP TRIGGER full_disk ON message");
        archive.insert(vec![message(3, "after")]).await.unwrap();
        assert_eq!(payloads(&archive, everything()).await, ["before", "after"]);
    }

    #[tokio::test]
    async fn a_database_of_another_program_is_named() {
        let Some(place) = Place::postgres() else {
            return;
        };
        let (server, database) = (server().unwrap(), place.database.as_deref().unwrap());
        server.sql(database, "CREATE TABLE message (id bigint)");
        let error = opened(&place.url).await.unwrap_err();
        assert!(
            matches!(error, ArchiveError::NotAnArchive { .. }),
            "{error}"
        );
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }

    /// Two nodes may share a database; each learns of the other's partitions.
    #[tokio::test]
    async fn two_writers_of_one_database_agree() {
        let Some(place) = Place::postgres() else {
            return;
        };
        let (one, two) = (
            place.open("capacity:320").await,
            place.open("capacity:320").await,
        );
        // The first writer closes the partition, which the second one does not know.
        one.insert((0..21).map(|n| message(n, "a")).collect())
            .await
            .unwrap();
        two.insert(vec![message(20, "b")]).await.unwrap();
        two.insert((21..31).map(|n| message(n, "c")).collect())
            .await
            .unwrap();
        let stats = one.stats().await.unwrap();
        assert_eq!((stats.messages, stats.slots), (32, 2));
        // The second writer drops it, and the first one learns that.
        two.insert((31..330).map(|n| message(n, "d")).collect())
            .await
            .unwrap();
        one.insert(vec![message(9, "late")]).await.unwrap();
        let stats = two.stats().await.unwrap();
        assert!(stats.messages <= 320, "{stats:?}");
        assert_eq!(stats.oldest_ns, Some(9));
    }

    /// A process that ended while it closed a partition leaves a constraint behind.
    #[tokio::test]
    async fn a_half_closed_partition_takes_messages_again() {
        let Some(place) = Place::postgres() else {
            return;
        };
        let (server, database) = (server().unwrap(), place.database.as_deref().unwrap());
        let archive = place.open("none").await;
        archive.insert(vec![message(1, "before")]).await.unwrap();
        let partition = server.sql(database, "SELECT partition FROM message_slot");
        let constraint =
            format!("ALTER TABLE {partition} ADD CONSTRAINT closed CHECK (timestamp <= 5)");
        server.sql(database, &constraint);
        archive.insert(vec![message(7, "after")]).await.unwrap();
        assert_eq!(payloads(&archive, everything()).await, ["before", "after"]);
    }
}
