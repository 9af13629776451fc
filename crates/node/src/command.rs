//! What the rest of the program may ask of a running node, and what it answers.

use libp2p::{Multiaddr, PeerId};
use thiserror::Error;
use tokio::sync::oneshot;
use undertone_gossip::MessageId;
use undertone_message::{MessageHash, PubsubTopic, WakuMessage, message_hash};

mod snapshots;

pub use snapshots::{
    GossipSnapshot, JobSizes, MembershipSnapshot, MessageSizes, MetricsSnapshot, RlnSnapshot,
    TokenSnapshot, TopicSnapshot, Totals, VerifierSnapshot,
};

/// One request; the answer goes to `reply`, and a dropped `reply` means that nobody waits.
#[derive(Debug)]
pub enum Command {
    /// Take part in a topic; already taking part is success.
    Subscribe {
        /// The topic.
        topic: PubsubTopic,
        /// The answer.
        reply: oneshot::Sender<Result<(), SubscribeFailure>>,
    },
    /// Leave a topic; not taking part is success.
    Unsubscribe {
        /// The topic.
        topic: PubsubTopic,
        /// The answer.
        reply: oneshot::Sender<Result<(), SubscribeFailure>>,
    },
    /// Attach a proof where the network asks for one, validate, and send.
    Publish {
        /// Where.
        pubsub_topic: PubsubTopic,
        /// What.
        message: WakuMessage,
        /// The answer.
        reply: oneshot::Sender<Result<Published, PublishFailure>>,
    },
    /// As `Publish`, on a topic of the network that need not be joined; without a peer the message waits for one.
    Post {
        /// Where.
        pubsub_topic: PubsubTopic,
        /// What.
        message: WakuMessage,
        /// Whether its timestamp is replaced when it has waited.
        restamp: bool,
        /// The answer: what became of it, or that it waits.
        reply: oneshot::Sender<Result<Post, PublishFailure>>,
    },
    /// What became of the newest messages that were posted.
    Posts {
        /// The answer, the oldest first.
        reply: oneshot::Sender<Vec<Post>>,
    },
    /// All known peers.
    Peers {
        /// The answer.
        reply: oneshot::Sender<Vec<PeerSnapshot>>,
    },
    /// Connect to a peer; answered when connected or failed.
    Connect {
        /// Its address.
        address: Multiaddr,
        /// The answer.
        reply: oneshot::Sender<Result<(), ConnectFailure>>,
    },
    /// Who the node is and what it takes part in.
    Info {
        /// The answer.
        reply: oneshot::Sender<NodeInfo>,
    },
    /// How well it is.
    Health {
        /// The answer.
        reply: oneshot::Sender<HealthReport>,
    },
    /// What the router has done so far, and how much of its bounds is in use.
    Gossip {
        /// The answer.
        reply: oneshot::Sender<GossipSnapshot>,
    },
    /// How far proofs are made and checked; `None` when rate limiting is off.
    Rln {
        /// The answer.
        reply: oneshot::Sender<Option<RlnSnapshot>>,
    },
    /// Everything that is counted.
    Metrics {
        /// The answer.
        reply: oneshot::Sender<Box<MetricsSnapshot>>,
    },
    /// Stop; answered when everything is closed.
    Shutdown {
        /// The answer.
        reply: oneshot::Sender<()>,
    },
}

/// A message that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// What neighbours call it; of a message that went in parts, the last part.
    pub id: MessageId,
    /// Where it was sent.
    pub pubsub_topic: PubsubTopic,
    /// As it was sent, with its timestamp, but for the proof.
    pub message: WakuMessage,
    /// To how many peers it went; never 0.
    pub peers: usize,
}

impl Published {
    /// Its deterministic hash. Computed on each call, by whoever wants it: for a large message it takes longer
    /// than to send it to a peer.
    pub fn hash(&self) -> MessageHash {
        message_hash(&self.pubsub_topic.to_string(), &self.message)
    }
}

/// A message that was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Its number, from 1 on since the node's start.
    pub id: u64,
    /// Where it is published.
    pub pubsub_topic: PubsubTopic,
    /// Its content topic.
    pub content_topic: String,
    /// What became of it.
    pub state: PostState,
}

/// What became of a message that was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostState {
    /// No peer of its topic is connected.
    Waiting,
    /// A proof is being made, or it is on its way.
    Sending,
    /// It was sent.
    Sent {
        /// To how many peers.
        peers: usize,
        /// Its deterministic hash, with the timestamp that it was sent with.
        hash: MessageHash,
    },
    /// No peer came while others would have taken it.
    Expired,
    /// It was not sent.
    Failed {
        /// Why.
        reason: PublishFailure,
    },
}

