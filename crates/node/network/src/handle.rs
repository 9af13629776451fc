//! The two ends of a running node: a handle for the program and an endpoint for the driver.

use std::sync::Arc;

use libp2p::{Multiaddr, PeerId};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use undertone_message::{PubsubTopic, WakuMessage};

use crate::command::{
    AddressGiver, Command, ConnectFailure, GossipSnapshot, HealthReport, MetricsSnapshot, NodeInfo,
    PeerSnapshot, PublishFailure, Published, RlnSnapshot, SenderQuestion, SubscribeFailure,
};
use crate::traces::Tracer;

mod delivery;
#[cfg(test)]
#[path = "tests/handle.rs"]
mod tests;
mod whole;

pub use delivery::Delivery;

pub use crate::stopped::Stopped;
use whole::{FragmentTaken, WholeMessages};

/// Capacity of the command queue; senders wait when it is full.
const COMMAND_QUEUE: usize = 256;

/// Upper bound on the capacity of one reader's delivery queue, whatever it asks for.
const MAX_WAITING: usize = 1 << 20;

/// Receiver of every delivery.
pub trait MessageSink: Send + Sync {
    /// Takes a delivery; returns `false` to be removed. Must not block and must not add sinks.
    fn deliver(&self, delivery: &Delivery) -> bool;

    /// Whether the sink takes the fragments of a message as they arrived, each with its proof. Otherwise it takes the
    /// message that a node with `gossip.fragment-bytes` reassembles from them.
    fn takes_fragments(&self) -> bool {
        false
    }
}

/// Set of sinks that receive the driver's deliveries. Clones share their sinks.
#[derive(Clone, Default)]
pub struct Deliveries {
    sinks: Arc<Mutex<Vec<Arc<dyn MessageSink>>>>,
    /// Reassembly of fragments; `None` on a node that treats fragments as ordinary messages.
    wholes: Arc<Mutex<Option<WholeMessages>>>,
}

impl Deliveries {
    /// Passes `delivery` to every sink and removes the sinks that return `false`.
    pub fn deliver(&self, delivery: &Delivery) {
        let mut wholes = self.wholes.lock();
        let taken = wholes.as_mut().and_then(|wholes| wholes.take(delivery));
        drop(wholes);
        let Some(fragment) = taken else {
            self.sinks.lock().retain(|sink| sink.deliver(delivery));
            return;
        };
        self.sinks.lock().retain(|sink| match &fragment {
            _ if sink.takes_fragments() => sink.deliver(delivery),
            FragmentTaken::Last(whole) => sink.deliver(whole),
            FragmentTaken::Other => true,
        });
    }

    /// Reassembles messages from now on. `epoch_s` is the length of an epoch, seconds: a sender whose rate limit is
    /// below the number of fragments sends them over several epochs.
    pub fn reassemble(&self, epoch_s: Option<u64>) {
        *self.wholes.lock() = Some(WholeMessages::new(epoch_s));
    }

    /// Adds a sink for later deliveries.
    pub fn add(&self, sink: Arc<dyn MessageSink>) {
        self.sinks.lock().push(sink);
    }

    /// Returns a queue of later deliveries. Deliveries that would exceed `capacity` are dropped.
    pub fn queue(&self, capacity: usize) -> mpsc::Receiver<Delivery> {
        let (sender, receiver) = mpsc::channel(capacity.clamp(1, MAX_WAITING));
        self.add(Arc::new(ChannelSink { sender }));
        receiver
    }
}

/// The driver's end of a node's channels.
pub struct NodeEndpoint {
    /// Queue of commands; it yields `None` when every handle is gone.
    pub commands: mpsc::Receiver<Command>,
    /// Sinks for valid messages.
    pub deliveries: Deliveries,
}

/// The program's end of a node's channels; clones talk to the same node.
#[derive(Clone)]
pub struct NodeHandle {
    commands: mpsc::Sender<Command>,
    deliveries: Deliveries,
    /// Exporter of spans, on a node with traces.
    tracer: Option<Tracer>,
}

/// Creates both ends of a node's channels.
pub fn node_channel() -> (NodeHandle, NodeEndpoint) {
    let (sender, receiver) = mpsc::channel(COMMAND_QUEUE);
    let deliveries = Deliveries::default();
    let handle = NodeHandle {
        commands: sender,
        deliveries: deliveries.clone(),
        tracer: None,
    };
    (
        handle,
        NodeEndpoint {
            commands: receiver,
            deliveries,
        },
    )
}

impl NodeHandle {
    /// Sets the tracer that the services use.
    pub(crate) fn with_tracer(self, tracer: Option<Tracer>) -> Self {
        Self { tracer, ..self }
    }

    /// Returns the tracer, on a node with traces.
    pub fn tracer(&self) -> Option<&Tracer> {
        self.tracer.as_ref()
    }

    /// Subscribes to a topic.
    pub async fn subscribe(&self, topic: PubsubTopic) -> Result<(), SubscribeFailure> {
        self.ask(|reply| Command::Subscribe { topic, reply })
            .await
            .unwrap_or(Err(SubscribeFailure::Stopped(Stopped)))
    }

