//! `undertone lab`: the published tables and figures, ours beside them.

mod list;
mod machine;
mod out;
mod report;
mod run;

use clap::Subcommand;

use super::Failure;

pub(crate) use machine::spammers_proofs;

/// Where records go, and come from, unless another folder is named.
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
    /// The experiments: what each reproduces
    List,
    /// Run experiments: each writes a record, with a verdict for every figure
    Run(run::Args),
    /// One HTML page of all that was run: figures with verdicts, charts, tables; CSV and Parquet
    Report(report::Args),
    /// Real nodes in a process of their own: what `run` asks its children
    #[command(hide = true)]
    Nodes(machine::NodesArgs),
}

/// Runs one of the subcommands.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let json = args.json;
    match &args.command {
        Command::List => list::run(json),
        Command::Run(args) => run::run(args, json),
        Command::Report(args) => report::run(args, json),
        Command::Nodes(args) => machine::run_nodes(args),
    }
}
