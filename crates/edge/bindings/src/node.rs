//! The node as an object of other languages: all calls block, and none needs a runtime of the caller.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::executor::block_on;
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use undertone_message::PubsubTopic;
use undertone_node::Multiaddr;
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::config::NodeConfig;
use undertone_node::handle::NodeHandle;
use undertone_node::services::{LightpushVersion, SendId, ServicesHandle};

use crate::configuration;
use crate::error::NodeError;
use crate::history::{MessagePage, StoreQuery};
use crate::inbox::{MessageInbox, WantedTopic};
use crate::listener::{self, MessageListener};
use crate::messages::{IncomingMessage, MessageReceipt, OutgoingMessage};
use crate::node_status::{HealthDetails, NodeDetails, PeerDetails};
use crate::sending::{ReportInbox, SendingReport};
use crate::topics::NetworkTopics;

/// Threads of the node's servers and services; its network has one of its own.
const WORKERS: usize = 2;

/// Longest time for which a stopping node waits for work that cannot be interrupted.
const ABANDON: Duration = Duration::from_secs(10);

const NS_PER_MS: i64 = 1_000_000;

/// Running Waku node. Its calls block, may come from any thread, and fail with `Stopped` once the node has stopped.
#[derive(uniffi::Object)]
pub struct UndertoneNode {
    topics: NetworkTopics,
    /// Whether messages are relayed; a node that does not relay uses the services of its peers.
    relays: bool,
    clock_ahead_ns: i64,
    rest_address: Option<String>,
    may_publish: bool,
    /// Pubsub topics that the configuration joins, which `unsubscribe` does not leave.
    configured: BTreeSet<PubsubTopic>,
    inbox: Arc<MessageInbox>,
    reports: Arc<ReportInbox>,
    /// Held while a subscription changes, so that topics and inbox stay in step.
    subscribing: Mutex<()>,
    listeners: Mutex<Vec<JoinHandle<()>>>,
    /// Channels to the node; `None` once it stops, so that they and the archive's files are closed.
    channels: Mutex<Option<NodeChannels>>,
    /// The node itself; held while it stops, so that a second caller of `stop` waits too.
    running: Mutex<Option<(Runtime, Assembled)>>,
}

#[derive(Clone)]
struct NodeChannels {
    node: NodeHandle,
    services: ServicesHandle,
}

#[uniffi::export]
impl UndertoneNode {
    /// Starts a node, and waits until it listens.
    ///
    /// `toml` is a configuration as a file has it, `settings` are names of keys with values as the command line takes
    /// them, lists with commas; settings override the text. `configuration_keys` lists the keys. The process's
    /// environment and its files play no part but for those that keys name. Nodes of one process need a `data-dir`
    /// each.
    ///
    /// # Errors
    /// `Configuration` names the key, `Start` what cannot be used.
    #[uniffi::constructor(default(toml = "", settings))]
    pub fn start(toml: String, settings: HashMap<String, String>) -> Result<Arc<Self>, NodeError> {
        let config = configuration::load(toml, settings)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("services")
            .enable_all()
            .build()
            .map_err(|error| NodeError::Start {
                reason: format!("cannot start threads: {error}"),
            })?;
        let assembled = runtime.block_on(assemble(&config))?;
        Ok(Arc::new(Self::new(&config, runtime, assembled)))
    }

    /// Stops the node, and waits until its threads have ended and its files are closed. Does nothing if the node has
    /// stopped. Messages that have arrived can still be received.
    pub fn stop(&self) {
        self.inbox.close();
        self.reports.close();
        drop(self.channels.lock().take());
        let mut running = self.running.lock();
        if let Some((runtime, assembled)) = running.take() {
            runtime.block_on(assembled.stop());
            runtime.shutdown_timeout(ABANDON);
        }
        drop(running);
        let listeners = std::mem::take(&mut *self.listeners.lock());
        for listener in listeners {
            // A listener that stops the node ends once it has returned.
            if listener.thread().id() != thread::current().id() {
                // A panic was logged where it happened.
                let _ = listener.join();
            }
        }
    }

