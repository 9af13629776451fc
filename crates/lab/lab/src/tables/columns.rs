//! Columns of Arrow tables, built from Rust values.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_schema::{DataType, Field, Schema};

use crate::report::ColumnValues;

/// A table under construction.
#[derive(Default)]
pub(super) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn push(mut self, name: &str, kind: DataType, is_nullable: bool, array: ArrayRef) -> Self {
        self.fields.push(Field::new(name, kind, is_nullable));
        self.arrays.push(array);
        self
    }

    pub(super) fn int32(self, name: &str, values: impl Iterator<Item = u32>) -> Self {
        let array = Int32Array::from_iter_values(values.map(|value| value as i32));
        self.push(name, DataType::Int32, false, Arc::new(array))
    }

    pub(super) fn int64(self, name: &str, values: impl Iterator<Item = u64>) -> Self {
        let array = Int64Array::from_iter_values(values.map(|value| value as i64));
        self.push(name, DataType::Int64, false, Arc::new(array))
    }

    pub(super) fn float(self, name: &str, values: impl Iterator<Item = f64>) -> Self {
        let array = Float64Array::from_iter_values(values);
        self.push(name, DataType::Float64, false, Arc::new(array))
    }

    pub(super) fn maybe_float(self, name: &str, values: impl Iterator<Item = Option<f64>>) -> Self {
        let array: Float64Array = values.collect();
        self.push(name, DataType::Float64, true, Arc::new(array))
    }

    pub(super) fn boolean(self, name: &str, values: impl Iterator<Item = bool>) -> Self {
        let array: BooleanArray = values.map(Some).collect();
        self.push(name, DataType::Boolean, false, Arc::new(array))
    }

    pub(super) fn text<'a>(self, name: &str, values: impl Iterator<Item = &'a str>) -> Self {
        let array = StringArray::from_iter_values(values);
        self.push(name, DataType::Utf8, false, Arc::new(array))
    }

    /// A column of a dataset.
    pub(super) fn dataset(self, name: &str, values: &ColumnValues) -> Self {
        let (kind, is_nullable, array): (_, _, ArrayRef) = match values {
            ColumnValues::Int32(values) => {
                let array = Int32Array::from_iter_values(values.iter().copied());
                (DataType::Int32, false, Arc::new(array))
            }
            ColumnValues::MaybeInt32(values) => {
                let array = Int32Array::from_iter(values.iter().copied());
                (DataType::Int32, true, Arc::new(array))
            }
            ColumnValues::Int64(values) => {
                let array = Int64Array::from_iter_values(values.iter().copied());
                (DataType::Int64, false, Arc::new(array))
            }
            ColumnValues::MaybeInt64(values) => {
                let array = Int64Array::from_iter(values.iter().copied());
                (DataType::Int64, true, Arc::new(array))
            }
            ColumnValues::Boolean(values) => {
                return self.boolean(name, values.iter().copied());
            }
            ColumnValues::Text(values) => return self.text(name, values.iter().copied()),
        };
        self.push(name, kind, is_nullable, array)
    }

    /// Adds the values of a scenario's key. Their type is the first that fits all of them: integer, floating point,
    /// boolean, text.
    pub(super) fn key(self, name: &str, values: &[&str]) -> Self {
        fn all<T: std::str::FromStr>(values: &[&str]) -> Option<Vec<T>> {
            values.iter().map(|value| value.parse().ok()).collect()
        }
        if let Some(whole) = all::<i64>(values) {
            let array = Int64Array::from(whole);
            self.push(name, DataType::Int64, false, Arc::new(array))
        } else if let Some(numbers) = all::<f64>(values) {
            self.float(name, numbers.into_iter())
        } else if let Some(truths) = all::<bool>(values) {
            self.boolean(name, truths.into_iter())
        } else {
            self.text(name, values.iter().copied())
        }
    }

    /// The table, with metadata.
    pub(super) fn table(self, metadata: HashMap<String, String>) -> RecordBatch {
        let schema = Arc::new(Schema::new_with_metadata(self.fields, metadata));
        RecordBatch::try_new(schema, self.arrays)
            .expect("all columns come from the same rows, and their kinds from their arrays")
    }
}
