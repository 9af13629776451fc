//! Sweeps: points, missing runs, and the table of what is there.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use undertone_lab::run::{replay, threads};
use undertone_lab::scenario::ScenarioSource;
use undertone_lab::sweep::{
    FailedRun, Sweep, SweepFolder, SweepPoint, SweepReport, SweepShard, SweepWork, WorkDone,
};
use undertone_lab::tables::{sweep_points, sweep_runs};
use undertone_pages::sweep_page;

use crate::COMMIT;
use crate::errors::{of_scenario, of_sweep, unwritten, wrong};
use crate::scenario::NativeScenario;
use crate::table::ArrowTable;
use crate::watch::PythonWatch;

/// Sweep whose points were all found right.
#[pyclass(frozen, module = "undertone._native")]
pub(crate) struct NativeSweep {
    sweep: Sweep,
    source: ScenarioSource,
    points: Vec<SweepPoint>,
}

impl NativeSweep {
    fn new(sweep: Sweep, source: ScenarioSource) -> PyResult<Self> {
        let points = sweep.points_of(&source).map_err(|error| of_sweep(&error))?;
        Ok(Self {
            sweep,
            source,
            points,
        })
    }

    fn report(&self, folder: &SweepFolder, done: WorkDone) -> PyResult<SweepOutcome> {
        let report = SweepReport::new(&self.sweep, &self.points, folder, done, COMMIT);
        Ok(SweepOutcome {
            report: report.map_err(unwritten)?,
        })
    }
}

fn open(folder: &Path) -> PyResult<SweepFolder> {
    SweepFolder::open(folder).map_err(unwritten)
}

fn part(shard: Option<(usize, usize)>) -> PyResult<SweepShard> {
    let Some((number, of)) = shard else {
        return Ok(SweepShard::WHOLE);
    };
    format!("{number}/{of}").parse().map_err(wrong)
}

#[pymethods]
impl NativeSweep {
    /// A sweep from its file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let sweep = Sweep::load(&path).map_err(|error| of_sweep(&error))?;
        let source = ScenarioSource::named(&sweep.scenario);
        Self::new(sweep, source.map_err(|error| of_scenario(&error))?)
    }

    /// A sweep from the text of a file, over a scenario; overrides of the scenario hold at every point.
    #[staticmethod]
    fn over(scenario: &NativeScenario, text: &str) -> PyResult<Self> {
        let sweep = Sweep::parse(text, "the sweep", Path::new(""));
        let mut sweep = sweep.map_err(|error| of_sweep(&error))?;
        sweep.set.splice(0..0, scenario.overrides.iter().cloned());
        Self::new(sweep, scenario.source.clone())
    }

    /// Names of the keys that take several values.
    #[getter]
    fn keys(&self) -> Vec<String> {
        self.sweep
            .axes
            .iter()
            .map(|axis| axis.key.clone())
            .collect()
    }

    /// Values of the keys at each point.
    #[getter]
    fn points(&self) -> Vec<Vec<String>> {
        let points = self.points.iter();
        points.map(|point| point.values.clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.points.len() * self.sweep.seeds.len()
    }

    /// The scenario of a point.
    fn scenario(&self, point: usize) -> PyResult<NativeScenario> {
        let point = self
            .points
            .get(point)
            .ok_or_else(|| wrong("no such point"))?;
        Ok(NativeScenario {
            source: self.source.clone(),
            overrides: point.set.clone(),
            loaded: point.loaded.clone(),
        })
    }

    /// Runs that are not in a folder: name of the file, number of the point, seed.
    fn missing(&self, folder: PathBuf) -> PyResult<Vec<(String, usize, u64)>> {
        let folder = open(&folder)?;
        let work = SweepWork::new(
            &self.sweep,
            &self.points,
            &folder,
            SweepShard::WHOLE,
            COMMIT,
        );
        let runs = work.missing().iter();
        let runs = runs.map(|run| (run.name.clone(), run.number, run.seed));
        Ok(runs.collect())
    }

    /// Keeps rows that were made elsewhere.
    #[staticmethod]
    fn keep(folder: PathBuf, name: &str, rows: &[u8]) -> PyResult<()> {
        open(&folder)?.keep(name, rows).map_err(unwritten)
    }

    /// Makes the runs of a part that are missing, and sums up what is there. `progress` is called with the runs that have
    /// ended, those of them that failed, and all. Without `threads`, nothing is run.
    #[pyo3(signature = (folder, threads, shard = None, progress = None))]
    fn run(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        threads: Option<NonZeroUsize>,
        shard: Option<(usize, usize)>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<SweepOutcome> {
        let folder = open(&folder)?;
        let shard = part(shard)?;
        let mut watch = PythonWatch::new(progress);
        let done = py.detach(|| {
            let work = SweepWork::new(&self.sweep, &self.points, &folder, shard, COMMIT);
            work.run(self::threads(threads), &mut |now| {
                watch.look(now.ended == now.all, (now.ended, now.failed, now.all))
            })
        });
        watch.finish()?;
        self.report(&folder, done.map_err(unwritten)?)
    }

    /// Sums up what is in a folder, of which so many runs were made now; of those that could not be made, point, seed and
    /// reason.
    #[pyo3(signature = (folder, made = 0, failed = Vec::new()))]
    fn collect(
        &self,
        folder: PathBuf,
        made: usize,
        failed: Vec<(usize, u64, String)>,
    ) -> PyResult<SweepOutcome> {
        let failed = failed.into_iter().filter_map(|(point, seed, why)| {
            let set = &self.points.get(point)?.set;
            let replay = replay(&self.sweep.scenario, set, seed);
            Some(FailedRun { seed, why, replay })
        });
        let failed = failed.collect();
        self.report(&open(&folder)?, WorkDone { made, failed })
    }
}

/// Everything that is in the folder of a sweep.
#[pyclass(frozen, module = "undertone._native")]
pub(crate) struct SweepOutcome {
    report: SweepReport,
}

#[pymethods]
impl SweepOutcome {
    /// Number of runs of the sweep, of those made now, and of those that are not there.
    #[getter]
    fn counts(&self) -> (usize, usize, usize) {
        (self.report.runs, self.report.made, self.report.left)
    }

    /// Runs that failed: seed, reason, and the command that replays them.
    #[getter]
    fn failures(&self) -> Vec<(u64, String, String)> {
        let failures = self.report.failures.iter().cloned();
        failures
            .map(|run| (run.seed, run.why, run.replay))
            .collect()
    }

    /// Files with the deliveries of each run that is there.
    #[getter]
    fn files(&self) -> Vec<PathBuf> {
        self.report
            .there
            .iter()
            .map(|run| run.file.clone())
            .collect()
    }

    /// One row per point.
    fn points(&self) -> ArrowTable {
        ArrowTable::new(sweep_points(&self.report))
    }

    /// One row per run.
    fn runs(&self) -> ArrowTable {
        ArrowTable::new(sweep_runs(&self.report))
    }

    /// A page that draws the figures over the values of the keys.
    fn html(&self, name: &str) -> String {
        sweep_page(name, &self.report)
    }

    /// The table as the command line prints it.
    fn text(&self) -> String {
        self.report.to_string()
    }
}
