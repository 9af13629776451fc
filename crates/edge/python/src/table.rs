//! Tables that other libraries read without a copy, through the PyCapsule interface of Arrow.

use std::sync::Arc;

use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::wrong;

/// Table in the memory of Arrow. `polars.DataFrame`, `pandas.DataFrame.from_arrow`, `pyarrow.table` and DuckDB take it.
#[pyclass(frozen, name = "Table", module = "undertone._native")]
pub(crate) struct ArrowTable {
    batch: RecordBatch,
}

impl ArrowTable {
    pub(crate) const fn new(batch: RecordBatch) -> Self {
        Self { batch }
    }
}

#[pymethods]
impl ArrowTable {
    /// The table as a stream of Arrow. Another schema cannot be asked for.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets producers ignore it.
        drop(requested_schema);
        let batches = [Ok(self.batch.clone())];
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The columns as a schema of Arrow.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(Arc::as_ref(&self.batch.schema())).map_err(wrong)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let columns = self.columns().join(", ");
        format!(
            "<undertone.Table of {} rows: {columns}>",
            self.batch.num_rows()
        )
    }
}
