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
    Aim, Budget, Defence, DefenceFigures, DefenceSettings, Figures, Search, SearchError, Settings,
    scenario_file, shrink,
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
    /// Scenario to attack, by name or path; it has no adversaries itself. With --defend, scenarios that have some
    #[arg(value_name = "SCENARIO", required = true)]
    scenarios: Vec<String>,
    /// Vary the honest nodes' rules instead, and keep those under which the worst of the attacks harms least; a tenth
    /// of the nodes are slow, and none may fall below a score of 0
    #[arg(long, conflicts_with_all = ["aim", "keep_score", "identities", "addresses", "memberships", "found"])]
    defend: bool,
    /// Override a key of the scenario, such as relay.profile=nim
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// File of the search; if it exists, the search goes on from it
    #[arg(long, value_name = "FILE", default_value = "attack-search.json")]
    state: PathBuf,
    /// Scenario file for the worst attack found, made smaller and simpler
    #[arg(long, value_name = "FILE", default_value = "attack-found.toml")]
    found: PathBuf,
    /// Number of candidates to try, with those of the file, in whole generations
    #[arg(long, value_name = "N", default_value_t = 1000)]
    tries: usize,
    /// Stop after so many minutes; the same command goes on
    #[arg(long, value_name = "N", default_value_t = 110)]
    minutes: u64,
    /// Largest number of identities of an attack
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    identities: u32,
    /// Largest number of addresses of an attack
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    addresses: u32,
    /// Largest number of memberships with which the identities of an attack publish; 0: they publish nothing
    #[arg(long, value_name = "N", default_value_t = 0)]
    memberships: u32,
    /// What attacks are to achieve
    #[arg(long, value_enum, default_value_t = Wanted::Delivery)]
    aim: Wanted,
    /// Count only attacks in which no node gives an adversary a score below 0
    #[arg(long)]
    keep_score: bool,
    /// Number of candidates of a generation
    #[arg(long, value_name = "N", default_value = "40")]
    generation: NonZeroUsize,
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
    /// Figures of the same attack, made smaller and simpler; `None` if it does no harm.
    shrunk: Option<Figures>,
    /// Scenario file of that attack; none is written if it does no harm.
    found: Option<PathBuf>,
    /// Seed of the runs.
    seed: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "tried {} attacks; in {} of them every adversary kept a score of 0 or more",
            self.tried, self.kept_score
        )?;
        let figures = [
            ("without an attack", Some(&self.without)),
            ("worst", Some(&self.worst)),
            ("shrunk", self.shrunk.as_ref()),
        ];
        for (what, figures) in figures.into_iter().filter_map(|(w, f)| Some((w, f?))) {
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
        match &self.found {
            Some(found) => writeln!(f, "undertone sim {} --seed {}", found.display(), self.seed),
            None => writeln!(f, "nothing was found: no attack did harm"),
        }
    }
}

impl SearchArgs {
    /// The command line that searches the same again.
    fn command(&self, scenario: &str) -> String {
        let aim = match self.aim {
            Wanted::Delivery => "delivery",
            Wanted::Latency => "latency",
        };
        let set = self.set.iter().map(|set| format!(" --set '{set}'"));
        format!(
            "undertone attack search {scenario}{} --aim {aim}{} --identities {} --addresses {} --memberships {} --generation {} --tries {} --seed {}",
            set.collect::<String>(),
            if self.keep_score { " --keep-score" } else { "" },
            self.identities,
            self.addresses,
            self.memberships,
            self.generation,
            self.tries,
            self.seed
        )
    }
}

/// Result of a search for rules.
#[derive(Serialize)]
struct DefenceReport {
    /// Number of sets of rules tried.
    tried: usize,
    /// Number of those under which an honest peer had a score below 0.
    blamed_honest: usize,
    /// Figures of the rules that the scenarios have.
    before: DefenceFigures,
    /// Figures of the best rules.
    best: DefenceFigures,
    /// The best rules, without those that hardly matter.
    rules: Vec<String>,
    /// Figures of all rules that no others beat.
    frontier: Vec<DefenceFigures>,
}

impl fmt::Display for DefenceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "tried {} sets of rules; under {} of them an honest peer had a score below 0",
            self.tried, self.blamed_honest
        )?;
        let mut line = |what: &str, figures: &DefenceFigures| {
            writeln!(
                f,
                "{what:>10}: {:6.2} % delivered within 6 s, p99 {:.0} ms, {:.1} KB per node and message, {} honest peers below 0",
                figures.on_time_ratio * 100.0,
                figures.p99_ms,
                figures.kb_per_message,
                figures.honest_below_zero
            )
        };
        line("before", &self.before)?;
        line("best", &self.best)?;
        for figures in &self.frontier {
            line("frontier", figures)?;
        }
        for rule in &self.rules {
            writeln!(f, "--set {rule}")?;
        }
        Ok(())
    }
}

/// Runs a subcommand.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Search(args) if args.defend => defend(args),
        Command::Search(args) => search(args),
    }
}

