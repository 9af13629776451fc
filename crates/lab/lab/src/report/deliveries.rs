//! The file `deliveries.parquet`: one row per delivery. Deliveries of the warm-up are included and marked. The
//! metadata describe what was run.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use thiserror::Error;
use undertone_sim::Outcome;
use undertone_sim::outcome::{Delivery, Message};

use super::groups::group_names;
use super::origin::origin;
use super::summary::{Summary, by_message, latency_ms};

/// Start of the schema of the file. Times are nanoseconds of virtual time from the start of the run.
const SCHEMA: &str = "message delivery {
    required int32 message;
    required int32 publisher;
    required int32 receiver;
    required int32 from;
    required int32 hops;
    required int32 size_bytes;
    required boolean warm_up;
    required int64 sent_ns;
    required int64 received_ns;
    required double latency_ms;";

/// Column in addition, of a run whose nodes are in groups: the name of the receiver's group.
const GROUP: &str = "required byte_array group (utf8);";

/// Rows held in memory at a time, as columns.
const ROWS_PER_GROUP: usize = 1 << 20;

/// Returned when the file cannot be written.
#[derive(Debug, Error)]
#[error("cannot write rows: {0}")]
pub struct DeliveriesError(#[from] ParquetError);

/// Writes the deliveries of a run. The metadata are its origin, taken from the summary, and `more`.
///
/// # Errors
/// Returns an error when writing to `out` fails.
pub fn write_deliveries<W: Write + Send>(
    outcome: &Outcome,
    summary: &Summary,
    more: &[(&str, String)],
    out: W,
) -> Result<(), DeliveriesError> {
    write_deliveries_of(outcome, summary, more, |_| true, out)
}

/// Writes the deliveries that `is_wanted` selects.
pub(super) fn write_deliveries_of<W: Write + Send>(
    outcome: &Outcome,
    summary: &Summary,
    more: &[(&str, String)],
    is_wanted: impl Fn(&Delivery) -> bool,
    out: W,
) -> Result<(), DeliveriesError> {
    let names = group_names(summary);
    let group = names.as_ref().map_or("", |_| GROUP);
    let schema = Arc::new(parse_message_type(&format!("{SCHEMA} {group} }}"))?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(metadata(summary, more)))
        .build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let rows: Vec<_> = by_message(outcome)
        .flat_map(|(message, deliveries)| deliveries.iter().map(move |d| (message, d)))
        .filter(|(_, delivery)| is_wanted(delivery))
        .collect();
    for rows in rows.chunks(ROWS_PER_GROUP) {
        let mut group = RowGroup {
            writer: writer.next_row_group()?,
            rows,
        };
        group.column::<Int32Type>(|(message, _)| message.index as i32)?;
        group.column::<Int32Type>(|(message, _)| message.publisher as i32)?;
        group.column::<Int32Type>(|(_, delivery)| delivery.receiver as i32)?;
        group.column::<Int32Type>(|(_, delivery)| delivery.from as i32)?;
        group.column::<Int32Type>(|(_, delivery)| i32::from(delivery.hops))?;
        group.column::<Int32Type>(|(message, _)| message.payload_bytes as i32)?;
        group.column::<BoolType>(|(message, _)| message.warm_up)?;
        group.column::<Int64Type>(|(message, _)| message.published_ns as i64)?;
        group.column::<Int64Type>(|(_, delivery)| delivery.received_ns as i64)?;
        group.column::<DoubleType>(|(message, delivery)| latency_ms(message, delivery))?;
        if let Some(names) = &names {
            group.column::<ByteArrayType>(|(_, delivery)| {
                names[delivery.receiver as usize].into()
            })?;
        }
        group.writer.close()?;
    }
    writer.close()?;
    Ok(())
}

pub(super) fn metadata(summary: &Summary, more: &[(&str, String)]) -> Vec<KeyValue> {
    let more = more.iter().map(|(key, value)| (*key, value.clone()));
    let all = origin(summary).into_iter().chain(more);
    all.map(|(key, value)| KeyValue::new(key.to_owned(), value))
        .collect()
}

type Row<'a> = (&'a Message, &'a Delivery);

struct RowGroup<'a, W: Write> {
    writer: SerializedRowGroupWriter<'a, W>,
    rows: &'a [Row<'a>],
}

impl<W: Write + Send> RowGroup<'_, W> {
    /// Writes the next column of the schema.
    fn column<T: DataType>(
        &mut self,
        value: impl Fn(&Row<'_>) -> T::T,
    ) -> Result<(), ParquetError> {
        let values: Vec<T::T> = self.rows.iter().map(value).collect();
        let mut column = self
            .writer
            .next_column()?
            .expect("as many columns are written as the schema has");
        column.typed::<T>().write_batch(&values, None, None)?;
        column.close()
    }
}
