//! `undertone sweep`: runs a scenario over values of its keys and over seeds, and can resume after an interruption.

use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use undertone_lab::report::estimated_bytes;
use undertone_lab::run::threads;
use undertone_lab::sweep::{
    ShardError, Sweep, SweepError, SweepFolder, SweepFolderError, SweepPoint, SweepProgress,
    SweepReport, SweepShard, SweepWork, WorkDone,
};
use undertone_pages::sweep_page;

use super::interrupt::Interrupt;
use super::progress::Spinner;
use super::sim::{COMMIT, warn_of_memory};
use super::{Failure, output};

/// Flags of `undertone sweep`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Sweep files: docs/use/scenarios.md")]
pub(crate) struct Args {
    /// File that describes the sweep
    #[arg(value_name = "FILE.toml")]
    file: PathBuf,
    /// Folder for the rows of each run and the table (sweep-results/FILE if not given); what is there is not run again
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run only a part, such as 2/8 for the second of eight machines
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<SweepShard>,
    /// Number of runs at a time, each on one thread (one per processor if not given)
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print the table of what is there, and run nothing
    #[arg(long)]
    no_run: bool,
    /// Draw the figures over the values of the keys into this page
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

fn shard(text: &str) -> Result<SweepShard, ShardError> {
    text.parse()
}

/// Makes the missing runs, and prints the table of all results. If a run fails, the others are still made before the
/// failure is reported.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let sweep = Sweep::load(&args.file).map_err(unreadable)?;
    let points = sweep.points().map_err(unreadable)?;
    let out = args.out.clone().unwrap_or_else(|| {
        Path::new("sweep-results").join(args.file.file_stem().unwrap_or_default())
    });
    let folder = SweepFolder::open(&out).map_err(unwritten)?;
    let shard = args.shard.unwrap_or(SweepShard::WHOLE);
    let work = SweepWork::new(&sweep, &points, &folder, shard, COMMIT);
    let interrupt = Interrupt::listen()?;
    let done = match args.no_run {
        true => WorkDone::default(),
        false => make(args, &work, &points, &interrupt)?,
    };
    let report = SweepReport::new(&sweep, &points, &folder, done, COMMIT).map_err(unwritten)?;
    if let Some(page) = &args.html {
        let name = args.file.file_stem().unwrap_or_default().to_string_lossy();
        fs::write(page, sweep_page(&name, &report)).map_err(|error| Failure::at(page, error))?;
    }
    output::print(&report, args.json)?;
    if interrupt.is_asked() {
        return Err(Failure::interrupted(format!(
            "interrupted; {} runs are left, the same command goes on",
            report.left
        )));
    }
    verdict(&report)
}

/// Makes the missing runs, and shows their progress.
fn make(
    args: &Args,
    work: &SweepWork<'_>,
    points: &[SweepPoint],
    interrupt: &Interrupt,
) -> Result<WorkDone, Failure> {
    let threads = threads(args.threads);
    let scenarios = points.iter().map(|point| &point.loaded.scenario);
    if let Some(largest) = scenarios.max_by_key(|scenario| estimated_bytes(scenario)) {
        warn_of_memory(largest, threads);
    }
    let spinner = Spinner::new(!args.json);
    let done = work.run(threads, &mut |now| {
        spinner.say(progress(now));
        match interrupt.is_asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    spinner.finish();
    done.map_err(unwritten)
}

fn progress(now: SweepProgress) -> String {
    if now.ended == 0 {
        return format!("{} runs to make", now.all);
    }
    let mut line = format!(
        "{} of {} runs, {} left",
        now.ended,
        now.all,
        minutes(now.left_s())
    );
    if now.failed > 0 {
        line += &format!(", {} failed", now.failed);
    }
    line
}

fn minutes(seconds: f64) -> String {
    match seconds as u64 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

/// Returns an error if a run failed.
fn verdict(report: &SweepReport) -> Result<(), Failure> {
    let Some(first) = report.failures.first() else {
        return Ok(());
    };
    let count = report.failures.len();
    let text = format!("{count} runs failed, the first: {}", first.why);
    Err(Failure::new(text).with_help(format!("replay: {}", first.replay)))
}

fn unreadable(error: SweepError) -> Failure {
    Failure::usage(error.to_string())
}

fn unwritten(error: SweepFolderError) -> Failure {
    Failure::new(error.to_string())
}