/// Why a message was not published.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PublishFailure {
    /// The node does not take part in the topic.
    #[error("Node not subscribed to topic: {topic}")]
    NotSubscribed {
        /// The topic.
        topic: PubsubTopic,
    },
    /// The same message was published or received just now.
    #[error("the same message was published or received just now")]
    Duplicate,
    /// Longer than the network carries.
    #[error("Message size exceeded maximum of {max_bytes} bytes")]
    TooLarge {
        /// Length of the encoded message, bytes.
        size_bytes: usize,
        /// The limit, bytes.
        max_bytes: usize,
    },
    /// Not a message that others accept.
    #[error("{reason}")]
    InvalidMessage {
        /// Why.
        reason: String,
    },
    /// No proof could be made.
    #[error("error appending RLN proof to message: {reason}")]
    RlnProof {
        /// Why.
        reason: String,
    },
    /// A proof was made from membership data that is out of date; a second try may succeed.
    #[error(
        "stale RLN proof suspected; refresh scheduled, retry the publish: RLN validation failed"
    )]
    StaleProof,
    /// All messages of this epoch are used up.
    #[error(
        "error appending RLN proof to message: NonceLimitReached: Nonce limit reached. Please wait \
         for the next epoch. requested nonce: {limit} & nonceLimit: {limit} (resets in {resets_in_s} s)"
    )]
    RateLimit {
        /// Messages that our membership allows in an epoch.
        limit: u64,
        /// Time to the next epoch, seconds.
        resets_in_s: u64,
    },
    /// Nobody to send it to.
    #[error("publish failed in relay: NoPeersToPublish")]
    NoPeers,
    /// It took too long.
    #[error("timedout")]
    Timeout,
    /// Our own validation would refuse it from others.
    #[error("{reason}")]
    Rejected {
        /// Why.
        reason: String,
    },
    /// The node is stopping or has stopped.
    #[error("the node is shutting down")]
    ShuttingDown,
}

/// Why a topic could not be entered or left.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SubscribeFailure {
    /// The network does not have this topic.
    #[error("topic {topic} is not part of network {network}")]
    NotInNetwork {
        /// The topic.
        topic: PubsubTopic,
        /// The network.
        network: &'static str,
    },
    /// As many topics as a node may have.
    #[error("already subscribed to {max} topics; unsubscribe from one first")]
    TooMany {
        /// The limit.
        max: usize,
    },
    /// The node is stopping or has stopped.
    #[error("the node is shutting down")]
    ShuttingDown,
}

/// Why a peer could not be reached.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// The address is of a kind that the node does not speak.
    #[error("address {address} is of no supported kind; use /tcp or /tcp/…/ws with /p2p")]
    Unsupported {
        /// The address.
        address: Multiaddr,
    },
    /// The attempt failed.
    #[error("cannot connect to {address}: {reason}")]
    Dial {
        /// The address.
        address: Multiaddr,
        /// What the transport says.
        reason: String,
    },
    /// Nobody answered in time.
    #[error("no answer from {address}")]
    Timeout {
        /// The address.
        address: Multiaddr,
    },
    /// The node is stopping or has stopped.
    #[error("the node is shutting down")]
    ShuttingDown,
}

/// One peer at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerSnapshot {
    /// Who it is.
    pub peer_id: PeerId,
    /// Where it is, without `/p2p`; `None` when no address is known.
    pub multiaddr: Option<Multiaddr>,
    /// What it speaks, as identify says.
    pub protocols: Vec<String>,
    /// What it takes part in, as its metadata says.
    pub shards: Vec<u16>,
    /// Whether we are connected.
    pub connected: Connectedness,
    /// Its program, as identify says.
    pub agent: String,
    /// How we learnt of it.
    pub origin: PeerOrigin,
    /// Its gossip score.
    pub score: f64,
    /// Topics it is subscribed to.
    pub topics: Vec<PubsubTopic>,
    /// Topics in whose mesh it is.
    pub in_mesh: Vec<PubsubTopic>,
}

/// Whether a peer is or can be connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connectedness {
    /// Never tried, or gone.
    NotConnected,
    /// The last attempt failed.
    CannotConnect,
    /// Was connected and may be again.
    CanConnect,
    /// Now.
    Connected,
}

/// How we learnt of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerOrigin {
    /// It connected to us.
    UnknownOrigin,
    /// Discovery v5.
    Discv5,
    /// Configuration or REST.
    Static,
    /// Peer exchange.
    PeerExchange,
    /// DNS discovery.
    Dns,
}

/// Who a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeInfo {
    /// Its identity.
    pub peer_id: PeerId,
    /// Where it listens, each with `/p2p`.
    pub listen_addresses: Vec<Multiaddr>,
    /// Its signed node record, `None` when its key is of a kind that records have no scheme for.
    pub enr_uri: Option<String>,
    /// Topics it takes part in.
    pub subscriptions: Vec<PubsubTopic>,
}

/// How well a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthReport {
    /// As a whole.
    pub node: HealthStatus,
    /// Whether it has enough peers.
    pub connection: ConnectionStatus,
    /// Part by part.
    pub protocols: Vec<ProtocolHealth>,
}

/// Health of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtocolHealth {
    /// Which, e.g. `Relay` or `Rln Relay`.
    pub protocol: &'static str,
    /// How it is.
    pub status: HealthStatus,
    /// Why it is not ready.
    pub desc: Option<String>,
}

/// State of a node or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthStatus {
    /// Starting.
    Initializing,
    /// Catching up.
    Synchronizing,
    /// At work.
    Ready,
    /// Unable to work.
    NotReady,
    /// Switched off.
    NotMounted,
    /// Stopping.
    ShuttingDown,
    /// Too busy.
    EventLoopLagging,
}

/// Whether a node has enough peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// None.
    Disconnected,
    /// Some.
    PartiallyConnected,
    /// Enough.
    Connected,
}
