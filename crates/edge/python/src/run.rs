//! Runs and their results.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use undertone_lab::report::{
    Campaign, DATASETS, DatasetChoice, Summary, write_datasets, write_run,
};
use undertone_lab::run::{FinishedRun, RunRequest, threads};
use undertone_lab::sweep::write_rows;
use undertone_lab::tables;
use undertone_pages::{RunShown, run_page};
use undertone_sim::Outcome;

use crate::COMMIT;
use crate::errors::{unwritten, wrong};
use crate::scenario::NativeScenario;
use crate::table::ArrowTable;
use crate::watch::PythonWatch;

/// Result of a run.
#[pyclass(frozen, module = "undertone._native")]
pub(crate) struct NativeRun {
    finished: FinishedRun,
    datasets: DatasetChoice,
}

impl NativeRun {
    pub(crate) const fn figures(&self) -> &Summary {
        &self.finished.summary
    }
}

/// Runs a scenario without holding the lock of Python. `progress` is called with virtual time and its end in seconds,
/// events, and deliveries; `record` names datasets, and `record_every_ms` is the interval of the one over time.
#[pyfunction]
#[pyo3(signature = (scenario, seed, threads = None, progress = None, record = Vec::new(), record_every_ms = None))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &NativeScenario,
    seed: u64,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
    record: Vec<String>,
    record_every_ms: Option<NonZeroU32>,
) -> PyResult<NativeRun> {
    let datasets = choice(&record, record_every_ms)?;
    let request = RunRequest {
        loaded: &scenario.loaded,
        seed,
        threads: self::threads(threads),
        commit: COMMIT,
        datasets,
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
        datasets,
    })
}

/// The datasets of these names.
fn choice(names: &[String], every_ms: Option<NonZeroU32>) -> PyResult<DatasetChoice> {
    let mut choice = DatasetChoice::default();
    for name in names {
        if !choice.add(name) {
            let known = DATASETS.map(|(name, _)| name).join(", ");
            return Err(wrong(format!(
                "there is no dataset {name:?}; there are {known}"
            )));
        }
    }
    if let (Some(chosen), Some(asked)) = (&mut choice.traffic_every_ms, every_ms) {
        *chosen = asked.get();
    }
    Ok(choice)
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

    /// One row per copy, direction of a connection, or interval and kind of traffic; `None` for what was not recorded.
    fn dataset(&self, py: Python<'_>, name: &str) -> Option<ArrowTable> {
        let FinishedRun { outcome, summary } = &self.finished;
        let table: fn(&Outcome, &Summary) -> RecordBatch = match name {
            "copies" if self.datasets.copies => tables::copies,
            "links" if self.datasets.links => tables::links,
            "traffic" if self.datasets.traffic_every_ms.is_some() => tables::traffic,
            _ => return None,
        };
        Some(ArrowTable::new(py.detach(|| table(outcome, summary))))
    }

    /// Writes `summary.json`, `deliveries.parquet` and the datasets into a folder.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let FinishedRun { outcome, summary } = &self.finished;
        py.detach(|| {
            write_run(&folder, outcome, summary)?;
            write_datasets(&folder, outcome, summary, &self.datasets)
        })
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
