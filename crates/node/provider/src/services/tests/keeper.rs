use undertone_message::WakuMessage;

use super::*;

const NOW_NS: i64 = 1_700_000_000_000_000_000;

fn message(timestamp_ns: i64, is_ephemeral: bool) -> StoredMessage {
    let message = WakuMessage {
        timestamp: Some(timestamp_ns),
        ephemeral: Some(is_ephemeral),
        ..WakuMessage::new(b"hello".to_vec(), "/app/1/name/proto")
    };
    StoredMessage::new("/waku/2/rs/1/0", message)
}

#[tokio::test]
async fn what_is_offered_is_found_in_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let url = undertone_archive::ArchiveUrl::sqlite(folder.path().join("store"));
    let archive = Archive::open(&url, Default::default()).await.unwrap();
    let (queue, counts) = start(archive.clone(), None);
    let kept = message(unix_now_ns(), false);
    queue.offer(&kept, unix_now_ns());
    queue.offer(&message(unix_now_ns(), true), unix_now_ns());
    while counts.pending() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(archive.contains(&[kept.hash]).await.unwrap(), [true]);
    let counts = counts.counts();
    let expected = ArchiveCounts {
        kept: 1,
        held: 1,
        refused: 1,
        write_times: counts.write_times,
        ..ArchiveCounts::default()
    };
    assert_eq!(counts, expected);
    let writes: u64 = counts.write_times.counts.iter().sum();
    assert_eq!(writes, 1);
}

#[test]
fn a_batch_is_bounded_in_number_and_in_bytes() {
    let (sender, mut messages) = mpsc::channel(WAITING_MAX);
    for _ in 0..BATCH_MAX + 10 {
        sender.try_send(message(NOW_NS, false)).unwrap();
    }
    let mut batch = Vec::new();
    fill(&mut batch, &mut messages);
    assert_eq!(batch.len(), BATCH_MAX);
    batch.clear();
    fill(&mut batch, &mut messages);
    assert_eq!(batch.len(), 10);

    let mut long = message(NOW_NS, false);
    long.message.payload = vec![0; BATCH_BYTES / 4].into();
    for _ in 0..10 {
        sender.try_send(long.clone()).unwrap();
    }
    batch.clear();
    fill(&mut batch, &mut messages);
    assert_eq!(batch.len(), 4);
}

/// An archive with one message of [`NOW_NS`] that are kept for a day, and its folder.
async fn archive_of_a_day() -> (Archive, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let url = undertone_archive::ArchiveUrl::sqlite(folder.path().join("store"));
    let options = undertone_archive::ArchiveOptions::default();
    let options = options.with_retention("time:1d".parse().unwrap());
    let archive = Archive::open(&url, options).await.unwrap();
    archive.insert(vec![message(NOW_NS, false)]).await.unwrap();
    (archive, folder)
}

const DAY_NS: i64 = 86_400_000_000_000;

const HOLD_NS: i64 = RetentionClock::HOLD.as_nanos() as i64;

#[tokio::test]
async fn a_clock_that_jumps_ahead_drops_nothing() {
    let (archive, _folder) = archive_of_a_day().await;
    let mut clock = None;
    let at = Duration::from_secs;
    for (wall_ns, monotonic) in [
        (NOW_NS, at(0)),
        (NOW_NS + 3 * DAY_NS, at(30)),
        (NOW_NS + 3 * DAY_NS + 60_000_000_000, at(90)),
        (NOW_NS + 120_000_000_000, at(120)),
        (NOW_NS + HOLD_NS, RetentionClock::HOLD),
    ] {
        retain(&archive, &mut clock, wall_ns, monotonic)
            .await
            .unwrap();
        assert_eq!(archive.stats().await.unwrap().messages, 1);
    }
}

#[tokio::test]
async fn a_quiet_archive_expires_ten_minutes_after_a_start() {
    let (archive, _folder) = archive_of_a_day().await;
    let mut clock = None;
    let week_ns = NOW_NS + 7 * DAY_NS;
    let mut kept = Vec::new();
    for monotonic_s in [0, 30, 599, 600] {
        let monotonic = Duration::from_secs(monotonic_s);
        let wall_ns = week_ns + i64::try_from(monotonic.as_nanos()).unwrap();
        retain(&archive, &mut clock, wall_ns, monotonic)
            .await
            .unwrap();
        kept.push(archive.stats().await.unwrap().messages);
    }
    assert_eq!(kept, [1, 1, 1, 0]);
}
