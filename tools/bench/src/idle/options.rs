use std::path::PathBuf;

use clap::Parser;
use undertone_bench::variants::Variants;

#[cfg(test)]
#[path = "tests/options.rs"]
mod tests;

/// Measures what a peer process with many connections costs while no message is sent.
#[derive(Debug, Parser)]
pub(crate) struct IdleOptions {
    #[command(flatten)]
    pub(crate) variants: Variants,
    /// Measure the program `undertone` at this path too, as a node with all its services.
    #[arg(long, value_name = "PATH")]
    pub(crate) node: Option<PathBuf>,
    /// Number of nodes that the peer is connected to.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=2_000))]
    pub(crate) connections: u16,
    /// Time for which each peer is measured, in seconds.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) seconds: u32,
    /// Time for which the peer's mesh must stay the same before that, in seconds.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=30))]
    pub(crate) settle_seconds: u32,
}
