//! Benchmark of a node's services. Measures the time for a message to reach all filter clients or all clients
//! of the event stream, and the time from a light client's request to its acceptance.
//!
//! Two nodes run as processes; the clients share this process, so that the figures include its work.

mod events;
mod filter;
mod lightpush;
mod network;
mod report;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use undertone_attacks::{HostileError, node};
use undertone_node::raise_files_limit;

use report::ServingFigures;

/// Measures how a real node serves many clients.
#[derive(Debug, Args)]
pub(crate) struct ServingOptions {
    #[command(subcommand)]
    what: Measurement,
    /// Program of the nodes [default: undertone, beside this program].
    #[arg(long, global = true)]
    node: Option<PathBuf>,
    /// Payload of each message, bytes.
    #[arg(long, default_value_t = 1_000, global = true)]
    payload_bytes: usize,
    /// Number of messages.
    #[arg(long, default_value_t = 60, global = true, value_parser = clap::value_parser!(u32).range(1..=100))]
    messages: u32,
    /// Number of clients, of which lightpush has one.
    #[arg(long, default_value_t = 1_000, global = true, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    clients: u32,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Measurement {
    /// A message that the relay accepted, pushed to filter clients
    Filter,
    /// A light client's request, answered once the message is published
    Lightpush {
        /// Whether messages need rate-limit proofs, which the client makes before it asks.
        #[arg(long)]
        rln: bool,
    },
    /// A message that the relay accepted, to clients of the event stream, of which some reconnect
    Events,
}

pub(crate) async fn run(options: &ServingOptions) -> Result<ServingFigures, HostileError> {
    raise_files_limit();
    let program = options.node.clone().unwrap_or_else(|| {
        let this = std::env::current_exe().unwrap_or_default();
        node::program(&this)
    });
    match options.what {
        Measurement::Filter => filter::measure(&program, options).await,
        Measurement::Lightpush { rln } => lightpush::measure(&program, options, rln).await,
        Measurement::Events => events::measure(&program, options).await,
    }
}