    /// Returns identity, addresses and subscriptions of the node.
    ///
    /// # Errors
    /// `Stopped` if the node has stopped.
    pub fn info(&self) -> Result<NodeDetails, NodeError> {
        let info = block_on(self.channels()?.node.info())?;
        let text = |address: &Multiaddr| address.to_string();
        Ok(NodeDetails {
            peer_id: info.peer_id.to_string(),
            addresses: info.listen_addresses.iter().map(text).collect(),
            enr: info.enr_uri,
            pubsub_topics: info.subscriptions.iter().map(ToString::to_string).collect(),
            rest_address: self.rest_address.clone(),
            may_publish: self.may_publish,
            dropped_messages: self.inbox.dropped(),
        })
    }

    /// Returns the node's health.
    ///
    /// # Errors
    /// `Stopped` if the node has stopped.
    pub fn health(&self) -> Result<HealthDetails, NodeError> {
        Ok(block_on(self.channels()?.node.health())?.into())
    }

    /// Returns all peers that the node knows.
    ///
    /// # Errors
    /// `Stopped` if the node has stopped.
    pub fn peers(&self) -> Result<Vec<PeerDetails>, NodeError> {
        let peers = block_on(self.channels()?.node.peers())?;
        Ok(peers.into_iter().map(Into::into).collect())
    }

    /// Connects to a peer by its address, such as `/ip4/192.0.2.1/tcp/60000/p2p/16Uiu…`, and waits until the
    /// attempt has ended.
    ///
    /// # Errors
    /// `Argument` if there is no such address, `Peer` if the connection cannot be made.
    pub fn connect(&self, address: String) -> Result<(), NodeError> {
        let address = read_address("address", &address)?;
        Ok(block_on(self.channels()?.node.connect(address))?)
    }

    /// Receives messages with these content topics from now on; without content topics, all of `pubsub_topic`.
    /// Without a pubsub topic, each content topic's shard is joined by automatic sharding.
    ///
    /// A node that does not relay subscribes at a filter peer, and has to name content topics.
    ///
    /// # Errors
    /// `Argument` if a topic is none of this network, `NoPeers` or `Peer` if no filter peer accepts.
    #[uniffi::method(default(pubsub_topic = None))]
    pub fn subscribe(
        &self,
        content_topics: Vec<String>,
        pubsub_topic: Option<String>,
    ) -> Result<(), NodeError> {
        let wanted = self
            .topics
            .wanted(&content_topics, pubsub_topic.as_deref())?;
        let channels = self.channels()?;
        let _changing = self.subscribing.lock();
        // WantedTopic first, so that no message is missed between the two.
        let added = self.inbox.want(&wanted);
        let joined = self.join(&channels, &wanted, content_topics);
        if joined.is_err() {
            self.inbox.unwant(&added);
        }
        joined
    }

    /// Receives no more messages of a subscription. Those that have arrived can still be received.
    ///
    /// # Errors
    /// `Argument` if a topic is none of this network, `Peer` if the filter peer does not confirm; no messages arrive
    /// any more all the same.
    #[uniffi::method(default(pubsub_topic = None))]
    pub fn unsubscribe(
        &self,
        content_topics: Vec<String>,
        pubsub_topic: Option<String>,
    ) -> Result<(), NodeError> {
        let wanted = self
            .topics
            .wanted(&content_topics, pubsub_topic.as_deref())?;
        let channels = self.channels()?;
        let _changing = self.subscribing.lock();
        let removed = self.inbox.unwant(&wanted);
        self.leave(&channels, &removed)
    }

    /// Waits for a message of a subscription, `timeout_ms` at most; returns none if there is none by then. Every
    /// message is received once, by one of those who wait. A node that relays receives its own messages too.
    ///
    /// # Errors
    /// `Stopped` if the node has stopped and all messages have been received.
    pub fn receive(&self, timeout_ms: u64) -> Result<Option<IncomingMessage>, NodeError> {
        let delivery = self.inbox.take(Duration::from_millis(timeout_ms))?;
        Ok(delivery.as_ref().map(Into::into))
    }

