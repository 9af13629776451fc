//! The thread that writes an archive.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Transaction, params};
use tokio::sync::{mpsc, oneshot};
use undertone_services::history::StoredMessage;

use super::directory::{FileId, SharedDirectory, SqliteSlot, file_id};
use super::error::{of_io, of_sqlite};
use super::{listing, schema};
use crate::health::HealthLog;
use crate::retention::{Added, SlotUse, width_ns};
use crate::slot::SlotRange;
use crate::write::{Group, InsertFate, WriterCommand};
use crate::{ArchiveError, ArchiveOptions, MaintainReport, RetentionPolicy};

/// Maximum number of slots that the writer keeps open: the newest, its neighbour, and two for late messages.
const OPEN_MAX: usize = 4;

/// Maximum number of topics per slot whose numbers the writer remembers.
const TOPICS_MAX: usize = 10_000;

/// Runs until every handle of the archive is dropped.
pub(super) fn run(
    shared: Arc<SharedDirectory>,
    options: &ArchiveOptions,
    mut work: mpsc::Receiver<WriterCommand>,
    health: &HealthLog,
    opened: oneshot::Sender<Result<(), ArchiveError>>,
) {
    let mut writer = SqliteWriter {
        shared,
        retention: options.retention,
        max_slots: options.max_slots,
        marker: None,
        slots: Vec::new(),
        open: BTreeMap::new(),
        uses: 0,
        next_number: 0,
        added: Added::default(),
        ready: false,
    };
    let outcome = writer.start();
    let failed = outcome.is_err();
    if opened.send(outcome).is_err() || failed {
        return;
    }
    let mut held = None;
    while let Some(command) = held.take().or_else(|| work.blocking_recv()) {
        match command {
            WriterCommand::Maintain(now_ns, reply) => {
                let _ = reply.send(writer.retain(Some(now_ns), health));
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
                let outcome = writer.write_group(group.messages(), health);
                group.finish(outcome);
            }
        }
    }
}

struct SqliteWriter {
    shared: Arc<SharedDirectory>,
    retention: RetentionPolicy,
    max_slots: usize,
    /// The marker, which is locked while it is open, and its identity.
    marker: Option<(Connection, FileId)>,
    /// Slots ordered by time.
    slots: Vec<SqliteSlot>,
    open: BTreeMap<u64, OpenSlot>,
    uses: u64,
    next_number: u64,
    /// Messages and bytes written since the limits were last checked.
    added: Added,
    /// Whether `slots` matches the directory.
    ready: bool,
}

/// A slot that is open for writing.
struct OpenSlot {
    connection: Connection,
    id: FileId,
    topics: SlotTopics,
    used: u64,
}

/// Numbers of topics in a slot.
#[derive(Default)]
struct SlotTopics {
    pubsubs: HashMap<Arc<str>, i64>,
    streams: HashMap<(i64, Arc<str>), i64>,
}

impl SqliteWriter {
    /// Creates the directory if it is missing, and reads it.
    fn start(&mut self) -> Result<(), ArchiveError> {
        let directory = self.shared.directory();
        if directory.exists() && !directory.is_dir() {
            return Err(ArchiveError::NotAnArchive {
                place: Arc::clone(&self.shared.place),
            });
        }
        fs::create_dir_all(directory).map_err(|error| of_io(directory, error))?;
        self.read_directory(true)
    }

    /// Writes the messages of a group in pieces, so that the archive stays within its limits.
    fn write_group(
        &mut self,
        messages: &[StoredMessage],
        health: &HealthLog,
    ) -> Result<Vec<InsertFate>, ArchiveError> {
        let mut fates = Vec::with_capacity(messages.len());
        for piece in self.retention.pieces(messages) {
            let written = self.write(piece);
            let written = self.settle(written);
            health.note_insertion(&written);
            fates.extend(written?);
            self.added.add(piece);
            let messages = self.slots.iter().map(|slot| slot.messages).sum();
            if self.added.is_due(&self.retention, messages) {
                // The written messages stay; the health records the error, and the next run makes up for it.
                let _ = self.retain(None, health);
            }
        }
        Ok(fates)
    }

