use std::time::Duration;

use clap::Parser;
use undertone_bench::variants::Variants;
use undertone_conformance::payload::{self, STAMP_BYTES};

use crate::chain::load::Load;

#[cfg(test)]
#[path = "tests/options.rs"]
mod tests;

/// Measures how messages travel along a line of peer processes on loopback.
///
/// Without --burst or --rate: every size in --sizes, --messages of each at ten per second.
#[derive(Debug, Parser)]
pub(crate) struct ChainOptions {
    #[command(flatten)]
    pub(crate) variants: Variants,
    /// Number of peers in the line.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=100))]
    pub(crate) nodes: u16,
    /// Run neighbours on different processors, as on different machines: otherwise a peer may have to wait
    /// for the processor of the one that sends to it.
    #[arg(long)]
    pub(crate) apart: bool,
    /// Topic to publish on.
    #[arg(long, default_value = "/waku/2/rs/66/3")]
    pub(crate) topic: String,
    /// Payload sizes in bytes.
    #[arg(long, value_delimiter = ',', default_value = "2048,25600,102400,153600", value_parser = payload::parse_size)]
    sizes: Vec<usize>,
    /// Number of messages of each size.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    messages: u32,
    /// Number of rounds over which the messages of one size are spread.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Instead publish this number of messages of --size bytes at the same instant.
    #[arg(
        long,
        value_name = "MESSAGES",
        requires = "size",
        conflicts_with = "rate"
    )]
    burst: Option<u32>,
    /// Instead publish this number of messages of --size bytes per second, for --seconds.
    #[arg(
        long,
        value_name = "PER_SECOND",
        requires = "size",
        requires = "seconds"
    )]
    rate: Option<u32>,
    /// Length of the load of --rate in seconds.
    #[arg(long, requires = "rate")]
    seconds: Option<u32>,
    /// Payload size in bytes for --burst and --rate.
    #[arg(long, value_parser = payload::parse_size)]
    size: Option<usize>,
}

impl ChainOptions {
    /// Returns the loads for every variant, one after the other.
    pub(crate) fn loads(&self) -> Vec<Load> {
        let size = self.size.unwrap_or(STAMP_BYTES);
        if let Some(count) = self.burst {
            return vec![Load {
                size,
                count,
                gap: Duration::ZERO,
            }];
        }
        if let (Some(rate), Some(seconds)) = (self.rate, self.seconds) {
            let rate = rate.max(1);
            let count = rate.saturating_mul(seconds);
            return vec![Load {
                size,
                count,
                gap: Duration::from_secs(1) / rate,
            }];
        }
        let gap = Duration::from_millis(100);
        self.sizes
            .iter()
            .map(|&size| Load {
                size,
                count: self.messages,
                gap,
            })
            .collect()
    }
}