    /// Unsubscribes from a topic.
    pub async fn unsubscribe(&self, topic: PubsubTopic) -> Result<(), SubscribeFailure> {
        self.ask(|reply| Command::Unsubscribe { topic, reply })
            .await
            .unwrap_or(Err(SubscribeFailure::Stopped(Stopped)))
    }

    /// Publishes a message on a subscribed topic.
    pub async fn publish(
        &self,
        pubsub_topic: PubsubTopic,
        message: WakuMessage,
    ) -> Result<Published, PublishFailure> {
        self.publish_for(pubsub_topic, message, false).await
    }

    /// Reports whether a client has a message subscription. If the command queue is full, the report is dropped; it is
    /// repeated when the client asks whether its subscription is still valid.
    pub fn note_subscriber(&self, peer: PeerId, is_subscribed: bool) {
        let _ = self.commands.try_send(Command::Subscriber {
            peer,
            is_subscribed,
        });
    }

    /// Publishes a message on a subscribed topic; `for_client` if it comes from a light client.
    pub async fn publish_for(
        &self,
        pubsub_topic: PubsubTopic,
        message: WakuMessage,
        for_client: bool,
    ) -> Result<Published, PublishFailure> {
        self.ask(|reply| Command::Publish {
            pubsub_topic,
            message,
            for_client,
            reply,
        })
        .await
        .unwrap_or(Err(PublishFailure::Stopped(Stopped)))
    }

    /// Sends a question of the accountable sender to the node and returns the answer.
    pub async fn sender<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<T>) -> SenderQuestion,
    ) -> Result<T, Stopped> {
        self.ask(|reply| Command::Sender(question(reply))).await
    }

    /// Returns all known peers.
    pub async fn peers(&self) -> Result<Vec<PeerSnapshot>, Stopped> {
        self.ask(|reply| Command::Peers { reply }).await
    }

    /// Connects to a peer and waits until the attempt has ended.
    pub async fn connect(&self, address: Multiaddr) -> Result<(), ConnectFailure> {
        self.connect_given(address, AddressGiver::Operator).await
    }

    /// Connects to a peer that another peer named. Its host name must not resolve to a private address.
    pub async fn connect_found(&self, address: Multiaddr) -> Result<(), ConnectFailure> {
        self.connect_given(address, AddressGiver::Stranger).await
    }

    async fn connect_given(
        &self,
        address: Multiaddr,
        given_by: AddressGiver,
    ) -> Result<(), ConnectFailure> {
        self.ask(|reply| Command::Connect {
            address,
            given_by,
            reply,
        })
        .await
        .unwrap_or(Err(ConnectFailure::Stopped(Stopped)))
    }

    /// Replaces the static peers, which the node stays connected to, and dials new ones. Connections to former static
    /// peers stay open, but get no special treatment.
    ///
    /// # Errors
    /// [`Stopped`] if the node has stopped.
    pub async fn set_static_peers(&self, peers: Vec<Multiaddr>) -> Result<(), Stopped> {
        self.ask(|reply| Command::SetStaticPeers { peers, reply })
            .await
    }

    /// Rereads the certificate of the WebSocket port. The node also does this by itself when the files change. An
    /// unusable certificate is logged, and the former one stays in use.
    pub async fn renew_certificate(&self) -> Result<(), Stopped> {
        self.ask(|reply| Command::RenewCertificate { reply }).await
    }

    /// Returns the node's identity, addresses and subscriptions.
    pub async fn info(&self) -> Result<NodeInfo, Stopped> {
        self.ask(|reply| Command::Info { reply }).await
    }

    /// Returns the node's health.
    pub async fn health(&self) -> Result<HealthReport, Stopped> {
        self.ask(|reply| Command::Health { reply }).await
    }

    /// Returns the router's totals and the use of its bounds.
    pub async fn gossip(&self) -> Result<GossipSnapshot, Stopped> {
        self.ask(|reply| Command::Gossip { reply }).await
    }

    /// Returns the state of proof generation and verification; `None` when rate limiting is off.
    pub async fn rln(&self) -> Result<Option<RlnSnapshot>, Stopped> {
        self.ask(|reply| Command::Rln { reply }).await
    }

    /// Returns all counters and gauges.
    pub async fn metrics(&self) -> Result<Box<MetricsSnapshot>, Stopped> {
        self.ask(|reply| Command::Metrics { reply }).await
    }

    /// Stops the node and waits until it has stopped; succeeds if it has stopped already.
    pub async fn shutdown(&self) {
        // `Stopped` is the outcome that was asked for.
        let _ = self.ask(|reply| Command::Shutdown { reply }).await;
    }

    /// Waits until the node has stopped.
    pub async fn stopped(&self) {
        self.commands.closed().await;
    }

    /// Passes every later delivery to `sink`, until it returns `false`.
    pub fn add_sink(&self, sink: Arc<dyn MessageSink>) {
        self.deliveries.add(sink);
    }

    /// Returns a queue of later deliveries. Deliveries that would exceed `capacity` are dropped, so that a slow reader
    /// does not block the node.
    pub fn messages(&self, capacity: usize) -> mpsc::Receiver<Delivery> {
        self.deliveries.queue(capacity)
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
