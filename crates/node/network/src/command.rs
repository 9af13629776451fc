//! Commands that the rest of the program may send to a running node, and their answers.

use crate::stopped::Stopped;
use libp2p::{Multiaddr, PeerId};
use thiserror::Error;
use tokio::sync::oneshot;
use undertone_gossip::MessageId;
use undertone_message::{MessageHash, PubsubTopic, WakuMessage, message_hash};

mod sender;
mod snapshots;

pub use sender::{ProofRefusal, SendBudget, SendConditions, SenderQuestion, Unsent};
pub use snapshots::{
    EpochAllowance, GossipSnapshot, JobSizes, MembershipSnapshot, MessageSizes, MetricsSnapshot,
    NatTotals, NodeTotals, PayloadTotals, ProofTotals, ProtocolPeers, Reachable, RlnSnapshot,
    TokenSnapshot, TopicSnapshot, VerifierSnapshot,
};

/// Request to a running node. The answer goes to `reply`; a dropped receiver is not an error.
#[derive(Debug)]
pub enum Command {
    /// Subscribes to a topic; succeeds if the node is subscribed already.
    Subscribe {
        /// Topic to subscribe to.
        topic: PubsubTopic,
        /// Channel for the answer.
        reply: oneshot::Sender<Result<(), SubscribeFailure>>,
    },
    /// Unsubscribes from a topic; succeeds if the node is not subscribed.
    Unsubscribe {
        /// Topic to unsubscribe from.
        topic: PubsubTopic,
        /// Channel for the answer.
        reply: oneshot::Sender<Result<(), SubscribeFailure>>,
    },
    /// Attaches a proof where the network requires one, validates the message and sends it.
    Publish {
        /// Topic to publish on.
        pubsub_topic: PubsubTopic,
        /// Message to be published.
        message: WakuMessage,
        /// Whether the message comes from a light client. These messages may use only a part of the membership's rate
        /// limit.
        for_client: bool,
        /// Channel for the answer.
        reply: oneshot::Sender<Result<Published, PublishFailure>>,
    },
    /// Reports whether a client has a message subscription. Clients without one are the first to be disconnected.
    Subscriber {
        /// Peer that is a client.
        peer: PeerId,
        /// Whether it has a subscription.
        is_subscribed: bool,
    },
    /// Question of the accountable sender.
    Sender(SenderQuestion),
    /// Asks for all known peers.
    Peers {
        /// Channel for the answer.
        reply: oneshot::Sender<Vec<PeerSnapshot>>,
    },
    /// Connects to a peer; answered once connected or failed.
    Connect {
        /// Address of the peer.
        address: Multiaddr,
        /// Source of the address.
        given_by: AddressGiver,
        /// Channel for the answer.
        reply: oneshot::Sender<Result<(), ConnectFailure>>,
    },
    /// Replaces the peers that the node stays connected to.
    SetStaticPeers {
        /// Addresses of the peers.
        peers: Vec<Multiaddr>,
        /// Channel that says when they are replaced.
        reply: oneshot::Sender<()>,
    },
    /// Reads the certificate of the WebSocket port again.
    RenewCertificate {
        /// Channel that says when it was read.
        reply: oneshot::Sender<()>,
    },
    /// Asks for the node's identity, addresses and subscriptions.
    Info {
        /// Channel for the answer.
        reply: oneshot::Sender<NodeInfo>,
    },
    /// Asks for the node's health.
    Health {
        /// Channel for the answer.
        reply: oneshot::Sender<HealthReport>,
    },
    /// Asks for the router's totals and the use of its bounds.
    Gossip {
        /// Channel for the answer.
        reply: oneshot::Sender<GossipSnapshot>,
    },
    /// Asks for the state of proof generation and verification.
    Rln {
        /// Channel for the answer; `None` when rate limiting is off.
        reply: oneshot::Sender<Option<RlnSnapshot>>,
    },
    /// Asks for all counters and gauges.
    Metrics {
        /// Channel for the answer.
        reply: oneshot::Sender<Box<MetricsSnapshot>>,
    },
    /// Stops the node; answered once the last frames had time to leave and the membership is saved.
    Shutdown {
        /// Channel for the answer.
        reply: oneshot::Sender<()>,
    },
}

