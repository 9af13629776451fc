//! `undertone demo`: a real network on this machine, in under a minute.
//!
//! Five nodes in a line over TCP on loopback, each a member with real proofs. Messages of four sizes travel
//! along the line; then a sixth member exceeds its limit and is cut off. With `--chain`, the members are
//! those of a contract, and the sixth one loses its deposit.

mod published;
mod report;

use std::path::PathBuf;

use undertone_fleet::demo::{self, DemoOptions};

use self::report::DemoTables;
use super::Failure;
use super::progress::Spinner;

/// Flags of `undertone demo`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// Number of messages of each size
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=20))]
    runs: u32,
    /// Keep the members in a contract on a development chain that the demo starts (needs anvil), and
    /// slash the spammer there
    #[arg(long)]
    chain: bool,
    /// Keep the nodes' files (registry, identities, counters) in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Runs the demo. Succeeds if every message was delivered and the spammer was isolated and, with
/// `--chain`, slashed.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start the demo: {error}")))?;
    let options = DemoOptions {
        runs: args.runs,
        on_chain: args.chain,
        keep: args.keep.clone(),
    };
    let progress = Spinner::new(!args.json);
    let report = runtime.block_on(demo::run(&options, &progress));
    let report = report.map_err(|error| {
        Failure::new(format!("demo: {error}")).with_help("see `undertone demo --help`")
    })?;
    if args.json {
        let text = serde_json::to_string_pretty(&report);
        println!("{}", text.expect("numbers, lists and fixed keys only"));
    } else {
        DemoTables(&report).print();
    }
    let verdict = report.verdict();
    verdict.map_err(|shortcoming| Failure::new(shortcoming.to_string()))
}