    /// Applies the retention; without a time, only its limits of number and size.
    fn retain(
        &mut self,
        now_ns: Option<i64>,
        health: &HealthLog,
    ) -> Result<MaintainReport, ArchiveError> {
        self.added = Added::default();
        let outcome = self.maintain(now_ns);
        let outcome = self.settle(outcome);
        health.note_retention(&outcome);
        if let Ok(report) = &outcome {
            report.log(&self.shared.place, &self.retention);
        }
        outcome
    }

    /// After a failure, discards the state that may no longer be right.
    fn settle<T>(&mut self, outcome: Result<T, ArchiveError>) -> Result<T, ArchiveError> {
        if outcome.is_err() {
            self.ready = false;
            self.open.clear();
        }
        outcome
    }

    /// Ensures that the slots are known and match the directory.
    fn prepare(&mut self) -> Result<(), ArchiveError> {
        if self.ready {
            return self.shared.check().map(|_| ());
        }
        self.read_directory(false)
    }

    /// Reads the directory's marker and slots.
    fn read_directory(&mut self, create: bool) -> Result<(), ArchiveError> {
        let path = self.shared.marker();
        let directory = self.shared.directory();
        if !create || path.exists() {
            let found = file_id(&path).map_err(|error| of_io(directory, error))?;
            self.marker.take_if(|(_, id)| *id != found);
        }
        let id = match &self.marker {
            Some((_, id)) => *id,
            None => {
                let opened = schema::open_marker(&path, create);
                let opened = opened.map_err(|error| of_sqlite(&path, error))?;
                let (marker, format) = opened.ok_or_else(|| ArchiveError::NotAnArchive {
                    place: path.display().to_string().into(),
                })?;
                if format != schema::FORMAT {
                    return Err(ArchiveError::Format {
                        place: Arc::clone(&self.shared.place),
                        found: format,
                        known: schema::FORMAT,
                    });
                }
                let id = file_id(&path).map_err(|error| of_io(directory, error))?;
                self.marker = Some((marker, id));
                id
            }
        };
        self.slots.clear();
        for number in self.shared.list()? {
            self.next_number = self.next_number.max(number + 1);
            let path = self.shared.slot(number);
            let slot = listing::read_slot(number, &path, schema::open_slot)?;
            self.slots.push(slot);
        }
        self.slots.sort_by_key(|slot| slot.range);
        self.shared.publish(self.slots.clone());
        self.shared.set_marker(Some(id));
        self.ready = true;
        Ok(())
    }

    /// Writes messages, with one transaction per slot.
    fn write(&mut self, messages: &[StoredMessage]) -> Result<Vec<InsertFate>, ArchiveError> {
        self.prepare()?;
        let mut fates = vec![InsertFate::OutOfRange; messages.len()];
        let mut by_slot: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (index, message) in messages.iter().enumerate() {
            if let Some(number) = self.slot_for(message.message.timestamp_ns())? {
                by_slot.entry(number).or_default().push(index);
            }
        }
        for (number, indexes) in by_slot {
            let path = self.shared.slot(number);
            let open = self.open_slot(number)?;
            let written = open.write(messages, &indexes, &mut fates);
            written.map_err(|error| of_sqlite(&path, error))?;
            let Some(slot) = self.slots.iter_mut().find(|slot| slot.number == number) else {
                continue;
            };
            for index in indexes {
                if fates[index] == InsertFate::Inserted {
                    let timestamp_ns = messages[index].message.timestamp_ns();
                    slot.messages += 1;
                    slot.oldest_ns = slot
                        .oldest_ns
                        .min(Some(timestamp_ns))
                        .or(Some(timestamp_ns));
                    slot.newest_ns = slot.newest_ns.max(Some(timestamp_ns));
                }
            }
        }
        self.shared.publish(self.slots.clone());
        Ok(fates)
    }

