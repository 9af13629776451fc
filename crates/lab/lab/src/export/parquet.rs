//! The file `figures.parquet`: the columns of `figures.csv` with their types.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::figures::{COLUMNS, Column};
use crate::record::{ExperimentRecord, Figure};

/// Writes the figures of all records.
pub(super) fn write<W: Write + Send>(
    records: &[ExperimentRecord],
    out: W,
) -> Result<(), ParquetError> {
    let rows: Vec<(&ExperimentRecord, &Figure)> = records
        .iter()
        .flat_map(|record| record.figures.iter().map(move |figure| (record, figure)))
        .collect();
    let schema = Arc::new(parse_message_type(&schema())?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, column) in COLUMNS {
        match column {
            Column::Text(text) => {
                let cells = rows.iter().map(|(record, figure)| text(record, figure));
                let bytes = cells.map(|cell| Some(ByteArray::from(cell?.into_bytes())));
                write_column::<ByteArrayType, W>(&mut group, bytes)?;
            }
            Column::Number(number) => {
                let cells = rows.iter().map(|(record, figure)| number(record, figure));
                write_column::<DoubleType, W>(&mut group, cells)?;
            }
        }
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn schema() -> String {
    let fields: String = COLUMNS
        .iter()
        .map(|(name, column)| match column {
            Column::Text(_) => format!("optional binary {name} (UTF8);\n"),
            Column::Number(_) => format!("optional double {name};\n"),
        })
        .collect();
    format!("message figure {{\n{fields}}}")
}

/// Writes the next column of the schema.
fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let cells: Vec<Option<T::T>> = cells.collect();
    let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    let mut column = group
        .next_column()?
        .expect("as many columns are written as the schema has");
    column
        .typed::<T>()
        .write_batch(&values, Some(&present), None)?;
    column.close()
}
