//! The task that writes an archive.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use deadpool_postgres::{Object, Pool};
use tokio::sync::mpsc;
use tokio_postgres::error::SqlState;
use undertone_message::MessageHash;
use undertone_services::history::StoredMessage;

use super::error::{is_missing_partition, of_pool, of_statement};
use super::schema::{self, PostgresSlot};
use crate::health::HealthLog;
use crate::retention::size;
use crate::retention::{Added, width_ns};
use crate::slot::SlotRange;
use crate::write::{Group, InsertFate, WriterCommand};
use crate::{ArchiveError, ArchiveOptions, MaintainReport, RetentionPolicy};

/// Maximum number of messages per statement.
const STATEMENT_MESSAGES: usize = 1024;

/// Message bytes above which a statement takes no more messages.
const STATEMENT_BYTES: usize = 8 * 1024 * 1024;

const INSERT: &str = "
INSERT INTO message (timestamp, pubsub_key, content_key, version, timed, ephemeral, hash, pubsub_topic,
  content_topic, meta, payload, rate_limit_proof)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[], $6::boolean[],
  $7::bytea[], $8::bytea[], $9::bytea[], $10::bytea[], $11::bytea[], $12::bytea[])
ON CONFLICT (timestamp, hash) DO NOTHING RETURNING hash, timestamp";