/// Message that was sent to at least one peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Gossip message id; for a message sent in fragments, the id of the fragment settled last.
    pub id: MessageId,
    /// Topic that the message was sent on.
    pub pubsub_topic: PubsubTopic,
    /// The message as sent, with its timestamp but without the proof.
    pub message: WakuMessage,
    /// Number of peers that the message was sent to; never 0.
    pub peers: usize,
}

impl Published {
    /// Returns the deterministic message hash. It is computed on each call, because for a large message that
    /// takes longer than sending it to a peer.
    pub fn hash(&self) -> MessageHash {
        message_hash(&self.pubsub_topic.to_string(), &self.message)
    }
}

/// Reason why a message was not published.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PublishFailure {
    /// The node is not subscribed to the topic.
    #[error("Node not subscribed to topic: {topic}")]
    NotSubscribed {
        /// Topic of the message.
        topic: PubsubTopic,
    },
    /// The node does not relay.
    #[error("this node does not relay (relay = false); publish by lightpush")]
    NotRelaying,
    /// The same message was published or received recently.
    #[error("the same message was published or received just now")]
    Duplicate,
    /// The message is larger than the network's limit.
    #[error("Message size exceeded maximum of {max_bytes} bytes")]
    TooLarge {
        /// Length of the encoded message, bytes.
        size_bytes: usize,
        /// The network's limit, bytes.
        max_bytes: usize,
    },
    /// The message is invalid: other nodes would reject it.
    #[error("{reason}")]
    InvalidMessage {
        /// Reason for the refusal.
        reason: String,
    },
    /// The proof that came with the message is invalid: other nodes would reject it.
    #[error("{reason}")]
    InvalidProof {
        /// Reason for the refusal.
        reason: String,
        /// Whether the proof is one that no honest publisher sends.
        is_forged: bool,
    },
    /// No proof could be generated.
    #[error("error appending RLN proof to message: {reason}")]
    RlnProof {
        /// Reason for the failure.
        reason: String,
    },
    /// The membership's messages of this epoch are used up.
    #[error(
        "error appending RLN proof to message: NonceLimitReached: Nonce limit reached. Please wait \
         for the next epoch. requested nonce: {limit} & nonceLimit: {limit} (all {limit} messages of this epoch are used, the next one \
         begins in {resets_in_s} s)"
    )]
    RateLimit {
        /// Messages per epoch that the node's membership allows.
        limit: u64,
        /// Time to the next epoch, seconds.
        resets_in_s: u64,
    },
    /// The maximum number of messages is already being published.
    #[error("{waiting} messages wait for their proof; try again")]
    Busy {
        /// Number of messages under way.
        waiting: usize,
    },
    /// The bandwidth of the shard is used up (`shard-bandwidth`).
    #[error(
        "the bandwidth of {pubsub_topic} (shard-bandwidth) is used up; try again in {wait_ms} ms"
    )]
    Bandwidth {
        /// Topic of the message.
        pubsub_topic: PubsubTopic,
        /// Time until there is room again, milliseconds.
        wait_ms: u64,
    },
    /// No peer to send the message to.
    #[error("publish failed in relay: NoPeersToPublish")]
    NoPeers,
    /// The attempt took too long.
    #[error("timedout")]
    Timeout,
    /// The node is stopping or has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Reason why a topic could not be joined or left.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SubscribeFailure {
    /// The topic does not belong to the network.
    #[error("topic {topic} is not part of network {network}")]
    NotInNetwork {
        /// Topic that was asked for.
        topic: PubsubTopic,
        /// Name of the network.
        network: &'static str,
    },
    /// The node does not relay.
    #[error("this node does not relay (relay = false); subscribe by filter")]
    NotRelaying,
    /// The node is subscribed to as many topics as it may be.
    #[error("already subscribed to {max} topics; unsubscribe from one first")]
    TooMany {
        /// Maximum number of topics.
        max: usize,
    },
    /// The node is stopping or has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Source of an address to connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressGiver {
    /// The operator of the node. Host names from the operator may resolve to private addresses.
    Operator,
    /// Another peer. Host names from a peer must not resolve to private addresses.
    Stranger,
}

