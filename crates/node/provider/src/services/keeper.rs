//! Keeper of the archive: takes valid messages, writes them in batches, and reports what could not be written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use undertone_archive::{Archive, ArchiveError, RetentionClock};
use undertone_services::history::StoredMessage;

use super::archive_counts::ArchiveCounts;
use super::sync::SyncIndex;
use super::totals::DurationHistogram;

#[cfg(test)]
#[path = "tests/keeper.rs"]
mod tests;

/// Maximum number of messages waiting for the archive; with the network's longest messages they take 300 MB.
const WAITING_MAX: usize = 2_048;

/// Maximum number of messages per write. A write waits for the disk, possibly for tens of milliseconds, so a busy node
/// must write everything that arrived meanwhile at once.
const BATCH_MAX: usize = 1_024;

/// Payload bytes above which a write takes no more messages.
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// Pause before a failed write is retried.
const REPEAT_AFTER: Duration = Duration::from_secs(1);

/// Interval at which expired messages are dropped, and at which a store without traffic notices that its database is
/// gone.
const MAINTAINING: Duration = Duration::from_secs(30);

/// Numbers of messages by outcome; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeeperCounts(Arc<CountCells>);

#[derive(Debug, Default)]
struct CountCells {
    kept: AtomicU64,
    held: AtomicU64,
    refused: AtomicU64,
    lost: AtomicU64,
    pending: AtomicU64,
    write_times: Mutex<DurationHistogram>,
    /// Start of the current write, including its retries.
    writing_since: Mutex<Option<SystemTime>>,
}

impl KeeperCounts {
    /// Returns all numbers.
    pub(crate) fn counts(&self) -> ArchiveCounts {
        let counts = &*self.0;
        ArchiveCounts {
            kept: counts.kept.load(Ordering::Relaxed),
            held: counts.held.load(Ordering::Relaxed),
            refused: counts.refused.load(Ordering::Relaxed),
            lost: counts.lost.load(Ordering::Relaxed),
            pending: self.pending(),
            write_times: *counts.write_times.lock(),
        }
    }

    /// Returns the number of messages waiting for the archive.
    pub(crate) fn pending(&self) -> u64 {
        self.0.pending.load(Ordering::Relaxed)
    }

    /// Returns the start of the current write, including its retries; `None` if there is none.
    pub(crate) fn stuck_since(&self) -> Option<SystemTime> {
        *self.0.writing_since.lock()
    }
}

/// Input queue of the keeper.
#[derive(Clone, Debug)]
pub(super) struct KeeperQueue {
    waiting: mpsc::Sender<StoredMessage>,
    counts: KeeperCounts,
}

