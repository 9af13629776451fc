//! Runs and their results.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use pyo3::prelude::*;
use undertone_lab::page::{RunShown, run_page};
use undertone_lab::report::{Campaign, Summary, write_run};
use undertone_lab::run::{FinishedRun, RunRequest, threads};
use undertone_lab::sweep::write_rows;
use undertone_lab::tables;

use crate::COMMIT;
use crate::errors::{unwritten, wrong};
use crate::scenario::NativeScenario;
use crate::table::ArrowTable;
use crate::watch::PythonWatch;

/// Result of a run.
#[pyclass(frozen, module = "undertone._native")]
pub(crate) struct NativeRun {
    finished: FinishedRun,
}

impl NativeRun {
    pub(crate) const fn figures(&self) -> &Summary {
        &self.finished.summary
    }
}

/// Runs a scenario without holding the lock of Python. `progress` is called with virtual time and its end in seconds,
/// events, and deliveries.
#[pyfunction]
#[pyo3(signature = (scenario, seed, threads = None, progress = None))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &NativeScenario,
    seed: u64,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<NativeRun> {
    let request = RunRequest {
        loaded: &scenario.loaded,
        seed,
        threads: self::threads(threads),
        commit: COMMIT,
    };
    let mut watch = PythonWatch::new(progress);
    let finished = py.detach(|| {
        request.run(&mut |now| {
            let seconds = |ns: u64| ns as f64 / 1e9;
            let values = (
                seconds(now.virtual_ns),
                seconds(now.end_ns),
                now.events,
                now.deliveries,
            );
            watch.look(now.virtual_ns >= now.end_ns, values)
        })
    });
    watch.finish()?;
    Ok(NativeRun {
        finished: finished.map_err(|error| {
            let name = &scenario.loaded.scenario.name;
            wrong(format!("{name} cannot be simulated: {error}"))
        })?,
    })
}

#[pymethods]
impl NativeRun {
    /// The content of `summary.json`.
    fn summary(&self) -> String {
        serde_json::to_string(&self.finished.summary)
            .expect("summaries have string keys and infallible fields")
    }

    /// The summary as the command line prints it.
    fn text(&self) -> String {
        Campaign::new(vec![self.finished.summary.clone()]).to_string()
    }

    /// One row per delivery.
    fn deliveries(&self, py: Python<'_>) -> ArrowTable {
        let FinishedRun { outcome, summary } = &self.finished;
        ArrowTable::new(py.detach(|| tables::deliveries(outcome, summary)))
    }

    /// One row per message.
    fn messages(&self) -> ArrowTable {
        ArrowTable::new(tables::messages(&self.finished.summary))
    }

    /// One row per node.
    fn nodes(&self) -> ArrowTable {
        let FinishedRun { outcome, summary } = &self.finished;
        ArrowTable::new(tables::nodes(outcome, summary))
    }

    /// Writes `summary.json` and `deliveries.parquet` into a folder.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let FinishedRun { outcome, summary } = &self.finished;
        py.detach(|| write_run(&folder, outcome, summary))
            .map_err(unwritten)
    }

    /// The file of a sweep for this run.
    fn rows(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let FinishedRun { outcome, summary } = &self.finished;
        let mut bytes = Vec::new();
        py.detach(|| write_rows(outcome, summary, &mut bytes))
            .map_err(unwritten)?;
        Ok(bytes)
    }
}

/// A page that draws runs over one another, each under its name.
#[pyfunction]
pub(crate) fn html(py: Python<'_>, runs: Vec<(String, Py<NativeRun>)>) -> String {
    let shown: Vec<RunShown<'_>> = runs
        .iter()
        .map(|(name, run)| RunShown {
            name: name.clone(),
            run: &run.get().finished,
        })
        .collect();
    py.detach(|| run_page(&shown))
}
