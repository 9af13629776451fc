//! The two ends of a running node: a handle for the program, an endpoint for the driver.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use libp2p::{Multiaddr, PeerId};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use undertone_gossip::MessageId;
use undertone_message::{MessageHash, PubsubTopic, WakuMessage, message_hash};

use crate::command::{
    Command, ConnectFailure, GossipSnapshot, HealthReport, MetricsSnapshot, NodeInfo, PeerSnapshot,
    Post, PublishFailure, Published, RlnSnapshot, SubscribeFailure,
};

#[cfg(test)]
mod tests;

/// Commands that may wait for the driver before senders have to.
const COMMAND_QUEUE: usize = 256;

/// Most deliveries that may wait for one reader, whatever it asks for.
const MAX_WAITING: usize = 1 << 20;

/// A valid message of a topic that the node takes part in, from a peer or from itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Where it was published.
    pub pubsub_topic: PubsubTopic,
    /// What it says.
    pub message: WakuMessage,
    /// Its gossip id: the hash of its bytes on the wire.
    pub id: MessageId,
    /// Who sent us the first copy; `None` for our own.
    pub from: Option<PeerId>,
    /// When the first copy was complete here; for our own, when it was published.
    pub received: Instant,
    /// When it was found valid.
    pub validated: Instant,
}

impl Delivery {
    /// Its deterministic hash. Computed here, because at 150 kB it takes as long as relaying, and
    /// not everybody asks.
    pub fn hash(&self) -> MessageHash {
        message_hash(&self.pubsub_topic.to_string(), &self.message)
    }
}

/// Someone who wants every delivery.
pub trait MessageSink: Send + Sync {
    /// Takes a delivery without blocking and without adding sinks; `false` says that no more are
    /// wanted.
    fn deliver(&self, delivery: &Delivery) -> bool;
}

/// Where the driver puts deliveries. Clones share their sinks.
#[derive(Clone, Default)]
pub struct Deliveries {
    sinks: Arc<Mutex<Vec<Arc<dyn MessageSink>>>>,
}

impl Deliveries {
    /// Gives `delivery` to every sink.
    pub fn deliver(&self, delivery: &Delivery) {
        self.lock().retain(|sink| sink.deliver(delivery));
    }

