//! `undertone demo`: a real network on this machine, in under a minute.
//!
//! Five nodes in a line over TCP on loopback, each a member with real proofs; messages of four sizes
//! travel the line; then a sixth member exceeds its limit and is cut off. With `--chain`, the members
//! are those of a contract, and the sixth one loses its deposit.

mod chain;
mod latency;
mod network;
mod published;
mod report;
pub(crate) mod reused_ids;
mod spam;

use std::path::PathBuf;

use undertone_rln::KeyError;

use self::chain::OnChainError;
use self::network::{Network, NetworkError};
use self::report::Report;
use super::Failure;
use super::progress::Progress;

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

/// Errors that end the demo.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(transparent)]
    Chain(#[from] OnChainError),
    #[error("cannot publish from node {node}: {reason}")]
    Publish {
        node: usize,
        reason: undertone_node::command::PublishFailure,
    },
    #[error("node {node} stopped while it was needed")]
    NodeGone { node: usize },
}

/// Runs the demo. Succeeds if every message was delivered and the spammer was isolated and, with
/// `--chain`, slashed.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start the demo: {error}")))?;
    let report = runtime.block_on(demo(args)).map_err(|error| {
        Failure::new(format!("demo: {error}")).with_help("see `undertone demo --help`")
    })?;
    if args.json {
        println!("{}", report.to_json());
    } else {
        report.print();
    }
    match report.verdict() {
        Ok(()) => Ok(()),
        Err(what) => Err(Failure::new(what)),
    }
}

async fn demo(args: &Args) -> Result<Report, DemoError> {
    let progress = Progress::new(!args.json);
    let mut network = Network::start(args.keep.as_deref(), args.chain, &progress).await?;
    let startup_ms = network.startup_ms;
    latency::warm_up(&mut network, &progress).await?;
    let tokens_before = network.tokens(network::WITH_TOKENS).await;
    let latency = latency::measure(&mut network, args.runs, &progress).await?;
    let tokens = network.tokens(network::WITH_TOKENS).await;
    let token_prepare_ms = tokens_before
        .zip(tokens)
        .map_or(0.0, |(before, after)| report::prepare_ms(before, after));
    let without_tokens = latency::without_tokens(&mut network, args.runs, &progress).await?;
    let spam = spam::attack(&mut network, &progress).await?;
    let chain = match &spam.secret {
        Some(secret) => chain::punish(&network, secret, &progress).await?,
        None => None,
    };
    network.stop().await;
    progress.finish();
    Ok(Report {
        nodes: network::NODES,
        startup_ms,
        latency,
        without_tokens,
        token_prepare_ms,
        spam,
        chain,
    })
}
