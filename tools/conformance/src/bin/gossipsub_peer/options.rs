use clap::{ArgAction, Parser};
use libp2p::Multiaddr;

/// A GossipSub peer driven by lines of JSON on its standard input.
#[derive(Debug, Parser)]
#[command(name = "gossipsub-peer")]
pub(crate) struct GossipsubPeerOptions {
    /// Multiaddress to listen on.
    #[arg(long, default_value = "/ip4/127.0.0.1/tcp/0")]
    pub(crate) listen: Multiaddr,
    /// The one protocol id to speak, as GossipSub v1.1. Without it: the ids of the library.
    #[arg(long)]
    pub(crate) protocol: Option<String>,
    /// Desired size of a mesh.
    #[arg(long, default_value_t = 6)]
    pub(crate) d: usize,
    /// Graft below this size.
    #[arg(long, default_value_t = 4)]
    pub(crate) d_low: usize,
    /// Prune above this size.
    #[arg(long, default_value_t = 12)]
    pub(crate) d_high: usize,
    /// Peers outside the mesh that get IHAVE at each heartbeat.
    #[arg(long, default_value_t = 6)]
    pub(crate) d_lazy: usize,
    /// Time between heartbeats in milliseconds.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) heartbeat_ms: u64,
    /// Send own messages to all subscribed peers, not to the mesh only.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) flood_publish: bool,
    /// Smallest message in bytes for which IDONTWANT is sent. Without it: the library's choice.
    #[arg(long)]
    pub(crate) idontwant_min_bytes: Option<usize>,
    /// Longest message in bytes, sent or received.
    #[arg(long, default_value_t = 1 << 20)]
    pub(crate) max_message_bytes: usize,
}
