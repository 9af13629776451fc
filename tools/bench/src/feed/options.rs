use clap::Parser;
use libp2p::swarm::StreamProtocol;
use undertone_bench::variants::Variants;
use undertone_conformance::payload;

#[cfg(test)]
#[path = "tests/options.rs"]
mod tests;

/// Measures a peer process's processor time per received message, new or duplicate.
#[derive(Debug, Parser)]
pub(crate) struct FeedOptions {
    #[command(flatten)]
    pub(crate) variants: Variants,
    /// Number of messages of each size in a round.
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) messages: u32,
    /// Number of messages of each size before the counted ones.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) warm_up: u32,
    /// Payload sizes in bytes.
    #[arg(long, value_delimiter = ',', default_value = "2048,25600,102400,153600", value_parser = payload::parse_size)]
    pub(crate) sizes: Vec<usize>,
    /// Number of rounds of every variant at each size, each with a new process.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Number of connections to the peer, all in its mesh: two send, and the peer forwards to the rest.
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u8).range(2..=12))]
    pub(crate) connections: u8,
    /// Pubsub protocol of the connections.
    #[arg(long, value_name = "ID", default_value = "/meshsub/1.2.0", value_parser = protocol)]
    pub(crate) protocol: StreamProtocol,
    /// Topic of the messages.
    #[arg(long, default_value = "/waku/2/rs/66/3")]
    pub(crate) topic: String,
}

fn protocol(text: &str) -> Result<StreamProtocol, String> {
    let refused = |_| "give an id that begins with /".to_owned();
    StreamProtocol::try_from_owned(text.to_owned()).map_err(refused)
}
