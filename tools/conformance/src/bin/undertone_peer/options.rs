use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Parser};
use libp2p::Multiaddr;
use libp2p::identity::Keypair;
use undertone_gossip::{FloodPublish, PROTOCOLS};
use undertone_message::{NetworkPreset, UnknownNetwork};
use undertone_node::driver::{CertificateFiles, ConnectionLimits, NodeOptions};
use undertone_relay::RelayConfig;

/// Network whose parameters the options change.
const NETWORK: &str = "local";
/// Maximum number of connections, more than any test opens.
const MAX_CONNECTIONS: u32 = 1_000;
/// Bytes that a frame may have beyond the message: topic, control, field headers.
const FRAME_OVERHEAD_BYTES: usize = 64 << 10;

/// An Undertone relay without RLN, driven by lines of JSON on its standard input.
#[derive(Debug, Parser)]
#[command(name = "undertone-peer")]
pub(crate) struct UndertonePeerOptions {
    /// Multiaddress to listen on: TCP, WebSocket (…/tcp/0/ws, with a certificate …/tcp/0/wss) or QUIC
    /// (…/udp/0/quic-v1). May be repeated.
    #[arg(long, default_value = "/ip4/127.0.0.1/tcp/0")]
    listen: Vec<Multiaddr>,
    /// File with the certificate for …/wss, in PEM.
    #[arg(long, requires = "key")]
    certificate: Option<PathBuf>,
    /// File with its secret key, in PEM.
    #[arg(long, requires = "certificate")]
    key: Option<PathBuf>,
    /// Protocol id to offer, most preferred first. May be repeated. Without it: all that the router knows.
    #[arg(long)]
    protocol: Vec<String>,
    /// Desired size of a mesh.
    #[arg(long, default_value_t = 6)]
    d: usize,
    /// Graft below this size.
    #[arg(long, default_value_t = 4)]
    d_low: usize,
    /// Prune above this size.
    #[arg(long, default_value_t = 12)]
    d_high: usize,
    /// Peers outside the mesh that get IHAVE at each heartbeat.
    #[arg(long, default_value_t = 6)]
    d_lazy: usize,
    /// Time between heartbeats in milliseconds.
    #[arg(long, default_value_t = 1_000)]
    heartbeat_ms: u64,
    /// Send own messages to all subscribed peers, not to the mesh only.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    flood_publish: bool,
    /// Smallest message in bytes for which IDONTWANT is sent. Without it: Waku's choice.
    #[arg(long)]
    idontwant_min_bytes: Option<usize>,
    /// Longest encoded `WakuMessage` in bytes, sent or received.
    #[arg(long, default_value_t = 1 << 20)]
    max_message_bytes: usize,
    /// Cluster whose shards may be joined.
    #[arg(long, default_value_t = 66)]
    cluster: u16,
}

impl UndertonePeerOptions {
    /// Returns the options of a node with a new key.
    pub(crate) fn node(self) -> Result<NodeOptions, UnknownNetwork> {
        let mut preset = NetworkPreset::by_name(NETWORK)?;
        preset.rln = None;
        preset.cluster_id = self.cluster;
        preset.max_message_bytes = self.max_message_bytes;
        let mut relay = RelayConfig::for_network(&preset);
        let gossip = &mut relay.gossip;
        gossip.degrees.d = self.d;
        gossip.degrees.d_low = self.d_low;
        gossip.degrees.d_high = self.d_high;
        gossip.degrees.d_score = self.d.min(4);
        gossip.degrees.d_out = 2.min(self.d_low.saturating_sub(1)).min(self.d / 2);
        gossip.degrees.d_lazy = self.d_lazy;
        gossip.heartbeat = Duration::from_millis(self.heartbeat_ms);
        gossip.flood_publish = if self.flood_publish {
            FloodPublish::On
        } else {
            FloodPublish::Off
        };
        if let Some(min_bytes) = self.idontwant_min_bytes {
            // The router's threshold is the longest message without IDONTWANT.
            gossip.idontwant_threshold_bytes = min_bytes.saturating_sub(1);
        }
        gossip.limits.frame_bytes_max = self.max_message_bytes.saturating_add(FRAME_OVERHEAD_BYTES);
        if let Some(score) = &mut gossip.score {
            // The peers of a test share one address.
            let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
            score.ip_colocation_allowed.insert(loopback);
        }
        let files = self.certificate.zip(self.key);
        let files = files.map(|(chain, key)| CertificateFiles { chain, key });
        let options = NodeOptions::for_network(&preset)
            .certificate(files)
            .keypair(Keypair::generate_ed25519())
            .listen(self.listen)
            .relay(relay)
            .connections(ConnectionLimits::with_total(MAX_CONNECTIONS));
        Ok(if self.protocol.is_empty() {
            options.protocols(PROTOCOLS.iter().map(|protocol| protocol.id))
        } else {
            options.protocols(self.protocol)
        })
    }
}
