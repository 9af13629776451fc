//! `undertone lab`: reproduces published tables and figures and compares them with this implementation.

mod list;
mod machine;
mod out;
mod report;
mod run;

use clap::Subcommand;

use super::Failure;

/// Default folder of experiment records.
const RESULTS: &str = "lab-results";

/// Flags of `undertone lab`.
#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// Print one JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// List the experiments and what each reproduces
    List,
    /// Run experiments: each writes a record, with a verdict for every figure
    Run(run::Args),
    /// Write one HTML page of all records: figures with verdicts, charts, tables; also CSV and Parquet
    Report(report::Args),
    /// Run real nodes in this process; `run` starts it as a child
    #[command(hide = true)]
    Nodes(machine::Args),
}

/// Runs one of the subcommands.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let json = args.json;
    match &args.command {
        Command::List => list::run(json),
        Command::Run(args) => run::run(args, json),
        Command::Report(args) => report::run(args, json),
        Command::Nodes(args) => machine::run(args),
    }
}
