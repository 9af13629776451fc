//! Writer of datasets as Parquet files, with the metadata of `deliveries.parquet`.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use undertone_sim::Outcome;

use super::super::deliveries::metadata;
use super::super::files::{WriteError, at};
use super::super::summary::Summary;
use super::{ColumnValues, DatasetChoice, DatasetTable};

/// Writes the chosen datasets of a run into the folder, one file each.
///
/// # Errors
/// Returns [`WriteError`] for the first file that cannot be written.
pub fn write_datasets(
    folder: &Path,
    outcome: &Outcome,
    summary: &Summary,
    choice: &DatasetChoice,
) -> Result<(), WriteError> {
    fs::create_dir_all(folder).map_err(at(folder))?;
    for table in choice.tables(outcome) {
        let path = folder.join(format!("{}.parquet", table.name));
        let mut file = BufWriter::new(File::create(&path).map_err(at(&path))?);
        write(&table, summary, &mut file).map_err(|source| WriteError::Rows {
            path: path.clone(),
            source: source.into(),
        })?;
        file.flush().map_err(at(&path))?;
    }
    Ok(())
}

/// Writes a dataset.
pub(super) fn write<W: Write + Send>(
    table: &DatasetTable,
    summary: &Summary,
    out: W,
) -> Result<(), ParquetError> {
    let schema = Arc::new(parse_message_type(&schema(table))?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_key_value_metadata(Some(metadata(summary, &[])))
        .build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    for (_, values) in &table.columns {
        match values {
            ColumnValues::Int32(values) => column::<Int32Type, _>(&mut group, values, None)?,
            ColumnValues::Int64(values) => column::<Int64Type, _>(&mut group, values, None)?,
            ColumnValues::Boolean(values) => column::<BoolType, _>(&mut group, values, None)?,
            ColumnValues::MaybeInt32(values) => optional::<Int32Type, _>(&mut group, values)?,
            ColumnValues::MaybeInt64(values) => optional::<Int64Type, _>(&mut group, values)?,
            ColumnValues::Text(values) => {
                let values = values.iter().map(|text| ByteArray::from(*text));
                let values: Vec<ByteArray> = values.collect();
                column::<ByteArrayType, _>(&mut group, &values, None)?;
            }
        }
    }
    group.close()?;
    writer.close()?;
    Ok(())
}

fn schema(table: &DatasetTable) -> String {
    let fields: String = table
        .columns
        .iter()
        .map(|(name, values)| match values {
            ColumnValues::Int32(_) => format!("required int32 {name};\n"),
            ColumnValues::MaybeInt32(_) => format!("optional int32 {name};\n"),
            ColumnValues::Int64(_) => format!("required int64 {name};\n"),
            ColumnValues::MaybeInt64(_) => format!("optional int64 {name};\n"),
            ColumnValues::Boolean(_) => format!("required boolean {name};\n"),
            ColumnValues::Text(_) => format!("required binary {name} (UTF8);\n"),
        })
        .collect();
    format!("message {} {{\n{fields}}}", table.name)
}

fn optional<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: &[Option<T::T>],
) -> Result<(), ParquetError> {
    let present: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.iter().flatten().cloned().collect();
    column::<T, W>(group, &values, Some(&present))
}

/// Writes the next column of the schema.
fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let mut column = group
        .next_column()?
        .expect("as many columns are written as the schema has");
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}
