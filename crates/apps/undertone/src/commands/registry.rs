//! `undertone registry`: the membership registry of a network, on a chain.

mod deploy;
mod sync;

use clap::Subcommand;

use super::{Failure, chain, output};

pub(crate) use sync::follow;

/// Flags of `undertone registry`.
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
    /// Deploy the membership contract, with a test token, on a development chain
    Deploy(deploy::Args),
    /// Read a contract's members into a file, and compare the root with the contract's
    Sync(sync::Args),
}

/// Runs one of the subcommands.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Deploy(deploy) => deploy::run(deploy, args.json),
        Command::Sync(sync) => sync::run(sync, args.json),
    }
}