    /// Returns the slot for a timestamp and creates it if needed; `None` if there are too many.
    fn slot_for(&mut self, timestamp_ns: i64) -> Result<Option<u64>, ArchiveError> {
        if let Some(index) = SlotRange::find_by(&self.slots, |slot| &slot.range, timestamp_ns) {
            return Ok(Some(self.slots[index].number));
        }
        if self.slots.len() >= self.max_slots {
            return Ok(None);
        }
        let ranges: Vec<SlotRange> = self.slots.iter().map(|slot| slot.range).collect();
        let range = SlotRange::new_for(timestamp_ns, width_ns(&self.retention), &ranges);
        let number = self.next_number;
        self.next_number += 1;
        let unfinished = self.shared.unfinished(number);
        let created = schema::create_slot(&unfinished, range);
        created.map_err(|error| of_sqlite(&unfinished, error))?;
        self.shared.finish(number)?;
        let path = self.shared.slot(number);
        let opened = schema::open_slot(&path);
        let connection = opened.map_err(|error| of_sqlite(&path, error))?;
        self.slots.push(SqliteSlot {
            number,
            range,
            messages: 0,
            oldest_ns: None,
            newest_ns: None,
        });
        self.slots.sort_by_key(|slot| slot.range);
        self.keep_open(number, connection)?;
        Ok(Some(number))
    }

    /// Returns an open slot.
    fn open_slot(&mut self, number: u64) -> Result<&mut OpenSlot, ArchiveError> {
        let path = self.shared.slot(number);
        let id = file_id(&path).map_err(|error| of_io(&path, error))?;
        if self.open.get(&number).is_none_or(|open| open.id != id) {
            let opened = schema::open_slot(&path).map_err(|error| of_sqlite(&path, error))?;
            self.keep_open(number, opened)?;
        }
        self.uses += 1;
        let used = self.uses;
        let open = self.open.get_mut(&number);
        let open = open.ok_or_else(|| ArchiveError::Vanished {
            place: Arc::clone(&self.shared.place),
        })?;
        open.used = used;
        Ok(open)
    }

    /// Keeps a slot open, and closes the least recently used one.
    fn keep_open(&mut self, number: u64, connection: Connection) -> Result<(), ArchiveError> {
        if self.open.len() >= OPEN_MAX {
            let oldest = self.open.iter().min_by_key(|(_, open)| open.used);
            if let Some(oldest) = oldest.map(|(number, _)| *number) {
                self.open.remove(&oldest);
            }
        }
        let path = self.shared.slot(number);
        let id = file_id(&path).map_err(|error| of_io(&path, error))?;
        self.uses += 1;
        let open = OpenSlot {
            connection,
            id,
            topics: SlotTopics::default(),
            used: self.uses,
        };
        self.open.insert(number, open);
        Ok(())
    }

    /// Applies the retention.
    fn maintain(&mut self, now_ns: Option<i64>) -> Result<MaintainReport, ArchiveError> {
        self.prepare()?;
        for (number, open) in &self.open {
            // A log that a reader still needs remains and counts.
            let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
            let done = open.connection.query_row(checkpoint, [], |_| Ok(()));
            done.map_err(|error| of_sqlite(&self.shared.slot(*number), error))?;
        }
        let weigh = |slot: &SqliteSlot| SlotUse {
            range: slot.range,
            messages: slot.messages,
            bytes: self.shared.bytes(slot.number),
            newest_ns: slot.newest_ns,
        };
        let uses: Vec<SlotUse> = self.slots.iter().map(weigh).collect();
        let plan = self.retention.plan(now_ns, &uses);
        let mut report = MaintainReport {
            above_limit: plan.above_limit,
            ..MaintainReport::default()
        };
        if let Some(last_ns) = plan.close_newest_at_ns
            && let Some(number) = self.slots.last().map(|slot| slot.number)
        {
            let open = self.open_slot(number)?;
            let closed = open
                .connection
                .execute("UPDATE slot SET last_ns = ?1", [last_ns]);
            closed.map_err(|error| of_sqlite(&self.shared.slot(number), error))?;
            if let Some(slot) = self.slots.last_mut() {
                slot.range.last_ns = last_ns;
            }
        }
        let dropped: Vec<SqliteSlot> = self.slots.drain(..plan.drop).collect();
        report.dropped_until_ns = dropped.last().map(|slot| slot.range.last_ns);
        self.shared.publish(self.slots.clone());
        for slot in dropped {
            self.open.remove(&slot.number);
            self.shared.remove(slot.number)?;
            report.dropped_slots += 1;
            report.dropped_messages += slot.messages;
        }
        Ok(report)
    }
}