    /// Calls `listener` with each message of a subscription, from a thread of its own, until the node stops. Every
    /// message goes to one listener or to one caller of `receive`.
    ///
    /// # Errors
    /// `Unavailable` if the process cannot have another thread.
    pub fn listen(&self, listener: Arc<dyn MessageListener>) -> Result<(), NodeError> {
        self.channels()?;
        let thread = listener::start(self.inbox.clone(), listener);
        let thread = thread.map_err(|error| NodeError::Unavailable {
            reason: format!("cannot start a thread: {error}"),
        })?;
        self.listeners.lock().push(thread);
        Ok(())
    }

    /// Publishes a message by relay, and waits until it was sent to a peer; a node that does not relay publishes
    /// through a lightpush peer. Attaches a proof where the network asks for one.
    ///
    /// # Errors
    /// `NoPeers` if no peer for the topic is connected, `RateLimit` and `Membership` if there can be no proof now,
    /// `Argument` if others would refuse the message.
    pub fn publish(&self, message: OutgoingMessage) -> Result<MessageReceipt, NodeError> {
        let (named, mut message) = message.split();
        let topic = self.topics.one(named.as_deref(), &message.content_topic)?;
        let channels = self.channels()?;
        if self.relays {
            let published = block_on(channels.node.publish(topic, message))?;
            let topic = published.pubsub_topic.to_string();
            let peers = u64::try_from(published.peers).unwrap_or(u64::MAX);
            return Ok(MessageReceipt::new(topic, &published.message, peers));
        }
        message.timestamp.get_or_insert_with(|| self.now_ns());
        let receipt = MessageReceipt::new(topic.to_string(), &message, 0);
        let pushed = channels
            .services
            .push(LightpushVersion::V3, Some(topic), message);
        Ok(MessageReceipt {
            peers: block_on(pushed)?.into(),
            ..receipt
        })
    }

    /// Accepts a message for sending, and returns its number. The message is then in a queue on disk, and will be stored,
    /// propagated, or failed with a reason: over restarts, without peers, and beyond the rate limit. `receive_report` and
    /// `send_reports` tell its steps.
    ///
    /// # Errors
    /// `Argument` if others would refuse the message or the queue holds it already, `Unavailable` if the queue is full or
    /// cannot be written.
    pub fn send(&self, message: OutgoingMessage) -> Result<u64, NodeError> {
        let (named, message) = message.split();
        let topic = self.topics.one(named.as_deref(), &message.content_topic)?;
        let channels = self.channels()?;
        let accepted = channels.services.sender().send(Some(topic), message);
        Ok(block_on(accepted)?.0)
    }

    /// Waits for the next step of any message that was given to `send`, `timeout_ms` at most; returns none if there is
    /// none by then. Steps of messages of an earlier run are told too, from this start on.
    ///
    /// # Errors
    /// `Stopped` if the node has stopped and all reports have been received.
    pub fn receive_report(&self, timeout_ms: u64) -> Result<Option<SendingReport>, NodeError> {
        let report = self.reports.take(Duration::from_millis(timeout_ms))?;
        Ok(report.map(Into::into))
    }

    /// Returns the reports that the node keeps, the oldest first: of the message with number `id`, or of all. With
    /// `forget`, they are kept no longer. The node keeps the newest 40,000, also over restarts.
    ///
    /// # Errors
    /// `Stopped` if the node has stopped.
    #[uniffi::method(default(id = None, forget = false))]
    pub fn send_reports(
        &self,
        id: Option<u64>,
        forget: bool,
    ) -> Result<Vec<SendingReport>, NodeError> {
        let channels = self.channels()?;
        let (sender, id) = (channels.services.sender(), id.map(SendId));
        let reports = if forget {
            block_on(sender.fetch_reports(id))?
        } else {
            block_on(sender.reports(id))?
        };
        Ok(reports.into_iter().map(Into::into).collect())
    }

