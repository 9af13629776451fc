//! `undertone attack`: searches for attacks on a simulated network.

use std::fmt;
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use undertone_lab::run::threads;
use undertone_lab::scenario;
use undertone_search::{
    Aim, Budget, Figures, Search, SearchError, Settings, scenario_file, shrink,
};

use super::interrupt::Interrupt;
use super::progress::Spinner;
use super::{Failure, output};

/// Flags of `undertone attack`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Vary the numbers of an adversary's policy, and keep what harms the honest nodes most
    Search(SearchArgs),
}

/// Flags of `undertone attack search`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Adversaries and their numbers: docs/use/scenarios.md")]
struct SearchArgs {
    /// Scenario to attack, by name or path; it has no adversaries itself
    #[arg(value_name = "SCENARIO")]
    scenario: String,
    /// Override a key of the scenario, such as relay.profile=nim
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// File of the search; if it exists, the search goes on from it
    #[arg(long, value_name = "FILE", default_value = "attack-search.json")]
    state: PathBuf,
    /// Scenario file for the worst attack found, made smaller and simpler
    #[arg(long, value_name = "FILE", default_value = "attack-found.toml")]
    found: PathBuf,
    /// Number of attacks to try, with those of the file
    #[arg(long, value_name = "N", default_value_t = 1000)]
    tries: usize,
    /// Stop after so many minutes; the same command goes on
    #[arg(long, value_name = "N", default_value_t = 110)]
    minutes: u64,
    /// Largest number of identities of an attack
    #[arg(long, value_name = "N", default_value_t = 40)]
    identities: u32,
    /// Largest number of addresses of an attack
    #[arg(long, value_name = "N", default_value_t = 40)]
    addresses: u32,
    /// What attacks are to achieve
    #[arg(long, value_enum, default_value_t = Wanted::Delivery)]
    aim: Wanted,
    /// Count only attacks in which no node gives an adversary a score below 0
    #[arg(long)]
    keep_score: bool,
    /// Number of attacks of a generation
    #[arg(long, value_name = "N", default_value_t = 40)]
    generation: usize,
    /// Seed of the search and its runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Number of runs at a time, each on one thread (one per processor if not given)
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Wanted {
    /// As few deliveries within 6 s as possible
    Delivery,
    /// As high a 99th percentile of latency as possible
    Latency,
}

impl From<Wanted> for Aim {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Delivery => Self::Delivery,
            Wanted::Latency => Self::Latency,
        }
    }
}

/// Result of a search.
#[derive(Serialize)]
struct Report {
    /// Number of attacks tried.
    tried: usize,
    /// Number of those whose adversaries kept a score of 0 or more.
    kept_score: usize,
    /// Figures of the network without an attack.
    without: Figures,
    /// Figures of the worst attack found.
    worst: Figures,
    /// Figures of the same attack, made smaller and simpler.
    shrunk: Figures,
    /// Scenario file of that attack.
    found: PathBuf,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "tried {} attacks; in {} of them every adversary kept a score of 0 or more",
            self.tried, self.kept_score
        )?;
        for (what, figures) in [
            ("without an attack", &self.without),
            ("worst", &self.worst),
            ("shrunk", &self.shrunk),
        ] {
            writeln!(
                f,
                "{what:>18}: {:6.2} % delivered within 6 s, p99 {:.0} ms, lowest score {:.1}, {} identities on {} addresses",
                figures.on_time_ratio * 100.0,
                figures.p99_ms,
                figures.lowest_score,
                figures.identities,
                figures.addresses
            )?;
        }
        writeln!(f, "undertone sim {}", self.found.display())
    }
}

impl SearchArgs {
    /// The command line that searches the same again.
    fn command(&self) -> String {
        let aim = match self.aim {
            Wanted::Delivery => "delivery",
            Wanted::Latency => "latency",
        };
        let set = self.set.iter().map(|set| format!(" --set '{set}'"));
        format!(
            "undertone attack search {}{} --aim {aim}{} --identities {} --addresses {} --generation {} --tries {} --seed {}",
            self.scenario,
            set.collect::<String>(),
            if self.keep_score { " --keep-score" } else { "" },
            self.identities,
            self.addresses,
            self.generation,
            self.tries,
            self.seed
        )
    }
}

/// Runs a subcommand.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Search(args) => search(args),
    }
}

fn search(args: &SearchArgs) -> Result<(), Failure> {
    let loaded = scenario::load(&args.scenario, &args.set)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let scenario = &loaded.scenario;
    if scenario.adversaries() > 0 {
        return Err(
            Failure::usage(format!("{} has adversaries of its own", args.scenario))
                .with_help("search on the scenario without them"),
        );
    }
    let settings = Settings {
        scenario: (args.scenario.clone(), loaded.resolved.hash.clone()),
        seed: args.seed,
        budget: Budget {
            identities: args.identities,
            addresses: args.addresses,
        },
        aim: args.aim.into(),
        keeps_score: args.keep_score,
        generation: args.generation,
    };
    let interrupt = Interrupt::listen()?;
    let spinner = Spinner::new(!args.json);
    let mut search = Search::new(settings, &args.state).map_err(failed)?;
    let until = Instant::now() + Duration::from_secs(args.minutes * 60);
    while search.tried < args.tries && Instant::now() < until && !interrupt.is_asked() {
        let worst = search
            .worst(scenario)
            .map_or_else(String::new, |(figures, _)| {
                format!(
                    "; worst {:.2} % within 6 s, p99 {:.0} ms",
                    figures.on_time_ratio * 100.0,
                    figures.p99_ms
                )
            });
        spinner.say(format!(
            "{} of {} attacks tried{worst}",
            search.tried, args.tries
        ));
        search
            .step(scenario, threads(args.threads), &args.state)
            .map_err(failed)?;
    }
    spinner.finish();
    if search.tried < args.tries {
        let left = args.tries - search.tried;
        return Err(Failure::interrupted(format!(
            "{left} attacks are left; the same command goes on"
        )));
    }
    let Some((worst, attack)) = search.worst(scenario) else {
        return Err(Failure::usage(
            "no attack was tried; --tries must be more than 0",
        ));
    };
    let run_failed = |error: undertone_sim::SimError| Failure::new(error.to_string());
    let (attack, shrunk) = shrink(
        scenario,
        attack,
        (args.aim.into(), args.keep_score, args.seed),
        &mut |attack, figures| {
            let on_time = figures.on_time_ratio * 100.0;
            spinner.say(format!(
                "shrinking: {} identities, {on_time:.2} % within 6 s",
                attack.identities
            ));
        },
    )
    .map_err(run_failed)?;
    spinner.finish();
    let command = args.command();
    let text = scenario_file(&args.scenario, &attack, &shrunk, &command);
    fs::write(&args.found, text).map_err(|error| Failure::at(&args.found, error))?;
    let report = Report {
        tried: search.tried,
        kept_score: search.kept_score,
        without: Figures::of(scenario, args.seed).map_err(run_failed)?,
        worst,
        shrunk,
        found: args.found.clone(),
    };
    output::print(&report, args.json)
}

fn failed(error: SearchError) -> Failure {
    match error {
        SearchError::Content { .. } | SearchError::Other { .. } => {
            Failure::usage(error.to_string())
        }
        SearchError::File { .. } | SearchError::Simulation(_) => Failure::new(error.to_string()),
    }
}