impl OpenSlot {
    /// Writes the selected messages in one transaction, and records their fates.
    fn write(
        &mut self,
        messages: &[StoredMessage],
        indexes: &[usize],
        fates: &mut [InsertFate],
    ) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut find = transaction.prepare_cached(schema::FIND_HASH)?;
            let mut insert = transaction.prepare_cached(
                "INSERT INTO message (pubsub, stream, timestamp, hash, timed, version, ephemeral,
                   meta, payload, rate_limit_proof)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?;
            for index in indexes {
                let stored = &messages[*index];
                fates[*index] = InsertFate::Duplicate;
                if !find.exists(params![&stored.hash.0[..8], &stored.hash.0[..]])? {
                    let lane = self.topics.numbers(&transaction, stored)?;
                    insert_row(&mut insert, lane, stored)?;
                    fates[*index] = InsertFate::Inserted;
                }
            }
        }
        transaction.commit()
    }
}

/// Inserts a message under the numbers of its topics.
fn insert_row(
    insert: &mut CachedStatement<'_>,
    (pubsub, stream): (i64, i64),
    stored: &StoredMessage,
) -> rusqlite::Result<usize> {
    let message = &stored.message;
    insert.execute(params![
        pubsub,
        stream,
        message.timestamp_ns(),
        &stored.hash.0[..],
        message.timestamp.is_some(),
        message.version,
        message.ephemeral,
        message.meta.as_deref(),
        &message.payload[..],
        message.rate_limit_proof.as_deref(),
    ])
}

impl SlotTopics {
    /// Returns the numbers of a message's pubsub topic and of its pair of topics.
    fn numbers(
        &mut self,
        transaction: &Transaction<'_>,
        stored: &StoredMessage,
    ) -> rusqlite::Result<(i64, i64)> {
        if self.pubsubs.len() + self.streams.len() > TOPICS_MAX {
            *self = Self::default();
        }
        let pubsub = match self.pubsubs.get(&stored.pubsub_topic) {
            Some(id) => *id,
            None => {
                let topic = &*stored.pubsub_topic;
                let find = "SELECT id FROM pubsub WHERE topic = ?1";
                let add = "INSERT INTO pubsub (topic) VALUES (?1)";
                let id = find_or_add(transaction, find, add, [topic])?;
                self.pubsubs.insert(Arc::clone(&stored.pubsub_topic), id);
                id
            }
        };
        let key = (pubsub, Arc::clone(&stored.message.content_topic));
        if let Some(id) = self.streams.get(&key) {
            return Ok((pubsub, *id));
        }
        let find = "SELECT id FROM stream WHERE pubsub = ?1 AND content_topic = ?2";
        let add = "INSERT INTO stream (pubsub, content_topic) VALUES (?1, ?2)";
        let id = find_or_add(transaction, find, add, (pubsub, &*key.1))?;
        self.streams.insert(key, id);
        Ok((pubsub, id))
    }
}

/// Returns the number of a row; adds the row if it is missing.
fn find_or_add(
    transaction: &Transaction<'_>,
    find: &str,
    add: &str,
    parameters: impl rusqlite::Params + Clone,
) -> rusqlite::Result<i64> {
    let mut found = transaction.prepare_cached(find)?;
    if let Some(id) = found
        .query_row(parameters.clone(), |row| row.get(0))
        .optional()?
    {
        return Ok(id);
    }
    transaction.prepare_cached(add)?.insert(parameters)
}
