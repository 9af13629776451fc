//! `undertone lab`: the published tables and figures, ours beside them.

mod report;

use clap::Subcommand;

use super::Failure;

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
    /// One HTML page of all that was run: figures with verdicts, charts, tables; CSV and Parquet
    Report(report::Args),
}

/// Runs one of the subcommands.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let json = args.json;
    match &args.command {
        Command::Report(args) => report::run(args, json),
    }
}
