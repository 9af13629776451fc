//! Identity, peers and health of a node.

use serde::Serialize;
use undertone_node::command::{
    Connectedness, ConnectionStatus, HealthReport, HealthStatus, PeerSnapshot,
};

/// Identity and addresses of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, uniffi::Record)]
#[serde(rename_all = "camelCase")]
pub struct NodeDetails {
    /// Peer id of the node.
    pub peer_id: String,
    /// Addresses that other nodes can dial, each with `/p2p`.
    pub addresses: Vec<String>,
    /// Signed node record (ENR), if the node's key allows one.
    pub enr: Option<String>,
    /// Pubsub topics that the node is subscribed to.
    pub pubsub_topics: Vec<String>,
    /// Address of the REST API, if it is served.
    pub rest_address: Option<String>,
    /// Whether the node could publish when it started, as far as its membership is concerned.
    pub may_publish: bool,
    /// Messages that were dropped because the program did not receive those before them.
    pub dropped_messages: u64,
}

/// Peer that a node knows.
#[derive(Debug, Clone, PartialEq, Serialize, uniffi::Record)]
#[serde(rename_all = "camelCase")]
pub struct PeerDetails {
    /// Identity of the peer.
    pub peer_id: String,
    /// Address of the peer, without `/p2p`, if one is known.
    pub address: Option<String>,
    /// Program that the peer says it is.
    pub agent: String,
    /// Whether the peer is connected now.
    pub connected: bool,
    /// Protocol ids that the peer announced.
    pub protocols: Vec<String>,
    /// Pubsub topics that the peer is subscribed to.
    pub pubsub_topics: Vec<String>,
    /// Gossip score of the peer; 0 when the router does not know it.
    pub score: f64,
}

/// Readiness of a node or of one of its protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, uniffi::Enum)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReadinessState {
    /// Ready for its work.
    Ready,
    /// Catching up, for example with the memberships of the network.
    Synchronizing,
    /// Unable to do its work.
    NotReady,
    /// Switched off by the configuration.
    NotMounted,
}

/// Whether a node has enough relay peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, uniffi::Enum)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RelayConnection {
    /// No relay peer is connected.
    Disconnected,
    /// Fewer relay peers than a mesh needs.
    PartiallyConnected,
    /// Enough relay peers.
    Connected,
}

/// Health of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, uniffi::Record)]
#[serde(rename_all = "camelCase")]
pub struct HealthDetails {
    /// Readiness of the node as a whole.
    pub state: ReadinessState,
    /// Whether the node has enough relay peers.
    pub connection: RelayConnection,
    /// Readiness of each protocol.
    pub protocols: Vec<ProtocolDetails>,
}

/// Health of one protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, uniffi::Record)]
#[serde(rename_all = "camelCase")]
pub struct ProtocolDetails {
    /// Name of the protocol, such as `Relay`.
    pub name: String,
    /// Readiness of the protocol.
    pub state: ReadinessState,
    /// Reason why the protocol is not ready, if it is not.
    pub reason: Option<String>,
}

impl From<PeerSnapshot> for PeerDetails {
    fn from(peer: PeerSnapshot) -> Self {
        Self {
            peer_id: peer.peer_id.to_string(),
            address: peer.multiaddr.map(|address| address.to_string()),
            agent: peer.agent,
            connected: peer.connected == Connectedness::Connected,
            protocols: peer.protocols,
            pubsub_topics: peer.topics.iter().map(ToString::to_string).collect(),
            score: peer.score,
        }
    }
}

impl From<HealthStatus> for ReadinessState {
    fn from(status: HealthStatus) -> Self {
        match status {
            HealthStatus::Ready => Self::Ready,
            HealthStatus::Initializing | HealthStatus::Synchronizing => Self::Synchronizing,
            HealthStatus::NotMounted => Self::NotMounted,
            _ => Self::NotReady,
        }
    }
}

impl From<ConnectionStatus> for RelayConnection {
    fn from(status: ConnectionStatus) -> Self {
        match status {
            ConnectionStatus::Connected => Self::Connected,
            ConnectionStatus::PartiallyConnected => Self::PartiallyConnected,
            _ => Self::Disconnected,
        }
    }
}

impl From<HealthReport> for HealthDetails {
    fn from(report: HealthReport) -> Self {
        let protocols = report
            .protocols
            .into_iter()
            .map(|protocol| ProtocolDetails {
                name: protocol.protocol.to_owned(),
                state: protocol.status.into(),
                reason: protocol.desc,
            });
        Self {
            state: report.node.into(),
            connection: report.connection.into(),
            protocols: protocols.collect(),
        }
    }
}