/// Runs until every handle of the archive is dropped.
pub(super) async fn run(
    mut writer: PostgresWriter,
    mut work: mpsc::Receiver<WriterCommand>,
    health: Arc<HealthLog>,
) {
    let mut held = None;
    loop {
        let command = match held.take() {
            Some(command) => command,
            None => match work.recv().await {
                Some(command) => command,
                None => return,
            },
        };
        match command {
            WriterCommand::Maintain(now_ns, reply) => {
                let _ = reply.send(writer.retain(Some(now_ns), &health).await);
            }
            WriterCommand::Insert(batch, reply) => {
                let mut group = Group::default();
                group.add(batch, reply);
                while !group.is_full() {
                    match work.try_recv() {
                        Ok(WriterCommand::Insert(batch, reply)) => group.add(batch, reply),
                        Ok(other) => {
                            held = Some(other);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                let outcome = writer.write_group(group.messages(), &health).await;
                group.finish(outcome);
            }
        }
    }
}

/// Writer of an archive.
pub(super) struct PostgresWriter {
    pool: Pool,
    pub(super) place: Arc<str>,
    pub(super) retention: RetentionPolicy,
    max_slots: usize,
    /// Partitions ordered by time, as far as this process knows.
    pub(super) slots: Vec<PostgresSlot>,
    /// Messages and bytes written since the limits were last checked.
    added: Added,
    /// Whether `slots` has been read.
    known: bool,
}

/// Reason why a group was not written.
enum PostgresWriteError {
    /// Another process changed the partitions.
    Partitions,
    Statement(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for PostgresWriteError {
    fn from(error: tokio_postgres::Error) -> Self {
        if is_missing_partition(&error) {
            return Self::Partitions;
        }
        Self::Statement(error)
    }
}

impl PostgresWriter {
    pub(super) fn new(pool: Pool, place: Arc<str>, options: &ArchiveOptions) -> Self {
        Self {
            pool,
            place,
            retention: options.retention,
            max_slots: options.max_slots,
            slots: Vec::new(),
            added: Added::default(),
            known: false,
        }
    }

    /// Creates the tables if they are missing, and checks their format.
    pub(super) async fn start(&mut self) -> Result<(), ArchiveError> {
        let mut client = self.client().await?;
        let made = async {
            let transaction = client.transaction().await?;
            transaction.batch_execute(schema::LOCK).await?;
            transaction.batch_execute(schema::TABLES).await?;
            let found = transaction
                .query_opt("SELECT format FROM archive_format", &[])
                .await?;
            let format: i64 = match found {
                Some(row) => row.try_get(0)?,
                None => {
                    let insert = "INSERT INTO archive_format VALUES ($1)";
                    transaction.execute(insert, &[&schema::FORMAT]).await?;
                    schema::FORMAT
                }
            };
            transaction.commit().await?;
            Ok(format)
        };
        let format = made
            .await
            .map_err(|error: tokio_postgres::Error| match error.code() {
                // A table with one of our names has other columns.
                Some(&SqlState::UNDEFINED_COLUMN) => ArchiveError::NotAnArchive {
                    place: Arc::clone(&self.place),
                },
                _ => of_statement(&self.place, error),
            })?;
        if format != schema::FORMAT {
            return Err(ArchiveError::Format {
                place: Arc::clone(&self.place),
                found: format,
                known: schema::FORMAT,
            });
        }
        self.learn(&client).await
    }

    /// Returns the writer's connection.
    pub(super) async fn client(&self) -> Result<Object, ArchiveError> {
        let client = self.pool.get().await;
        client.map_err(|error| of_pool(&self.place, error))
    }

    /// Reads the partitions.
    pub(super) async fn learn(&mut self, client: &Object) -> Result<(), ArchiveError> {
        let slots = schema::slots(client).await;
        self.slots = slots.map_err(|error| of_statement(&self.place, error))?;
        self.known = true;
        Ok(())
    }

    /// Writes the messages of a group in pieces, so that the archive stays within its limits.
    async fn write_group(
        &mut self,
        messages: &[StoredMessage],
        health: &HealthLog,
    ) -> Result<Vec<InsertFate>, ArchiveError> {
        let mut fates = Vec::with_capacity(messages.len());
        for piece in self.retention.pieces(messages) {
            let written = self.write(piece).await;
            self.known &= written.is_ok();
            health.note_insertion(&written);
            fates.extend(written?);
            self.added.add(piece);
            let messages = self.slots.iter().map(|slot| slot.messages).sum();
            if self.added.is_due(&self.retention, messages) {
                // The written messages stay; the health records the error, and the next run makes up for it.
                let _ = self.retain(None, health).await;
            }
        }
        Ok(fates)
    }

    /// Applies the retention; without a time, only its limits of number and size.
    async fn retain(
        &mut self,
        now_ns: Option<i64>,
        health: &HealthLog,
    ) -> Result<MaintainReport, ArchiveError> {
        self.added = Added::default();
        let outcome = self.maintain(now_ns).await;
        self.known &= outcome.is_ok();
        health.note_retention(&outcome);
        if let Ok(report) = &outcome {
            report.log(&self.place, &self.retention);
        }
        outcome
    }

    /// Writes messages in one transaction; retries once if another process changed the partitions.
    async fn write(&mut self, messages: &[StoredMessage]) -> Result<Vec<InsertFate>, ArchiveError> {
        let mut client = self.client().await?;
        if !self.known {
            self.learn(&client).await?;
        }
        for _ in 0..2 {
            let taken = self.slots_for(&mut client, messages).await?;
            match self.attempt(&mut client, messages, &taken).await {
                Ok(fates) => return Ok(fates),
                Err(PostgresWriteError::Partitions) => {
                    self.learn(&client).await?;
                    self.reopen(&client).await?;
                }
                Err(PostgresWriteError::Statement(error)) => {
                    return Err(of_statement(&self.place, error));
                }
            }
        }
        Err(ArchiveError::TooSlow {
            place: Arc::clone(&self.place),
        })
    }

    /// Makes the newest partition accept messages again, in case a process ended while closing it.
    async fn reopen(&self, client: &Object) -> Result<(), ArchiveError> {
        let Some(slot) = self.slots.last() else {
            return Ok(());
        };
        let reopened = client
            .batch_execute(&schema::drop_constraint(&slot.partition))
            .await;
        reopened.map_err(|error| of_statement(&self.place, error))
    }

    /// Creates the partitions that messages need, within the maximum number. Returns for each message whether it has
    /// one.
    async fn slots_for(
        &mut self,
        client: &mut Object,
        messages: &[StoredMessage],
    ) -> Result<Vec<bool>, ArchiveError> {
        let mut taken = Vec::with_capacity(messages.len());
        let mut ranges: Vec<SlotRange> = self.slots.iter().map(|slot| slot.range).collect();
        for message in messages {
            let timestamp_ns = message.message.timestamp_ns();
            let mut has_one = SlotRange::find(&ranges, timestamp_ns).is_some();
            if !has_one && ranges.len() < self.max_slots {
                self.create_slot(client, timestamp_ns)
                    .await
                    .map_err(|error| of_statement(&self.place, error))?;
                ranges = self.slots.iter().map(|slot| slot.range).collect();
                has_one = SlotRange::find(&ranges, timestamp_ns).is_some();
            }
            taken.push(has_one);
        }
        Ok(taken)
    }

    /// Creates the partition for a timestamp, unless another process has done so.
    async fn create_slot(
        &mut self,
        client: &mut Object,
        timestamp_ns: i64,
    ) -> Result<(), tokio_postgres::Error> {
        let transaction = client.transaction().await?;
        transaction.batch_execute(schema::LOCK).await?;
        let mut slots = schema::slots(&transaction).await?;
        let ranges: Vec<SlotRange> = slots.iter().map(|slot| slot.range).collect();
        if SlotRange::find(&ranges, timestamp_ns).is_none() && slots.len() < self.max_slots {
            let range = SlotRange::new_for(timestamp_ns, width_ns(&self.retention), &ranges);
            slots.push(schema::create_slot(&transaction, range).await?);
            slots.sort_by_key(|slot| slot.range);
        }
        transaction.commit().await?;
        self.slots = slots;
        Ok(())
    }

    /// Writes the messages that have a partition, in one transaction.
    async fn attempt(
        &mut self,
        client: &mut Object,
        messages: &[StoredMessage],
        taken: &[bool],
    ) -> Result<Vec<InsertFate>, PostgresWriteError> {
        let kept: Vec<&StoredMessage> = messages
            .iter()
            .zip(taken)
            .filter_map(|(message, taken)| taken.then_some(message))
            .collect();
        let transaction = client.transaction().await?;
        let mut new: BTreeSet<MessageHash> = BTreeSet::new();
        let mut counts: BTreeMap<i64, i64> = BTreeMap::new();
        let ranges: Vec<SlotRange> = self.slots.iter().map(|slot| slot.range).collect();
        let mut rest = &kept[..];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(statement_len(rest));
            rest = later;
            for (hash, timestamp_ns) in insert(&transaction, now).await? {
                new.insert(hash);
                if let Some(index) = SlotRange::find(&ranges, timestamp_ns) {
                    *counts.entry(ranges[index].first_ns).or_default() += 1;
                }
            }
        }
        if !counts.is_empty() {
            // Ordered by time, so that two processes never deadlock.
            let count = "UPDATE message_slot SET messages = messages + $2 WHERE first_ns = $1";
            let count = transaction.prepare_cached(count).await?;
            for (first_ns, added) in &counts {
                transaction.execute(&count, &[first_ns, added]).await?;
            }
        }
        transaction.commit().await?;
        for slot in &mut self.slots {
            let added = counts.get(&slot.range.first_ns).copied().unwrap_or(0);
            slot.messages = slot.messages.saturating_add_signed(added);
        }
        let fate = |(message, taken): (&StoredMessage, &bool)| match taken {
            false => InsertFate::OutOfRange,
            true if new.remove(&message.hash) => InsertFate::Inserted,
            true => InsertFate::Duplicate,
        };
        Ok(messages.iter().zip(taken).map(fate).collect())
    }
}

/// Returns the number of messages for the next statement.
fn statement_len(messages: &[&StoredMessage]) -> usize {
    let mut bytes = 0;
    let fits = |message: &&&StoredMessage| {
        let first = bytes == 0;
        bytes += size(message).max(1);
        first || bytes <= STATEMENT_BYTES
    };
    messages
        .iter()
        .take(STATEMENT_MESSAGES)
        .take_while(fits)
        .count()
}

/// Inserts messages; returns the hashes and timestamps of the new ones.
async fn insert(
    transaction: &deadpool_postgres::Transaction<'_>,
    messages: &[&StoredMessage],
) -> Result<Vec<(MessageHash, i64)>, tokio_postgres::Error> {
    fn column<'a, T>(
        messages: &[&'a StoredMessage],
        value: impl Fn(&'a StoredMessage) -> T,
    ) -> Vec<T> {
        messages.iter().map(|message| value(message)).collect()
    }
    let timestamps = column(messages, |m| m.message.timestamp_ns());
    let pubsub_keys = column(messages, |m| schema::topic_key(&m.pubsub_topic));
    let content_keys = column(messages, |m| schema::topic_key(&m.message.content_topic));
    let versions = column(messages, |m| m.message.version.map(i64::from));
    let timed = column(messages, |m| m.message.timestamp.is_some());
    let ephemeral = column(messages, |m| m.message.ephemeral);
    let hashes = column(messages, |m| &m.hash.0[..]);
    let pubsub_topics = column(messages, |m| m.pubsub_topic.as_bytes());
    let content_topics = column(messages, |m| m.message.content_topic.as_bytes());
    let metas = column(messages, |m| m.message.meta.as_deref());
    let payloads = column(messages, |m| &m.message.payload[..]);
    let proofs = column(messages, |m| m.message.rate_limit_proof.as_deref());
    let statement = transaction.prepare_cached(INSERT).await?;
    let rows = transaction
        .query(
            &statement,
            &[
                &timestamps,
                &pubsub_keys,
                &content_keys,
                &versions,
                &timed,
                &ephemeral,
                &hashes,
                &pubsub_topics,
                &content_topics,
                &metas,
                &payloads,
                &proofs,
            ],
        )
        .await?;
    let mut new = Vec::with_capacity(rows.len());
    for row in rows {
        // The hashes are those of the messages.
        if let Some(hash) = schema::hash(&row, 0) {
            new.push((hash, row.try_get(1)?));
        }
    }
    Ok(new)
}
