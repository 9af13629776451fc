//! Runs of a sweep: finds the missing ones, and makes them on several threads.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::file::Sweep;
use super::folder::{SweepFolder, SweepFolderError, run_name};
use super::points::{SweepPoint, SweepShard};
use crate::report::DatasetChoice;
use crate::run::{RunRequest, program_version, replay};

/// Time between two reports of the progress while no run ends.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// A run that did not succeed.
#[derive(Clone, Debug, Serialize)]
pub struct FailedRun {
    /// Seed of the run.
    pub seed: u64,
    /// Reason in words.
    pub why: String,
    /// Command line that repeats the run.
    pub replay: String,
}

/// Result of the work.
#[derive(Clone, Debug, Default)]
pub struct WorkDone {
    /// Number of runs that were made.
    pub made: usize,
    /// Runs that could not be made at all.
    pub failed: Vec<FailedRun>,
}

/// Progress of the work.
#[derive(Clone, Copy, Debug)]
pub struct SweepProgress {
    /// Runs that have ended.
    pub ended: usize,
    /// How many of them could not be made.
    pub failed: usize,
    /// Runs that were to be made.
    pub all: usize,
    /// Time since the work began.
    pub elapsed: Duration,
}

impl SweepProgress {
    /// Estimated time for the remaining runs, from the mean of those that have ended, seconds.
    pub fn left_s(&self) -> f64 {
        let left = (self.all - self.ended) as f64 / self.ended.max(1) as f64;
        self.elapsed.as_secs_f64() * left
    }
}

/// One run to be made.
#[derive(Clone, Debug)]
pub struct RunToMake<'a> {
    /// Point of the sweep.
    pub point: &'a SweepPoint,
    /// Number of the point, from 0.
    pub number: usize,
    /// Seed of the run.
    pub seed: u64,
    /// Name of its file, without the extension.
    pub name: String,
}

/// Message of a thread about a run.
enum RunEnd {
    Made,
    Failed(FailedRun),
    Unwritten(SweepFolderError),
    Interrupted,
}

/// The missing runs of a part of a sweep.
#[derive(Debug)]
pub struct SweepWork<'a> {
    folder: &'a SweepFolder,
    scenario: &'a str,
    commit: &'a str,
    missing: Vec<RunToMake<'a>>,
}

impl<'a> SweepWork<'a> {
    /// Finds the missing runs of a part. Points with the same parameters share their runs. `commit` is that of the
    /// program.
    pub fn new(
        sweep: &'a Sweep,
        points: &'a [SweepPoint],
        folder: &'a SweepFolder,
        shard: SweepShard,
        commit: &'a str,
    ) -> Self {
        let version = program_version(commit);
        let runs = points
            .iter()
            .enumerate()
            .flat_map(|point| sweep.seeds.iter().map(move |seed| (point, *seed)));
        let own = runs.enumerate().filter(|(at, _)| shard.has(*at));
        let named = own.map(|(_, ((number, point), seed))| RunToMake {
            point,
            number,
            seed,
            name: run_name(&point.loaded.resolved, seed, &version),
        });
        let mut names = BTreeSet::new();
        Self {
            folder,
            scenario: &sweep.scenario,
            commit,
            missing: named
                .filter(|run| names.insert(run.name.clone()))
                .filter(|run| folder.figures(&run.name).is_none())
                .collect(),
        }
    }

    /// The runs that are missing.
    pub fn missing(&self) -> &[RunToMake<'a>] {
        &self.missing
    }

    /// Makes the missing runs, `threads` at a time, until all are made or `progress` breaks off. `progress` is called
    /// on this thread whenever a run has ended, and several times a second in between.
    ///
    /// # Errors
    /// Fails when a file cannot be written; no further run is then started.
    pub fn run(
        &self,
        threads: usize,
        progress: &mut dyn FnMut(SweepProgress) -> ControlFlow<()>,
    ) -> Result<WorkDone, SweepFolderError> {
        let next = AtomicUsize::new(0);
        let is_stopped = AtomicBool::new(false);
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            for _ in 0..threads.min(self.missing.len()) {
                let (sender, next, is_stopped) = (sender.clone(), &next, &is_stopped);
                scope.spawn(move || self.make_some(next, &sender, is_stopped));
            }
            drop(sender);
            self.follow(&receiver, &is_stopped, progress)
        })
    }

    /// Makes one run after another.
    fn make_some(&self, next: &AtomicUsize, sender: &Sender<RunEnd>, is_stopped: &AtomicBool) {
        while !is_stopped.load(Ordering::Relaxed)
            && let Some(run) = self.missing.get(next.fetch_add(1, Ordering::Relaxed))
        {
            if sender.send(self.make(run, is_stopped)).is_err() {
                return;
            }
        }
    }

    fn make(&self, run: &RunToMake<'_>, is_stopped: &AtomicBool) -> RunEnd {
        let request = RunRequest {
            loaded: &run.point.loaded,
            seed: run.seed,
            threads: 1,
            commit: self.commit,
            datasets: DatasetChoice::default(),
        };
        let finished = request.run(&mut |_| match is_stopped.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        match finished {
            Ok(finished) if finished.outcome.interrupted => RunEnd::Interrupted,
            Ok(finished) => {
                let (outcome, summary) = (&finished.outcome, &finished.summary);
                match self.folder.write(&run.name, outcome, summary) {
                    Ok(_) => RunEnd::Made,
                    Err(error) => RunEnd::Unwritten(error),
                }
            }
            Err(error) => RunEnd::Failed(FailedRun {
                seed: run.seed,
                why: error.to_string(),
                replay: replay(self.scenario, &run.point.set, run.seed),
            }),
        }
    }

    /// Collects the threads' results until they end, and reports the progress.
    fn follow(
        &self,
        receiver: &Receiver<RunEnd>,
        is_stopped: &AtomicBool,
        progress: &mut dyn FnMut(SweepProgress) -> ControlFlow<()>,
    ) -> Result<WorkDone, SweepFolderError> {
        let stop = || is_stopped.store(true, Ordering::Relaxed);
        let began = Instant::now();
        let mut done = WorkDone::default();
        let mut result = Ok(());
        loop {
            let now = SweepProgress {
                ended: done.made + done.failed.len(),
                failed: done.failed.len(),
                all: self.missing.len(),
                elapsed: began.elapsed(),
            };
            if progress(now).is_break() {
                stop();
            }
            match receiver.recv_timeout(REPORT_EVERY) {
                Ok(RunEnd::Made) => done.made += 1,
                Ok(RunEnd::Failed(failed)) => done.failed.push(failed),
                Ok(RunEnd::Unwritten(error)) => {
                    stop();
                    result = Err(error);
                }
                Ok(RunEnd::Interrupted) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return result.map(|()| done),
            }
        }
    }
}