    fn add(&self, sink: Arc<dyn MessageSink>) {
        self.lock().push(sink);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Arc<dyn MessageSink>>> {
        // A sink that panicked leaves the list whole.
        self.sinks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The driver's end.
pub struct Endpoint {
    /// What is asked of the node; `None` when every handle is gone.
    pub commands: mpsc::Receiver<Command>,
    /// Where valid messages go.
    pub deliveries: Deliveries,
}

/// The program's end; clones talk to the same node.
#[derive(Clone)]
pub struct NodeHandle {
    commands: mpsc::Sender<Command>,
    deliveries: Deliveries,
}

/// The node has stopped, so there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the node has stopped")]
pub struct Stopped;

/// Makes both ends.
pub fn node_channel() -> (NodeHandle, Endpoint) {
    let (sender, receiver) = mpsc::channel(COMMAND_QUEUE);
    let deliveries = Deliveries::default();
    let handle = NodeHandle {
        commands: sender,
        deliveries: deliveries.clone(),
    };
    (
        handle,
        Endpoint {
            commands: receiver,
            deliveries,
        },
    )
}

impl NodeHandle {
    /// Takes part in a topic.
    pub async fn subscribe(&self, topic: PubsubTopic) -> Result<(), SubscribeFailure> {
        self.ask(|reply| Command::Subscribe { topic, reply })
            .await
            .unwrap_or(Err(SubscribeFailure::ShuttingDown))
    }

    /// Leaves a topic.
    pub async fn unsubscribe(&self, topic: PubsubTopic) -> Result<(), SubscribeFailure> {
        self.ask(|reply| Command::Unsubscribe { topic, reply })
            .await
            .unwrap_or(Err(SubscribeFailure::ShuttingDown))
    }

    /// Publishes a message.
    pub async fn publish(
        &self,
        pubsub_topic: PubsubTopic,
        message: WakuMessage,
    ) -> Result<Published, PublishFailure> {
        self.ask(|reply| Command::Publish {
            pubsub_topic,
            message,
            reply,
        })
        .await
        .unwrap_or(Err(PublishFailure::ShuttingDown))
    }

    /// Publishes a message, now or when a peer comes, on a topic that need not be joined. With `restamp`, its
    /// timestamp is replaced when it has waited.
    pub async fn post(
        &self,
        pubsub_topic: PubsubTopic,
        message: WakuMessage,
        restamp: bool,
    ) -> Result<Post, PublishFailure> {
        self.ask(|reply| Command::Post {
            pubsub_topic,
            message,
            restamp,
            reply,
        })
        .await
        .unwrap_or(Err(PublishFailure::ShuttingDown))
    }

    /// What became of the newest messages that were posted, the oldest first.
    pub async fn posts(&self) -> Result<Vec<Post>, Stopped> {
        self.ask(|reply| Command::Posts { reply }).await
    }

    /// All known peers.
    pub async fn peers(&self) -> Result<Vec<PeerSnapshot>, Stopped> {
        self.ask(|reply| Command::Peers { reply }).await
    }

    /// Connects to a peer.
    pub async fn connect(&self, address: Multiaddr) -> Result<(), ConnectFailure> {
        self.ask(|reply| Command::Connect { address, reply })
            .await
            .unwrap_or(Err(ConnectFailure::ShuttingDown))
    }

    /// Who the node is.
    pub async fn info(&self) -> Result<NodeInfo, Stopped> {
        self.ask(|reply| Command::Info { reply }).await
    }

    /// How well it is.
    pub async fn health(&self) -> Result<HealthReport, Stopped> {
        self.ask(|reply| Command::Health { reply }).await
    }

    /// What the router has done so far.
    pub async fn gossip(&self) -> Result<GossipSnapshot, Stopped> {
        self.ask(|reply| Command::Gossip { reply }).await
    }

    /// How far proofs are made and checked; `None` when rate limiting is off.
    pub async fn rln(&self) -> Result<Option<RlnSnapshot>, Stopped> {
        self.ask(|reply| Command::Rln { reply }).await
    }

    /// Everything that is counted.
    pub async fn metrics(&self) -> Result<Box<MetricsSnapshot>, Stopped> {
        self.ask(|reply| Command::Metrics { reply }).await
    }

    /// Stops the node and waits until it has; a node that has stopped already is success.
    pub async fn shutdown(&self) {
        // `Stopped` is what was asked for.
        let _ = self.ask(|reply| Command::Shutdown { reply }).await;
    }

    /// Gives every delivery from now on to `sink`, until it wants no more.
    pub fn add_sink(&self, sink: Arc<dyn MessageSink>) {
        self.deliveries.add(sink);
    }

    /// Deliveries from now on. Those that find `capacity` others waiting are dropped, so that a
    /// slow reader does not hold up the node.
    pub fn messages(&self, capacity: usize) -> mpsc::Receiver<Delivery> {
        let (sender, receiver) = mpsc::channel(capacity.clamp(1, MAX_WAITING));
        self.add_sink(Arc::new(ChannelSink { sender }));
        receiver
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Stopped> {
        let (reply, answer) = oneshot::channel();
        self.commands
            .send(command(reply))
            .await
            .map_err(|_| Stopped)?;
        answer.await.map_err(|_| Stopped)
    }
}

struct ChannelSink {
    sender: mpsc::Sender<Delivery>,
}

impl MessageSink for ChannelSink {
    fn deliver(&self, delivery: &Delivery) -> bool {
        match self.sender.try_send(delivery.clone()) {
            Ok(()) | Err(mpsc::error::TrySendError::Full(_)) => true,
            Err(mpsc::error::TrySendError::Closed(_)) => false,
        }
    }
}