/// Reason why a peer could not be connected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// The node does not support this kind of address.
    #[error("address {address} is of no supported kind; use /tcp or /tcp/…/ws with /p2p")]
    Unsupported {
        /// Address that was asked for.
        address: Multiaddr,
    },
    /// The connection attempt failed.
    #[error("cannot connect to {address}: {reason}")]
    Dial {
        /// Address that was dialled.
        address: Multiaddr,
        /// Error message of the transport.
        reason: String,
    },
    /// The node is stopping or has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// State of one peer at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerSnapshot {
    /// Identity of the peer.
    pub peer_id: PeerId,
    /// Address of the peer, without `/p2p`; `None` when no address is known.
    pub multiaddr: Option<Multiaddr>,
    /// Protocol ids that the peer announced through identify.
    pub protocols: Vec<String>,
    /// Shard indices that the peer announced through metadata.
    pub shards: Vec<u16>,
    /// Whether the peer is or can be connected.
    pub connected: Connectedness,
    /// Whether the peer dialled this node, at its present or its last connection.
    pub is_inbound: bool,
    /// Transport of its present or last connection: `tcp`, `ws`, `wss`, `quic` or `relay`.
    pub transport: Option<&'static str>,
    /// Agent version that the peer announced through identify.
    pub agent: String,
    /// Source from which this node learnt of the peer.
    pub origin: PeerOrigin,
    /// Gossip score of the peer; 0 when the router does not know it.
    pub score: f64,
    /// Topics that the peer is subscribed to.
    pub topics: Vec<PubsubTopic>,
    /// Topics in whose mesh the peer is.
    pub in_mesh: Vec<PubsubTopic>,
}

/// Whether a peer is or can be connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connectedness {
    /// No connection so far, and no failed attempt.
    NotConnected,
    /// The last connection attempt failed.
    CannotConnect,
    /// The peer was connected before and is not now.
    CanConnect,
    /// The peer is connected now.
    Connected,
}

/// Source from which this node learnt of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerOrigin {
    /// None recorded: the peer dialled this node, or another peer offered it.
    UnknownOrigin,
    /// Found through discovery v5.
    Discv5,
    /// Named by a caller or in the configuration, and dialled by this node.
    Static,
    /// Found through peer exchange.
    PeerExchange,
    /// Found through DNS discovery.
    Dns,
}

/// Identity, addresses and subscriptions of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeInfo {
    /// Identity of the node.
    pub peer_id: PeerId,
    /// Addresses of the node's listeners and its external addresses, each with `/p2p`.
    pub listen_addresses: Vec<Multiaddr>,
    /// Signed node record (ENR); `None` when records have no signature scheme for the node's key.
    pub enr_uri: Option<String>,
    /// Topics that the node is subscribed to.
    pub subscriptions: Vec<PubsubTopic>,
    /// Reachability of the node, as its peers report it.
    pub reachable: Reachable,
}

/// Health of a node and its protocols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthReport {
    /// Health of the node as a whole.
    pub node: HealthStatus,
    /// Whether the node has enough relay peers.
    pub connection: ConnectionStatus,
    /// Health of each protocol.
    pub protocols: Vec<ProtocolHealth>,
    /// Health of each shard that the node relays.
    pub shards: Vec<ShardHealth>,
}

/// Health of relaying on one shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardHealth {
    /// Pubsub topic of the shard.
    pub topic: String,
    /// Peers in this node's mesh.
    pub mesh: usize,
    /// Connected peers that are subscribed to the topic.
    pub subscribers: usize,
    /// Reason why nothing is relayed; `None` if messages are.
    pub trouble: Option<&'static str>,
}

/// Health of one protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolHealth {
    /// Name of the protocol, e.g. `Relay` or `Rln Relay`.
    pub protocol: &'static str,
    /// Health of the protocol.
    pub status: HealthStatus,
    /// Reason why the protocol is not ready, if it is not.
    pub desc: Option<String>,
}

/// Health of a node or of one of its protocols, with the reference node's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthStatus {
    /// Starting up; this node never reports it.
    Initializing,
    /// Catching up, for example with the membership registry.
    Synchronizing,
    /// Ready for its work.
    Ready,
    /// Unable to do its work.
    NotReady,
    /// Switched off or not implemented.
    NotMounted,
    /// Shutting down; this node never reports it.
    ShuttingDown,
    /// Event loop too busy; this node never reports it.
    EventLoopLagging,
}

/// Whether a node has enough relay peers, compared with the mesh bound `d_low`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// No relay peer is connected.
    Disconnected,
    /// Fewer relay peers than `d_low`.
    PartiallyConnected,
    /// At least `d_low` relay peers.
    Connected,
}
