//! `undertone sim`: simulates a scenario in virtual time.

mod bench;
mod compare;
mod datasets;
mod list;
#[cfg(feature = "mpi")]
mod ranked;
mod request;
mod runner;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use undertone_lab::report::{
    Campaign, WriteError, write_datasets, write_netviz, write_run, write_summary,
};
use undertone_lab::run::{FinishedRun, threads};
use undertone_lab::scenario::{self, SeedsError};
use undertone_pages::{RunShown, run_page};
use undertone_sim::Scenario;

use super::interrupt::Interrupt;
use super::{Failure, output};
use datasets::DatasetFlags;
use request::SimRequest;

pub(crate) use list::print as print_list;
pub(crate) use runner::{COMMIT, Runner, scenario_failure, warn_of_memory};

/// Flags of `undertone sim`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Keys of scenario files: docs/use/scenarios.md")]
pub(crate) struct Args {
    /// Scenario to run: a file, or a name that --list shows
    #[arg(required_unless_present_any = ["list", "bench", "from_results"])]
    scenario: Option<String>,
    /// Run again what the results in this folder came from, and compare the traces
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scenario", "list", "bench", "compare"])]
    from_results: Option<PathBuf>,
    /// Set a key of the scenario, such as network.one_way_ms=100, or take it away (network.loss=); may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Seed of all random choices (1 if not given)
    #[arg(long, value_name = "N", conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Several seeds, and the median over them: 1..5 or 1,4,9
    #[arg(long, value_name = "SEEDS", value_parser = seeds)]
    seeds: Option<Seeds>,
    /// Number of threads; results do not depend on it (one per processor if not given)
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Write summary.json and deliveries.parquet into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    datasets: DatasetFlags,
    /// Draw the runs into this page, several seeds over one another
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "bench"])]
    html: Option<PathBuf>,
    /// Write the run as a trace that the network viewer netviz of ethp2p opens; one seed only
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "bench", "seeds"])]
    netviz: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// List the built-in scenarios
    #[arg(long, conflicts_with_all = ["scenario", "bench", "compare"])]
    list: bool,
    /// Run the paper's four scenarios and print their wall time, processor time and memory
    #[arg(long, conflicts_with_all = ["scenario", "compare", "seeds", "out", "set"])]
    bench: bool,
    /// Print the published figures beside ours, and a verdict
    #[arg(long)]
    compare: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Seeds(pub(crate) Vec<u64>);

pub(crate) fn seeds(text: &str) -> Result<Seeds, SeedsError> {
    scenario::parse_seeds(text).map(Seeds)
}

/// Lists, measures, or runs scenarios. A run that violates an invariant or delivers nothing is a failure.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    #[cfg(feature = "mpi")]
    if let Some(ranks) = undertone_lab::ranks::MpiRanks::join() {
        return ranked::run(args, ranks);
    }
    let seed = args.seed.unwrap_or(1);
    if args.list {
        return list::print(args.json);
    }
    if args.bench {
        return bench::run(seed, threads(args.threads), args.json);
    }
    let asked = SimRequest::read(args)?;
    let published = match args.compare {
        true => Some(compare::published(&asked.loaded.scenario.name)?),
        false => None,
    };
    let interrupt = Interrupt::listen()?;
    warn_of_memory(&asked.loaded.scenario, 1);
    let campaign = simulate(args, &asked, &interrupt)?;
    match published {
        Some(published) => compare::print(&published, &campaign, args.json)?,
        None => output::print(&campaign, args.json)?,
    }
    if interrupt.is_asked() {
        return Err(asked.interrupted(&campaign));
    }
    asked.check(&campaign)
}

/// Runs every seed until the user interrupts it; an interrupted run is kept as well.
fn simulate(args: &Args, asked: &SimRequest, interrupt: &Interrupt) -> Result<Campaign, Failure> {
    let written = args.datasets.choice();
    let mut recorded = written;
    recorded.copies |= args.netviz.is_some();
    let runner = Runner {
        loaded: &asked.loaded,
        threads: threads(args.threads),
        show_progress: !args.json,
        interrupt: Some(interrupt),
        datasets: recorded,
    };
    let mut runs = Vec::new();
    let mut drawn = Vec::new();
    for seed in &asked.seeds {
        // The first run is started in any case, and reports how far it came.
        if interrupt.is_asked() && !runs.is_empty() {
            break;
        }
        let run = runner.run(*seed)?;
        if let Some(folder) = &args.out {
            let folder = match asked.seeds.as_slice() {
                [_] => folder.clone(),
                _ => folder.join(format!("seed-{seed}")),
            };
            write_run(&folder, &run.outcome, &run.summary).map_err(unwritten)?;
            write_datasets(&folder, &run.outcome, &run.summary, &written).map_err(unwritten)?;
        }
        if let Some(file) = &args.netviz {
            trace(file, &asked.loaded.scenario, &run)?;
        }
        runs.push(run.summary.clone());
        if args.html.is_some() {
            drawn.push(run);
        }
    }
    if let Some(file) = &args.html {
        draw(file, &drawn)?;
    }
    let campaign = Campaign::new(runs);
    if let (Some(folder), [_, _, ..]) = (&args.out, asked.seeds.as_slice()) {
        write_summary(folder, &campaign).map_err(unwritten)?;
    }
    Ok(campaign)
}

/// Writes the page of runs with different seeds.
fn draw(file: &Path, runs: &[FinishedRun]) -> Result<(), Failure> {
    let shown: Vec<RunShown<'_>> = runs
        .iter()
        .map(|run| RunShown {
            name: format!("seed {}", run.summary.seed),
            run,
        })
        .collect();
    fs::write(file, run_page(&shown)).map_err(|error| Failure::at(file, error))
}

/// Writes a run as a trace for netviz.
fn trace(file: &Path, scenario: &Scenario, run: &FinishedRun) -> Result<(), Failure> {
    let write = || {
        let mut out = BufWriter::new(File::create(file)?);
        write_netviz(scenario, &run.outcome, &mut out)?;
        out.flush()
    };
    write().map_err(|error| Failure::at(file, error))
}

fn unwritten(error: WriteError) -> Failure {
    Failure::new(error.to_string())
}