    /// Returns a page of history from a store, or from this node's archive if it has one and no store is named.
    ///
    /// # Errors
    /// `Argument` names the field of the query, `NoPeers` and `Peer` tell that no store answered.
    pub fn query_store(&self, query: StoreQuery) -> Result<MessagePage, NodeError> {
        let peer = query.peer.as_deref().map(|one| read_address("peer", one));
        let (peer, query) = (peer.transpose()?, query.check()?);
        let channels = self.channels()?;
        block_on(channels.services.query_store(peer, query))?
            .page
            .try_into()
    }
}

impl UndertoneNode {
    fn new(config: &NodeConfig, runtime: Runtime, assembled: Assembled) -> Self {
        let channels = NodeChannels {
            node: assembled.node.handle.clone(),
            services: assembled.services.handle.clone(),
        };
        let inbox = Arc::new(MessageInbox::default());
        if config.relay {
            channels.node.add_sink(inbox.clone());
        } else {
            channels.services.add_sink(inbox.clone());
        }
        let reports = Arc::new(ReportInbox::default());
        runtime.spawn(reports.clone().follow(channels.services.sender().news()));
        let shards = config.shards.iter().copied();
        Self {
            topics: NetworkTopics::new(config),
            relays: config.relay,
            clock_ahead_ns: config.clock_ahead_ms.saturating_mul(NS_PER_MS),
            rest_address: assembled.rest.map(|address| address.to_string()),
            may_publish: assembled.may_publish,
            configured: shards.map(PubsubTopic::Static).collect(),
            inbox,
            reports,
            subscribing: Mutex::new(()),
            listeners: Mutex::default(),
            channels: Mutex::new(Some(channels)),
            running: Mutex::new(Some((runtime, assembled))),
        }
    }

    fn channels(&self) -> Result<NodeChannels, NodeError> {
        self.channels.lock().clone().ok_or(NodeError::Stopped)
    }

    fn join(
        &self,
        channels: &NodeChannels,
        wanted: &[WantedTopic],
        content_topics: Vec<String>,
    ) -> Result<(), NodeError> {
        if self.relays {
            let topics: BTreeSet<_> = wanted.iter().map(|(topic, _)| topic).collect();
            for topic in topics {
                block_on(channels.node.subscribe(topic.clone()))?;
            }
            return Ok(());
        }
        if content_topics.is_empty() {
            let reason = "none given; a node that does not relay gets messages by content topic";
            return Err(NodeError::argument("content_topics", reason));
        }
        for (topic, content_topics) in by_topic(wanted) {
            let topic = Some(topic.clone());
            block_on(channels.services.subscribe(topic, content_topics))?;
        }
        Ok(())
    }

    fn leave(&self, channels: &NodeChannels, removed: &[WantedTopic]) -> Result<(), NodeError> {
        for (topic, content_topics) in by_topic(removed) {
            if !self.relays {
                let topic = Some(topic.clone());
                block_on(channels.services.unsubscribe(topic, content_topics))?;
            } else if !self.configured.contains(topic) && !self.inbox.wants_some(topic) {
                block_on(channels.node.unsubscribe(topic.clone()))?;
            }
        }
        Ok(())
    }

    /// Returns the node's time, Unix nanoseconds.
    fn now_ns(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = since.map_or(0, |since| since.as_nanos());
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        now.saturating_add(self.clock_ahead_ns)
    }
}

impl Drop for UndertoneNode {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Groups content topics by the pubsub topic that carries them.
fn by_topic(wanted: &[WantedTopic]) -> Vec<(&PubsubTopic, Vec<String>)> {
    let topics: BTreeSet<_> = wanted.iter().map(|(topic, _)| topic).collect();
    let content_topics = |topic| {
        let of_topic = wanted.iter().filter(move |(one, _)| one == topic);
        let named = of_topic.filter_map(|(_, content)| content.as_deref());
        named.map(str::to_owned).collect()
    };
    topics
        .into_iter()
        .map(|topic| (topic, content_topics(topic)))
        .collect()
}

fn read_address(argument: &str, text: &str) -> Result<Multiaddr, NodeError> {
    text.parse().map_err(|error| {
        let reason = format!("{text:?} is no multiaddress ({error}); use /ip4/…/tcp/…/p2p/…");
        NodeError::argument(argument, reason)
    })
}
