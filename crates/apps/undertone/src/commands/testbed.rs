//! `undertone testbed`: runs a scenario with real nodes, the kernel's TCP and real proofs.

mod attacker;
mod bench;
mod report;

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use undertone_fleet::processes::{CampaignError, Campaigner, Setup};
use undertone_lab::scenario;

use self::report::Shown;
use super::progress::Spinner;
use super::sim::{COMMIT, Seeds, scenario_failure, seeds};
use super::{Failure, node as node_command, output, sim};

/// Flags of `undertone testbed`.
#[derive(clap::Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = "Keys of scenario files: docs/use/scenarios.md; what differs here: docs/use/testbed.md"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    of_its_own: Option<OfItsOwn>,
    /// Scenario to run: a file, or a name that --list shows
    #[arg(required_unless_present_any = ["list", "bench"])]
    scenario: Option<String>,
    /// Set a key of the scenario, such as network.one_way_ms=100; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Seed of connections, delays and messages, as in the simulator (1 if not given)
    #[arg(long, value_name = "N", conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Several seeds, each with new nodes: 1..5 or 1,4,9
    #[arg(long, value_name = "SEEDS", value_parser = seeds)]
    seeds: Option<Seeds>,
    /// Write summary.json and deliveries.parquet into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// List the built-in scenarios
    #[arg(long, conflicts_with_all = ["scenario", "bench"])]
    list: bool,
    /// Run lines and random graphs, with cold and warm connections and four sizes, beside the simulator
    #[arg(long, conflicts_with_all = ["scenario", "seed", "seeds", "set", "out", "tokens"])]
    bench: bool,
    /// Runs of each cell of --bench, each with new nodes
    #[arg(long, value_name = "N", default_value_t = 3, requires = "bench", value_parser = clap::value_parser!(u64).range(1..=100))]
    runs: u64,
    /// Also simulate the scenario, with the measured processing costs, and print both
    #[arg(long)]
    beside_sim: bool,
    /// Proofs that each publisher prepares before the first message; with 0 each proof is made when its
    /// message is published
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=64))]
    tokens: u32,
    /// Time within which all nodes must be connected, in seconds
    #[arg(long, value_name = "S", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    ready_s: u64,
    /// Connect the nodes over QUIC instead of TCP; the simulator beside them has TCP all the same
    #[arg(long)]
    quic: bool,
}

/// Commands that the testbed starts inside its network namespaces.
#[derive(clap::Subcommand, Debug)]
enum OfItsOwn {
    /// Run a node that reuses message ids
    #[command(hide = true)]
    AttackerNode(node_command::Args),
}

/// Lists scenarios, runs the benchmark, or runs a scenario.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(OfItsOwn::AttackerNode(args)) = &args.of_its_own {
        return attacker::run(args);
    }
    if args.list {
        return sim::print_list(args.json);
    }
    let progress = Spinner::new(!args.json);
    let mut campaigner = Campaigner {
        setup: Setup {
            program: env::current_exe()
                .map_err(|error| Failure::new(format!("cannot find this program: {error}")))?,
            node: &["node"],
            attacker: &["testbed", "attacker-node"],
            tokens: args.tokens,
            ready: Duration::from_secs(args.ready_s),
            quic: args.quic,
        },
        out: args.out.as_deref(),
        progress: &progress,
        beside_sim: args.beside_sim,
        commit: COMMIT,
    };
    if args.bench {
        campaigner.beside_sim = true;
        return output::print(&bench::run(&campaigner, args.runs)?, args.json);
    }
    let reference = args
        .scenario
        .as_deref()
        .expect("the parser wants a scenario unless it is --list or --bench");
    let loaded = scenario::load(reference, &args.set).map_err(scenario_failure)?;
    let seeds = args.seeds.as_ref();
    let seeds = seeds.map_or(vec![args.seed.unwrap_or(1)], |seeds| seeds.0.clone());
    let report = campaigner.run(&loaded, &seeds).map_err(failure)?;
    output::print(&Shown(&report), args.json)?;
    if !loaded.scenario.faults.is_empty() {
        // With faults, missing deliveries are a result, not a failure.
        return Ok(());
    }
    let receivers = u64::from(loaded.scenario.nodes - 1);
    for (run, unsent) in report.campaign.runs().iter().zip(&report.unsent) {
        let expected = run.expected - unsent.len() as u64 * receivers;
        if run.delivered < expected {
            // On a path with packet loss, a message may arrive late.
            let missing = expected - run.delivered;
            let seed = run.seed;
            let text = format!("{missing} of {expected} deliveries are missing with seed {seed}");
            let help = "give them longer with --set traffic.drain_s=SECONDS";
            return Err(Failure::new(text).with_help(help));
        }
    }
    Ok(())
}

fn failure(error: CampaignError) -> Failure {
    let text = error.to_string();
    match error {
        CampaignError::Simulation { .. } => {
            Failure::usage(text).with_help("docs/use/scenarios.md lists keys and their bounds")
        }
        CampaignError::Run(error) if error.is_usage() => Failure::usage(text),
        CampaignError::Run(_) => {
            Failure::new(text).with_help("docs/use/testbed.md says what the testbed needs")
        }
        _ => Failure::new(text),
    }
}
