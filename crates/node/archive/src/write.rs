//! Commands for an archive's writer, and groups of insertions that share a transaction.

use tokio::sync::oneshot;
use undertone_services::history::StoredMessage;

use crate::retention::size;
use crate::{ArchiveError, MaintainReport};

/// Number of messages from which on a group takes no more batches.
const GROUP_MESSAGES: usize = 4096;

/// Payload bytes from which on a group takes no more batches.
const GROUP_BYTES: usize = 16 * 1024 * 1024;

/// Number of messages of an inserted batch by fate; the numbers add up to the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InsertReport {
    /// Messages that are new in the archive.
    pub inserted: usize,
    /// Messages that the archive already has.
    pub duplicates: usize,
    /// Ephemeral messages, which are not stored.
    pub ephemeral: usize,
    /// Messages not stored because their timestamps would need more time slots than an archive may have.
    pub out_of_range: usize,
}

/// Fate of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InsertFate {
    Inserted,
    Duplicate,
    OutOfRange,
}

/// Channel for the answer to a caller.
pub(crate) type WriterReply<T> = oneshot::Sender<Result<T, ArchiveError>>;

/// Command for the writer.
pub(crate) enum WriterCommand {
    /// Insert a batch.
    Insert(Vec<StoredMessage>, WriterReply<InsertReport>),
    /// Apply the retention at a time, Unix nanoseconds.
    Maintain(i64, WriterReply<MaintainReport>),
}

/// Batches that are written together because they were waiting at the same time.
#[derive(Default)]
pub(crate) struct Group {
    messages: Vec<StoredMessage>,
    bytes: usize,
    shares: Vec<GroupShare>,
}

/// Batch of a group.
struct GroupShare {
    kept: usize,
    report: InsertReport,
    reply: WriterReply<InsertReport>,
}

impl Group {
    /// Adds a batch, without its ephemeral messages.
    pub(crate) fn add(&mut self, batch: Vec<StoredMessage>, reply: WriterReply<InsertReport>) {
        let before = self.messages.len();
        let total = batch.len();
        let lasting = batch.into_iter().filter(|m| !m.message.is_ephemeral());
        self.messages.extend(lasting);
        let kept = self.messages.len() - before;
        self.bytes += self.messages[before..].iter().map(size).sum::<usize>();
        let report = InsertReport {
            ephemeral: total - kept,
            ..InsertReport::default()
        };
        self.shares.push(GroupShare {
            kept,
            report,
            reply,
        });
    }

    /// Whether the group takes no more batches.
    pub(crate) fn is_full(&self) -> bool {
        self.messages.len() >= GROUP_MESSAGES || self.bytes >= GROUP_BYTES
    }

    /// Returns the messages to write, in order of arrival.
    pub(crate) fn messages(&self) -> &[StoredMessage] {
        &self.messages
    }

    /// Answers the callers of all batches, given the fate of each message.
    pub(crate) fn finish(self, outcome: Result<Vec<InsertFate>, ArchiveError>) {
        let mut fates = outcome.as_deref().unwrap_or_default().iter();
        for share in self.shares {
            let mut report = share.report;
            for fate in fates.by_ref().take(share.kept) {
                match fate {
                    InsertFate::Inserted => report.inserted += 1,
                    InsertFate::Duplicate => report.duplicates += 1,
                    InsertFate::OutOfRange => report.out_of_range += 1,
                }
            }
            let answer = outcome.as_ref().map(|_| report).map_err(Clone::clone);
            // A caller that no longer waits needs no answer.
            let _ = share.reply.send(answer);
        }
    }
}
