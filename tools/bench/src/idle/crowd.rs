use std::net::Ipv4Addr;

use libp2p::Multiaddr;
use libp2p::identity::Keypair;
use libp2p::multiaddr::Protocol;
use undertone_gossip::PROTOCOLS;
use undertone_message::{NetworkPreset, PubsubTopic, PubsubTopicError, UnknownNetwork};
use undertone_node::driver::{self, ConnectionLimits, NodeOptions, RunningNode, StartError};

/// Topic to which all nodes and the subject are subscribed.
pub(crate) const TOPIC: &str = "/waku/2/rs/66/3";
/// Shard of that topic.
pub(crate) const SHARD: u16 = 3;
/// Network whose parameters the nodes use.
pub(crate) const NETWORK: &str = "local";
/// Maximum connections of a node, which connects to the subject only.
const MAX_CONNECTIONS: u32 = 8;

/// Errors in starting the crowd.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CrowdError {
    #[error(transparent)]
    Network(#[from] UnknownNetwork),
    #[error(transparent)]
    Topic(#[from] PubsubTopicError),
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Undertone nodes without RLN that listen and dial no peers.
pub(crate) struct IdleCrowd {
    nodes: Vec<RunningNode>,
}

impl IdleCrowd {
    pub(crate) async fn start(count: u16) -> Result<Self, CrowdError> {
        let mut nodes = Vec::new();
        for number in 0..count {
            nodes.push(driver::start(node(number)?).await?);
        }
        Ok(Self { nodes })
    }

    /// Iterates over the nodes' addresses, each with `/p2p`.
    pub(crate) fn addrs(&self) -> impl ExactSizeIterator<Item = String> {
        self.nodes.iter().map(|node| node.addresses[0].to_string())
    }

    pub(crate) async fn stop(self) {
        for node in self.nodes {
            node.stop().await;
        }
    }
}

fn node(number: u16) -> Result<NodeOptions, CrowdError> {
    let mut preset = NetworkPreset::by_name(NETWORK)?;
    preset.rln = None;
    Ok(NodeOptions::for_network(&preset)
        .keypair(Keypair::generate_ed25519())
        .listen([address(number)])
        .protocols(PROTOCOLS.iter().map(|known| known.id))
        .topics([PubsubTopic::parse(TOPIC)?])
        .connections(ConnectionLimits::with_total(MAX_CONNECTIONS)))
}

/// Returns a listen address with any free port, at another IP address for each node, because peers that
/// share an address lose score.
fn address(number: u16) -> Multiaddr {
    let [high, low] = (number + 1).to_be_bytes();
    Multiaddr::empty()
        .with(Protocol::Ip4(Ipv4Addr::new(127, 1, high, low)))
        .with(Protocol::Tcp(0))
}