fn search(args: &SearchArgs) -> Result<(), Failure> {
    let [name] = &args.scenarios[..] else {
        return Err(Failure::usage("one scenario is attacked at a time"));
    };
    let loaded =
        scenario::load(name, &args.set).map_err(|error| Failure::usage(error.to_string()))?;
    let scenario = &loaded.scenario;
    if scenario.adversaries() > 0 {
        return Err(Failure::usage(format!("{name} has adversaries of its own"))
            .with_help("search on the scenario without them, or for rules with --defend"));
    }
    if args.memberships > 0 && scenario.rln.is_none() {
        return Err(
            Failure::usage(format!("{name} has no rate limit, so no memberships"))
                .with_help("leave out --memberships, or give the scenario a table [rln]"),
        );
    }
    let settings = Settings {
        scenario: (name.clone(), loaded.resolved.hash.clone()),
        seed: args.seed,
        budget: Budget {
            identities: args.identities,
            addresses: args.addresses,
            memberships: args.memberships,
        },
        aim: args.aim.into(),
        keeps_score: args.keep_score,
        generation: args.generation.get(),
    };
    let mut search = Search::new(settings, &args.state).map_err(failed)?;
    let at = |search: &Search| {
        let worst = search.worst(scenario).map(|(figures, _)| figures);
        (search.tried, worst.map(|w| (w.on_time_ratio, w.p99_ms)))
    };
    let spinner = in_pieces(args, &mut search, at, |search| {
        search.step(scenario, threads(args.threads), &args.state)
    })?;
    let Some((worst, attack)) = search.worst(scenario) else {
        return Err(nothing_tried());
    };
    let run_failed = |error: undertone_sim::SimError| Failure::new(error.to_string());
    let aim = Aim::from(args.aim);
    let mut report = Report {
        tried: search.tried,
        kept_score: search.kept_score,
        without: Figures::of(scenario, args.seed).map_err(run_failed)?,
        worst,
        shrunk: None,
        found: None,
        seed: args.seed,
    };
    if !worst.does_harm(&report.without, aim) {
        return output::print(&report, args.json);
    }
    let (attacked, shrunk) = shrink(
        scenario,
        attack,
        (aim, args.keep_score, args.seed),
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
    let command = args.command(name);
    let text = scenario_file(name, &attacked, &shrunk, &command)
        .map_err(|error| Failure::usage(error.to_string()))?;
    fs::write(&args.found, text).map_err(|error| Failure::at(&args.found, error))?;
    (report.shrunk, report.found) = (Some(shrunk), Some(args.found.clone()));
    output::print(&report, args.json)
}

/// Runs generations until enough candidates are tried. `at` returns the number tried, and the share of deliveries within
/// 6 s and the p99 of the one that is kept.
fn in_pieces<S>(
    args: &SearchArgs,
    search: &mut S,
    at: impl Fn(&S) -> (usize, Option<(f64, f64)>),
    step: impl Fn(&mut S) -> Result<(), SearchError>,
) -> Result<Spinner, Failure> {
    let interrupt = Interrupt::listen()?;
    let spinner = Spinner::new(!args.json);
    let until = Instant::now() + Duration::from_secs(args.minutes * 60);
    loop {
        let (tried, kept) = at(search);
        if tried >= args.tries {
            break;
        }
        if Instant::now() >= until || interrupt.is_asked() {
            spinner.finish();
            let left = args.tries - tried;
            let text = format!("{left} candidates are left; the same command goes on");
            return Err(Failure::interrupted(text));
        }
        let kept = kept.map(|(on_time_ratio, p99_ms)| {
            let on_time = on_time_ratio * 100.0;
            format!("; kept: {on_time:.2} % within 6 s, p99 {p99_ms:.0} ms")
        });
        let kept = kept.unwrap_or_default();
        spinner.say(format!("{tried} of {} candidates tried{kept}", args.tries));
        step(search).map_err(failed)?;
    }
    spinner.finish();
    Ok(spinner)
}

fn nothing_tried() -> Failure {
    Failure::usage("nothing was tried; --tries must be more than 0")
}

fn defend(args: &SearchArgs) -> Result<(), Failure> {
    let mut attacks = Vec::new();
    for name in &args.scenarios {
        let loaded =
            scenario::load(name, &args.set).map_err(|error| Failure::usage(error.to_string()))?;
        attacks.push((name.clone(), loaded.resolved.hash));
    }
    let settings = DefenceSettings {
        attacks,
        set: args.set.clone(),
        seed: args.seed,
        generation: args.generation.get(),
    };
    let before = DefenceFigures::of(&settings, &[]).map_err(failed)?;
    let mut search = Defence::new(settings, &args.state).map_err(failed)?;
    let at = |search: &Defence| {
        let best = search.best().map(|(_, figures)| figures);
        (search.tried, best.map(|b| (b.on_time_ratio, b.p99_ms)))
    };
    let spinner = in_pieces(args, &mut search, at, |search| {
        search.step(threads(args.threads), &args.state)
    })?;
    let say = &mut |left| spinner.say(format!("leaving out what does not matter: {left} rules"));
    let Some((rules, best)) = search.simplest(say) else {
        return Err(nothing_tried());
    };
    spinner.finish();
    let report = DefenceReport {
        tried: search.tried,
        blamed_honest: search.blamed_honest,
        before,
        best,
        rules,
        frontier: search.frontier(),
    };
    output::print(&report, args.json)
}

fn failed(error: SearchError) -> Failure {
    match error {
        SearchError::Content { .. }
        | SearchError::Other { .. }
        | SearchError::NoAdversaries { .. }
        | SearchError::NothingDelivered { .. }
        | SearchError::Scenario(_) => Failure::usage(error.to_string()),
        SearchError::File { .. } | SearchError::Simulation(_) => Failure::new(error.to_string()),
    }
}
