//! Columns of a dataset, before they become a file or a table in memory.

/// Values of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ColumnValues {
    /// Whole numbers of 32 bits.
    Int32(Vec<i32>),
    /// Whole numbers of 32 bits, of which some are missing.
    MaybeInt32(Vec<Option<i32>>),
    /// Whole numbers of 64 bits.
    Int64(Vec<i64>),
    /// Whole numbers of 64 bits, of which some are missing.
    MaybeInt64(Vec<Option<i64>>),
    /// True and false.
    Boolean(Vec<bool>),
    /// Words out of a fixed list.
    Text(Vec<&'static str>),
}

/// A dataset as columns of equal length.
#[derive(Clone, Debug)]
pub(crate) struct DatasetTable {
    /// Name of the dataset and of its file.
    pub(crate) name: &'static str,
    /// Columns with their names.
    pub(crate) columns: Vec<(String, ColumnValues)>,
}

impl DatasetTable {
    pub(super) const fn new(name: &'static str) -> Self {
        let columns = Vec::new();
        Self { name, columns }
    }

    fn with(mut self, name: impl Into<String>, values: ColumnValues) -> Self {
        self.columns.push((name.into(), values));
        self
    }

    pub(super) fn int32(self, name: &str, values: impl Iterator<Item = u32>) -> Self {
        let values = values.map(|value| value as i32).collect();
        self.with(name, ColumnValues::Int32(values))
    }

    pub(super) fn maybe_int32(self, name: &str, values: impl Iterator<Item = Option<u32>>) -> Self {
        let values = values.map(|value| Some(value? as i32)).collect();
        self.with(name, ColumnValues::MaybeInt32(values))
    }

    pub(super) fn int64(self, name: impl Into<String>, values: impl Iterator<Item = u64>) -> Self {
        let values = values.map(|value| value as i64).collect();
        self.with(name, ColumnValues::Int64(values))
    }

    pub(super) fn maybe_int64(self, name: &str, values: impl Iterator<Item = Option<u64>>) -> Self {
        let values = values.map(|value| Some(value? as i64)).collect();
        self.with(name, ColumnValues::MaybeInt64(values))
    }

    pub(super) fn boolean(self, name: &str, values: impl Iterator<Item = bool>) -> Self {
        self.with(name, ColumnValues::Boolean(values.collect()))
    }

    pub(super) fn text(self, name: &str, values: impl Iterator<Item = &'static str>) -> Self {
        self.with(name, ColumnValues::Text(values.collect()))
    }
}
