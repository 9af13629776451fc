//! Retention: drops old partitions and closes full ones.

use super::error::{is_missing_partition, of_statement};
use super::schema::{self, PostgresSlot};
use super::writer::PostgresWriter;
use crate::retention::{RetentionPlan, SlotUse};
use crate::slot::SlotRange;
use crate::{ArchiveError, MaintainReport};

impl PostgresWriter {
    /// Applies the retention at a time, Unix nanoseconds; without a time, only its limits of number and size.
    pub(super) async fn maintain(
        &mut self,
        now_ns: Option<i64>,
    ) -> Result<MaintainReport, ArchiveError> {
        let client = self.client().await?;
        self.learn(&client).await?;
        let uses = uses(&client, &self.slots).await;
        let uses = uses.map_err(|error| of_statement(&self.place, error))?;
        drop(client);
        let plan = self.retention.plan(now_ns, &uses);
        let dropped = self.slots[..plan.drop].to_vec();
        let report = MaintainReport {
            dropped_slots: dropped.len() as u64,
            dropped_messages: dropped.iter().map(|slot| slot.messages).sum(),
            dropped_until_ns: dropped.last().map(|slot| slot.range.last_ns),
            above_limit: plan.above_limit,
        };
        self.apply(plan, &dropped).await?;
        let client = self.client().await?;
        self.learn(&client).await?;
        Ok(report)
    }

    /// Carries out a plan, with one transaction per partition, because each needs an exclusive lock for a moment.
    async fn apply(
        &mut self,
        plan: RetentionPlan,
        dropped: &[PostgresSlot],
    ) -> Result<(), ArchiveError> {
        let mut client = self.client().await?;
        let apply = async {
            for slot in dropped {
                let transaction = client.transaction().await?;
                transaction.batch_execute(schema::LOCK).await?;
                let forget = "DELETE FROM message_slot WHERE partition = $1";
                // Another process may have dropped the partition.
                if transaction.execute(forget, &[&slot.partition]).await? > 0 {
                    let drop = format!("DROP TABLE {}", slot.partition);
                    transaction.batch_execute(&drop).await?;
                }
                transaction.commit().await?;
            }
            if let (Some(last_ns), Some(slot)) = (plan.close_newest_at_ns, self.slots.last()) {
                close(&mut client, slot, last_ns).await?;
            }
            Ok(())
        };
        let applied: Result<(), tokio_postgres::Error> = apply.await;
        applied.map_err(|error| of_statement(&self.place, error))
    }
}

/// Ends a partition's range at a timestamp. First validates a constraint for that range, while others read and write.
/// Then attaching the partition again need not read it.
async fn close(
    client: &mut deadpool_postgres::Object,
    slot: &PostgresSlot,
    last_ns: i64,
) -> Result<(), tokio_postgres::Error> {
    let partition = &slot.partition;
    let range = SlotRange {
        last_ns,
        ..slot.range
    };
    let drop_constraint = schema::drop_constraint(partition);
    client
        .batch_execute(&format!(
            "{drop_constraint};
             ALTER TABLE {partition} ADD CONSTRAINT closed CHECK (timestamp IS NOT NULL
               AND timestamp >= '{}'::bigint AND timestamp <= '{last_ns}'::bigint) NOT VALID",
            range.first_ns
        ))
        .await?;
    let closed = attach_again(client, partition, range).await;
    if closed.is_err() {
        // Otherwise the partition would refuse messages that it still has to take. If this fails too, the writer
        // repeats it.
        let _ = client.batch_execute(&drop_constraint).await;
    }
    match closed {
        // Another process has just written a later message: the next run closes the partition after that message.
        Err(error) if is_missing_partition(&error) => Ok(()),
        closed => closed,
    }
}

/// Validates a partition's constraint, and attaches the partition again with a range that ends earlier.
async fn attach_again(
    client: &mut deadpool_postgres::Object,
    partition: &str,
    range: SlotRange,
) -> Result<(), tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    transaction
        .batch_execute(&format!(
            "SET LOCAL statement_timeout = '10min'; ALTER TABLE {partition} VALIDATE CONSTRAINT closed"
        ))
        .await?;
    transaction.commit().await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(schema::LOCK).await?;
    let change = "UPDATE message_slot SET last_ns = $2 WHERE partition = $1 AND last_ns >= $2";
    let parameters: &[&(dyn tokio_postgres::types::ToSql + Sync)] = &[&partition, &range.last_ns];
    if transaction.execute(change, parameters).await? > 0 {
        transaction
            .batch_execute(&format!(
                "ALTER TABLE message DETACH PARTITION {partition};
                 ALTER TABLE message ATTACH PARTITION {partition} FOR VALUES {}",
                schema::bounds(range)
            ))
            .await?;
    }
    transaction.commit().await
}

/// Reads the use of each partition.
async fn uses(
    client: &deadpool_postgres::Object,
    slots: &[PostgresSlot],
) -> Result<Vec<SlotUse>, tokio_postgres::Error> {
    let mut uses = Vec::with_capacity(slots.len());
    for slot in slots {
        uses.push(SlotUse {
            range: slot.range,
            messages: slot.messages,
            bytes: 0,
            newest_ns: None,
        });
    }
    let sizes =
        "SELECT pg_total_relation_size(partition::regclass) FROM message_slot ORDER BY first_ns";
    for (slot, row) in uses.iter_mut().zip(client.query(sizes, &[]).await?) {
        slot.bytes = row.try_get::<_, i64>(0)?.unsigned_abs();
    }
    if let (Some(slot), Some(used)) = (slots.last(), uses.last_mut()) {
        let newest = format!("SELECT max(timestamp) FROM {}", slot.partition);
        used.newest_ns = client.query_one(&newest, &[]).await?.try_get(0)?;
    }
    Ok(uses)
}
