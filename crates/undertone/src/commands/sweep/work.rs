//! Runs of a sweep: which are missing, and making them on several threads.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use undertone_lab::report::{Stopwatch, Summary};
use undertone_lab::sweep::{
    Sweep, SweepFolder, SweepFolderError, SweepPoint, SweepShard, run_name,
};
use undertone_sim::RunOptions;

use super::super::Failure;
use super::super::interrupt::Interrupt;
use super::super::progress::Spinner;
use super::super::sim::replay;
use super::{COMMIT, VERSION, unwritten};

/// A run that did not succeed.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FailedRun {
    pub(super) seed: u64,
    pub(super) why: String,
    /// Command line that repeats the run.
    pub(super) replay: String,
}

/// Result of the work.
#[derive(Debug, Default)]
pub(super) struct WorkDone {
    /// Number of runs that were made.
    pub(super) made: usize,
    /// Runs that could not be made at all.
    pub(super) failed: Vec<FailedRun>,
}

/// One run to be made.
struct RunToMake<'a> {
    point: &'a SweepPoint,
    seed: u64,
    name: String,
}

/// Message of a thread about a run.
enum RunEnd {
    Made,
    Failed(FailedRun),
    Unwritten(SweepFolderError),
    Interrupted,
}

/// The runs of a part of a sweep that are not there yet.
pub(super) struct SweepWork<'a> {
    folder: &'a SweepFolder,
    scenario: &'a str,
    missing: Vec<RunToMake<'a>>,
}

impl<'a> SweepWork<'a> {
    /// Finds the runs of a part that are missing; points with the same parameters have the same runs.
    pub(super) fn new(
        sweep: &'a Sweep,
        points: &'a [SweepPoint],
        folder: &'a SweepFolder,
        shard: SweepShard,
    ) -> Self {
        let runs = points
            .iter()
            .flat_map(|point| sweep.seeds.iter().map(move |seed| (point, *seed)));
        let own = runs.enumerate().filter(|(number, _)| shard.has(*number));
        let named = own.map(|(_, (point, seed))| RunToMake {
            point,
            seed,
            name: run_name(&point.loaded.resolved, seed, VERSION),
        });
        let mut names = BTreeSet::new();
        Self {
            folder,
            scenario: &sweep.scenario,
            missing: named
                .filter(|run| names.insert(run.name.clone()))
                .filter(|run| folder.figures(&run.name).is_none())
                .collect(),
        }
    }

    /// Makes the missing runs, `threads` at a time, until all are made or the user interrupts.
    pub(super) fn run(
        &self,
        threads: usize,
        shows_progress: bool,
        interrupt: &Interrupt,
    ) -> Result<WorkDone, Failure> {
        let next = AtomicUsize::new(0);
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            for _ in 0..threads.min(self.missing.len()) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || self.make_some(next, &sender, interrupt));
            }
            drop(sender);
            self.follow(
                &receiver,
                shows_progress,
                next_after(&next, self.missing.len()),
            )
        })
    }

    /// Makes one run after another.
    fn make_some(&self, next: &AtomicUsize, sender: &Sender<RunEnd>, interrupt: &Interrupt) {
        while !interrupt.is_asked()
            && let Some(run) = self.missing.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let end = self.make(run, interrupt);
            let is_over = matches!(end, RunEnd::Unwritten(_));
            if sender.send(end).is_err() || is_over {
                return;
            }
        }
    }

    fn make(&self, run: &RunToMake<'_>, interrupt: &Interrupt) -> RunEnd {
        let scenario = &run.point.loaded.scenario;
        let watch = Stopwatch::start();
        let options = RunOptions::new(run.seed);
        let outcome =
            undertone_sim::run_until(scenario, options, &mut |_| match interrupt.is_asked() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            });
        let outcome = match outcome {
            Ok(outcome) if outcome.interrupted => return RunEnd::Interrupted,
            Ok(outcome) => outcome,
            Err(error) => {
                return RunEnd::Failed(FailedRun {
                    seed: run.seed,
                    why: error.to_string(),
                    replay: replay(self.scenario, &run.point.set, run.seed),
                });
            }
        };
        let summary = Summary::new(scenario, &outcome, watch.read(), COMMIT)
            .resolved(run.point.loaded.resolved.clone());
        match self.folder.write(&run.name, &outcome, &summary) {
            Ok(_) => RunEnd::Made,
            Err(error) => RunEnd::Unwritten(error),
        }
    }

    /// Follows the threads to their end, and shows how far they are.
    fn follow(
        &self,
        receiver: &Receiver<RunEnd>,
        shows_progress: bool,
        stop: impl Fn(),
    ) -> Result<WorkDone, Failure> {
        let spinner = Spinner::new(shows_progress);
        let began = Instant::now();
        let mut done = WorkDone::default();
        let mut result = Ok(());
        spinner.say(format!("{} runs to make", self.missing.len()));
        for end in receiver {
            match end {
                RunEnd::Made => done.made += 1,
                RunEnd::Failed(failed) => done.failed.push(failed),
                RunEnd::Unwritten(error) => {
                    stop();
                    result = Err(unwritten(error));
                }
                RunEnd::Interrupted => {}
            }
            spinner.say(self.progress(&done, began.elapsed()));
        }
        spinner.finish();
        result.map(|()| done)
    }

    fn progress(&self, done: &WorkDone, elapsed: Duration) -> String {
        let (ended, all) = (done.made + done.failed.len(), self.missing.len());
        let left = (all - ended) as f64 / ended.max(1) as f64;
        let mut line = format!(
            "{ended} of {all} runs, {} left",
            minutes(elapsed.as_secs_f64() * left)
        );
        if !done.failed.is_empty() {
            line += &format!(", {} failed", done.failed.len());
        }
        line
    }
}

/// Keeps threads from beginning further runs.
fn next_after(next: &AtomicUsize, runs: usize) -> impl Fn() {
    move || next.store(runs, Ordering::Relaxed)
}

fn minutes(seconds: f64) -> String {
    match seconds as u64 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}
