//! `undertone sim`: simulates a scenario in virtual time.

mod bench;
mod compare;
mod list;
mod runner;

use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;

use undertone_lab::report::{Campaign, WriteError, write_run, write_summary};
use undertone_lab::scenario::{self, Loaded, SeedsError};

use super::{Failure, output};

pub(crate) use list::print as print_list;
pub(crate) use runner::{COMMIT, Runner, scenario_failure};

/// Flags of `undertone sim`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Keys of scenario files: docs/scenarios.md")]
pub(crate) struct Args {
    /// Scenario to run: a file, or a name that --list shows
    #[arg(required_unless_present_any = ["list", "bench"])]
    scenario: Option<String>,
    /// Set a key of the scenario, such as network.one_way_ms=100; may be repeated
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

/// Returns the requested number of threads, or one per processor.
pub(crate) fn threads(asked: Option<NonZeroUsize>) -> usize {
    asked.map_or_else(
        || thread::available_parallelism().map_or(1, NonZeroUsize::get),
        NonZeroUsize::get,
    )
}

/// Lists, measures, or runs scenarios. A violated invariant of a run is a failure.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let seed = args.seed.unwrap_or(1);
    if args.list {
        return list::print(args.json);
    }
    if args.bench {
        return bench::run(seed, threads(args.threads), args.json);
    }
    let reference = args
        .scenario
        .as_deref()
        .expect("the parser wants a scenario unless it is --list or --bench");
    let loaded = scenario::load(reference, &args.set).map_err(scenario_failure)?;
    let published = match args.compare {
        true => Some(compare::published(&loaded.scenario.name)?),
        false => None,
    };
    let seeds = args
        .seeds
        .as_ref()
        .map_or(vec![seed], |seeds| seeds.0.clone());
    let campaign = simulate(args, &loaded, &seeds)?;
    match published {
        Some(published) => compare::print(&published, &campaign, args.json)?,
        None => output::print(&campaign, args.json)?,
    }
    match campaign.violating() {
        None => Ok(()),
        Some(run) => Err(Failure::new(format!(
            "{} rules did not hold with seed {}, the first {}",
            run.violations.len(),
            run.seed,
            run.violations[0]
        ))
        .with_help(format!(
            "replay: {}",
            replay(reference, &args.set, run.seed)
        ))),
    }
}

fn simulate(args: &Args, loaded: &Loaded, seeds: &[u64]) -> Result<Campaign, Failure> {
    let runner = Runner {
        scenario: &loaded.scenario,
        threads: threads(args.threads),
        show_progress: !args.json,
    };
    let mut runs = Vec::new();
    for seed in seeds {
        let (outcome, summary) = runner.run(*seed)?;
        if let Some(folder) = &args.out {
            let folder = match seeds {
                [_] => folder.clone(),
                _ => folder.join(format!("seed-{seed}")),
            };
            write_run(&folder, &outcome, &summary).map_err(unwritten)?;
        }
        runs.push(summary);
    }
    let campaign = Campaign::new(runs);
    if let (Some(folder), [_, _, ..]) = (&args.out, seeds) {
        write_summary(folder, &campaign).map_err(unwritten)?;
    }
    Ok(campaign)
}

fn unwritten(error: WriteError) -> Failure {
    Failure::new(error.to_string())
}

/// Returns the command line that repeats a run.
fn replay(reference: &str, set: &[String], seed: u64) -> String {
    let mut line = format!("undertone sim {reference}");
    for set in set {
        // Writing to a string cannot fail.
        let _ = write!(line, " --set '{set}'");
    }
    line + &format!(" --seed {seed}")
}
