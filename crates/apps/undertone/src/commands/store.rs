//! `undertone store`: reads and verifies history of a store, without a full node.

mod client;
mod membership;
mod options;
mod query;
mod report;
mod source;
mod verify;

use clap::Subcommand;
use undertone_node::logging;

use super::Failure;

/// Flags of `undertone store`.
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
    /// List messages of a store
    Query(query::Args),
    /// Verify messages of a store by their proofs, against the membership of their time
    ///
    /// A message is valid if its proof is that of this payload, content topic and timestamp, by a member of the
    /// registry at that time, and if no other message shows that the member exceeded its limit. What is found is
    /// written to standard output: the number of messages of each verdict, and those that are not valid.
    ///
    /// Exit codes: 0 all messages are valid, also if there is none; 1 the store or the registry could not be
    /// read; 2 wrong usage; 3 at least one message is not valid.
    Verify(verify::Args),
}

/// Runs one of the subcommands.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    runtime.block_on(async {
        match &args.command {
            Command::Query(query) => query::run(query, args.json).await,
            Command::Verify(verify) => verify::run(verify, args.json).await,
        }
    })
}

/// Starts logging to standard error: warnings, or the level that the environment sets.
fn log() -> Result<(), Failure> {
    let filter = std::env::var(logging::VARIABLE).ok();
    let config = undertone_node::config::LogConfig {
        level: tracing::Level::ERROR,
        format: undertone_node::config::LogFormat::Text,
    };
    logging::init(config, filter.as_deref()).map_err(|error| Failure::usage(error.to_string()))
}