impl KeeperQueue {
    /// Offers a message that was received at `now_ns`, Unix time. Never waits.
    pub(super) fn offer(&self, message: &StoredMessage, now_ns: i64) {
        if !message.is_to_be_kept(now_ns) {
            self.counts.0.refused.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.counts.0.pending.fetch_add(1, Ordering::Relaxed);
        if self.waiting.try_send(message.clone()).is_err() {
            self.counts.0.pending.fetch_sub(1, Ordering::Relaxed);
            let lost = self.counts.0.lost.fetch_add(1, Ordering::Relaxed);
            if lost.is_multiple_of(1_000) {
                tracing::error!(
                    lost = lost + 1,
                    "messages are not kept, because the archive does not keep up; see earlier errors, or use a faster disk"
                );
            }
        }
    }
}

/// Starts to write the messages offered to the returned queue, until the queue is dropped. Written messages are added
/// to `index`.
pub(super) fn start(archive: Archive, index: Option<SyncIndex>) -> (KeeperQueue, KeeperCounts) {
    let (waiting, messages) = mpsc::channel(WAITING_MAX);
    let counts = KeeperCounts::default();
    let (writing, ended) = oneshot::channel();
    let writer = write(archive.clone(), messages, counts.clone(), index);
    tokio::spawn(async move {
        writer.await;
        drop(writing);
    });
    tokio::spawn(maintain(archive, counts.clone(), ended));
    let queue = KeeperQueue {
        waiting,
        counts: counts.clone(),
    };
    (queue, counts)
}

async fn write(
    archive: Archive,
    mut messages: mpsc::Receiver<StoredMessage>,
    counts: KeeperCounts,
    index: Option<SyncIndex>,
) {
    let mut batch = Vec::new();
    let mut failure: Option<String> = None;
    count(&archive, &counts).await;
    while let Some(first) = messages.recv().await {
        batch.push(first);
        fill(&mut batch, &mut messages);
        *counts.0.writing_since.lock() = Some(SystemTime::now());
        loop {
            let begun = Instant::now();
            match archive.insert(batch.clone()).await {
                Ok(report) => {
                    counts.0.write_times.lock().count(begun.elapsed());
                    if failure.take().is_some() {
                        tracing::info!("the archive takes messages again");
                    }
                    let kept = report.inserted as u64;
                    counts.0.kept.fetch_add(kept, Ordering::Relaxed);
                    counts.0.held.fetch_add(kept, Ordering::Relaxed);
                    if let Some(index) = &index {
                        index.add(&batch);
                    }
                    break;
                }
                Err(error) => {
                    let text = error.to_string();
                    if failure.as_ref() != Some(&text) {
                        tracing::error!(%error, "messages wait for the archive");
                        failure = Some(text);
                    }
                    tokio::time::sleep(REPEAT_AFTER).await;
                }
            }
        }
        let settled = batch.len() as u64;
        counts.0.pending.fetch_sub(settled, Ordering::Relaxed);
        *counts.0.writing_since.lock() = None;
        batch.clear();
    }
}

/// Moves waiting messages into a batch, as far as there is room.
fn fill(batch: &mut Vec<StoredMessage>, messages: &mut mpsc::Receiver<StoredMessage>) {
    let size = |message: &StoredMessage| message.message.payload.len();
    let mut bytes: usize = batch.iter().map(size).sum();
    while batch.len() < BATCH_MAX && bytes < BATCH_BYTES {
        let Ok(message) = messages.try_recv() else {
            return;
        };
        bytes += size(&message);
        batch.push(message);
    }
}

/// Counts the messages in the archive. A concurrent write may be missed or counted twice until the next count.
async fn count(archive: &Archive, counts: &KeeperCounts) {
    if let Ok(stats) = archive.stats().await {
        counts.0.held.store(stats.messages, Ordering::Relaxed);
    }
}

/// Applies the retention policy regularly and counts the remaining messages, until the writer has ended.
async fn maintain(archive: Archive, counts: KeeperCounts, mut ended: oneshot::Receiver<()>) {
    let started = Instant::now();
    let mut clock = None;
    let mut interval = tokio::time::interval(MAINTAINING);
    loop {
        tokio::select! {
            _ = interval.tick() => {}
            // Nothing is ever sent.
            _ = &mut ended => return,
        }
        let is_start = clock.is_none();
        if let Err(error) = retain(&archive, &mut clock, unix_now_ns(), started.elapsed()).await {
            tracing::warn!(%error, "old messages cannot be dropped from the archive");
        }
        if !is_start {
            count(&archive, &counts).await;
        }
    }
}

/// Applies the retention policy once, at the given wall-clock and monotonic times. The first run that can read the
/// archive creates `clock`.
async fn retain(
    archive: &Archive,
    clock: &mut Option<RetentionClock>,
    wall_ns: i64,
    monotonic: Duration,
) -> Result<(), ArchiveError> {
    let is_start = clock.is_none();
    let clock = match clock {
        Some(clock) => clock,
        None => clock.insert(RetentionClock::new(archive.stats().await?.newest_ns)),
    };
    let was_held_back = !clock.held_back().is_zero();
    let now_ns = clock.time_ns(wall_ns, monotonic);
    let (ahead_s, hold_s) = (clock.held_back().as_secs(), RetentionClock::HOLD.as_secs());
    match clock.held_back().is_zero() || was_held_back {
        true => {}
        false if is_start => tracing::info!(
            ahead_s,
            hold_s,
            "the archive's newest message is this old: no message is dropped for its age until the clock has held"
        ),
        false => tracing::warn!(
            ahead_s,
            hold_s,
            "the clock was set ahead: no message is dropped for its age until the clock has held"
        ),
    }
    archive.maintain(now_ns).await.map(drop)
}

/// Returns the system's time, Unix nanoseconds.
pub(super) fn unix_now_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(i64::MAX)
}
