//! `undertone model`: closed-form formulas; with a scenario, their prediction next to a simulation.

mod arguments;

use std::num::NonZeroUsize;

use undertone_lab::model::comparison::ModelComparison;
use undertone_lab::model::tables::FormulaTables;
use undertone_lab::report::DatasetChoice;
use undertone_lab::run::threads;
use undertone_lab::scenario;

use super::sim::{Runner, scenario_failure};
use super::{Failure, output};

/// Flags of `undertone model`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Scenario to predict and simulate: a file, or a name from `undertone sim --list`
    scenario: Option<String>,
    /// Set a key of the scenario, such as network.one_way_ms=100; may be repeated
    #[arg(long, value_name = "KEY=VALUE", requires = "scenario")]
    set: Vec<String>,
    /// Seed of the simulation
    #[arg(long, value_name = "N", default_value_t = 1, requires = "scenario")]
    seed: u64,
    /// Threads of the simulation [default: one per processor]
    #[arg(long, value_name = "N", requires = "scenario")]
    threads: Option<NonZeroUsize>,
    /// Predict from the scenario alone, without simulating it
    #[arg(long, requires = "scenario")]
    no_run: bool,
    #[command(flatten)]
    given: arguments::Given,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Prints the tables of the formulas or, with a scenario, its prediction.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let Some(reference) = &args.scenario else {
        let tables = FormulaTables::new(&(&args.given).into())
            .map_err(|error| Failure::usage(error.to_string()))?;
        return output::print(&tables, args.json);
    };
    let loaded = scenario::load(reference, &args.set).map_err(scenario_failure)?;
    let summary = if args.no_run {
        None
    } else {
        let runner = Runner {
            loaded: &loaded,
            threads: threads(args.threads),
            show_progress: !args.json,
            interrupt: None,
            datasets: DatasetChoice::default(),
        };
        Some(runner.run(args.seed)?.summary)
    };
    let beside = ModelComparison::new(&loaded.scenario, summary.as_ref())
        .map_err(|reason| Failure::usage(format!("{reference} has no closed form: {reason}")))?;
    output::print(&beside, args.json)
}
