//! `undertone sweep`: runs one scenario over values of its keys and over seeds, and goes on where it was stopped.

mod report;
mod work;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use undertone_lab::report::estimated_bytes;
use undertone_lab::sweep::{
    ShardError, Sweep, SweepError, SweepFolder, SweepFolderError, SweepShard,
};

use super::interrupt::Interrupt;
use super::sim::{COMMIT, threads, warn_of_memory};
use super::{Failure, output};
use report::{SweepReport, finished};
use work::{SweepWork, WorkDone};

/// Version in the names of runs: another program may run the same scenario differently.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("UNDERTONE_COMMIT"));

/// Flags of `undertone sweep`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Sweep files: docs/scenarios.md")]
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
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

fn shard(text: &str) -> Result<SweepShard, ShardError> {
    text.parse()
}

/// Runs what is missing, and prints the table of everything that is there. A run that fails is a failure, after all
/// others were made.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let sweep = Sweep::load(&args.file).map_err(unreadable)?;
    let points = sweep.points().map_err(unreadable)?;
    let out = args.out.clone().unwrap_or_else(|| {
        Path::new("sweep-results").join(args.file.file_stem().unwrap_or_default())
    });
    let folder = SweepFolder::open(&out).map_err(unwritten)?;
    let work = SweepWork::new(
        &sweep,
        &points,
        &folder,
        args.shard.unwrap_or(SweepShard::WHOLE),
    );
    let interrupt = Interrupt::listen()?;
    let done = match args.no_run {
        true => WorkDone::default(),
        false => {
            let threads = threads(args.threads);
            let scenarios = points.iter().map(|point| &point.loaded.scenario);
            if let Some(largest) = scenarios.max_by_key(|scenario| estimated_bytes(scenario)) {
                warn_of_memory(largest, threads);
            }
            work.run(threads, !args.json, &interrupt)?
        }
    };
    let report: SweepReport = finished(&sweep, &points, &folder, done)?;
    output::print(&report, args.json)?;
    if interrupt.is_asked() {
        return Err(Failure::interrupted(format!(
            "interrupted; {} runs are left, the same command goes on",
            report.left
        )));
    }
    report.verdict()
}

fn unreadable(error: SweepError) -> Failure {
    Failure::usage(error.to_string())
}

fn unwritten(error: SweepFolderError) -> Failure {
    Failure::new(error.to_string())
}
