//! `undertone migrate`: converts the deployment of another Waku node.

mod nwaku;

use clap::Subcommand;

use super::Failure;

/// Flags of `undertone migrate`.
#[derive(clap::Args, Debug)]
#[command(arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make a folder for `undertone node` from flags, keys and archive of a node of nwaku (logos-delivery)
    Nwaku(nwaku::Args),
}

/// Runs one of the subcommands.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Nwaku(args) => nwaku::run(args),
    }
}
