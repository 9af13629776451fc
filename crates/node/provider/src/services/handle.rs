//! The program's handle to the services.

use std::sync::Arc;
use undertone_network::handle::Stopped;

use bytes::Bytes;
use futures::future::BoxFuture;
use libp2p::{Multiaddr, PeerId};
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::filter::FilterCriterion;
use undertone_services::history::HistoryQuery;
use undertone_services::sharding::Sharding;
use undertone_services::store::{HistoryReader, ReadPage, StoreRequest};

use super::answer::{LightpushVersion, ServiceFailure, StoreAnswer};
use super::archive_counts::ArchiveCounts;
use super::light_driver::{LightCall, LightStatus};
use super::sender::SenderHandle;
use super::store_watch::StoreWatch;
use super::sync::SyncHandle;
use super::totals::ServiceTotals;
use undertone_network::handle::{Deliveries, Delivery, MessageSink};

/// Services that a node offers to its peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MountedServices {
    /// Whether the node stores messages and serves history.
    pub store: bool,
    /// Whether the node pushes messages to light clients.
    pub filter: bool,
    /// Whether the node publishes for light clients, by both versions of the protocol.
    pub lightpush: bool,
    /// Whether the node's membership is used to prove light clients' messages.
    pub lightpush_proofs: bool,
    /// Whether the node tells others about nodes that it knows.
    pub peer_exchange: bool,
    /// Whether the node keeps other nodes' registered addresses and hands them out.
    pub rendezvous: bool,
}

/// Peer with filter subscriptions at this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterSubscriber {
    /// Identity of the peer.
    pub peer: PeerId,
    /// Criteria of the messages that the peer receives.
    pub criteria: Vec<FilterCriterion>,
}

/// Future answer of a service.
pub type ServiceAnswer<T> = BoxFuture<'static, Result<T, ServiceFailure>>;

/// Services that a handle requests from the node and its peers. Tests supply their own answers.
pub trait AskServices: Send + Sync {
    /// Returns a page of history: from a peer, or without one from the own archive or a selected store.
    fn query(
        self: Arc<Self>,
        peer: Option<Multiaddr>,
        query: HistoryQuery,
    ) -> ServiceAnswer<StoreAnswer>;

    /// Sends a request to a peer's store; returns the peer and its undecoded response.
    fn ask_store(
        self: Arc<Self>,
        peer: Multiaddr,
        request: StoreRequest,
    ) -> ServiceAnswer<(PeerId, Bytes)>;

    /// Publishes through the own relay or a peer's; returns the number of peers that the message was sent to.
    fn push(
        self: Arc<Self>,
        version: LightpushVersion,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
    ) -> ServiceAnswer<u32>;

    /// Returns the peers subscribed at this node; `None` if it does not serve filter.
    fn subscribers(&self) -> Result<Option<Vec<FilterSubscriber>>, ServiceFailure>;

    /// Returns the totals of peers' requests to this node.
    fn totals(&self) -> Result<ServiceTotals, ServiceFailure>;
}

/// The program's handle to the services; clones talk to the same ones.
#[derive(Clone)]
pub struct ServicesHandle {
    /// Runtime of the node. Calls run there, so they do not depend on their caller's thread, and end with the node.
    runtime: Handle,
    asked: Arc<dyn AskServices>,
    light: mpsc::Sender<LightCall>,
    sharding: Sharding,
    /// Sinks for messages from filter peers.
    pushed: Deliveries,
    mounted: MountedServices,
    pub(super) store: Option<StoreWatch>,
    status: Arc<Mutex<LightStatus>>,
    sender: SenderHandle,
    pub(super) sync: Option<SyncHandle>,
}

impl ServicesHandle {
    /// Creates a handle without an archive and without synchronisation, for the current runtime.
    #[must_use]
    pub fn new(
        (asked, mounted): (Arc<dyn AskServices>, MountedServices),
        (light, status): (mpsc::Sender<LightCall>, Arc<Mutex<LightStatus>>),
        pushed: Deliveries,
        sharding: Sharding,
        sender: SenderHandle,
    ) -> Self {
        Self {
            runtime: Handle::current(),
            asked,
            light,
            sharding,
            pushed,
            mounted,
            store: None,
            status,
            sender,
            sync: None,
        }
    }

    /// Returns the services that this node offers.
    #[must_use]
    pub fn mounted(&self) -> MountedServices {
        self.mounted
    }

    /// Returns the handle to synchronisation; `None` for a node that does not synchronise its store.
    #[must_use]
    pub fn sync(&self) -> Option<&SyncHandle> {
        self.sync.as_ref()
    }

    /// Returns counts of the messages offered to the archive; `None` for a node without a store.
    #[must_use]
    pub fn archive_counts(&self) -> Option<ArchiveCounts> {
        self.store.as_ref().map(|store| store.counts.counts())
    }

    /// Returns the reason why messages are not being stored; `None` if they are, or need not be.
    #[must_use]
    pub fn store_trouble(&self) -> Option<String> {
        self.store.as_ref().and_then(StoreWatch::trouble)
    }

    /// Returns a page of history: from `peer`, or without one from this node's archive. If the node has no archive,
    /// [`undertone_services::trust`] chooses the stores.
    ///
    /// # Errors
    /// [`ServiceFailure`] if no store could answer.
    pub async fn query_store(
        &self,
        peer: Option<Multiaddr>,
        query: HistoryQuery,
    ) -> Result<StoreAnswer, ServiceFailure> {
        let asked = Arc::clone(&self.asked);
        self.run(asked.query(peer, query)).await
    }

    /// Asks the store of `peer` for the next page of a walk through history; `None` if the walk has ended.
    ///
    /// After a failure the walk's position is unchanged, and the page may be requested again.
    ///
    /// # Errors
    /// [`ServiceFailure`] if the peer returned no page, or one that is evidently false.
    pub async fn read_history(
        &self,
        peer: &Multiaddr,
        reader: &mut HistoryReader,
    ) -> Result<Option<ReadPage>, ServiceFailure> {
        const REQUEST_ID: &str = "undertone-walk";
        let Some(request) = reader.request(REQUEST_ID) else {
            return Ok(None);
        };
        let asked = Arc::clone(&self.asked);
        let (peer, answer) = self.run(asked.ask_store(peer.clone(), request)).await?;
        let page = reader.take(REQUEST_ID, &answer);
        page.map(Some)
            .map_err(|error| ServiceFailure::of_page(peer, error))
    }

    /// Publishes a message through this node's relay or, if that cannot publish it, through lightpush peers. Returns
    /// the number of peers that the relay sent it to.
    ///
    /// # Errors
    /// [`ServiceFailure::Refused`] with the protocol's status if the message was not published.
    pub async fn push(
        &self,
        version: LightpushVersion,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
    ) -> Result<u32, ServiceFailure> {
        let asked = Arc::clone(&self.asked);
        self.run(asked.push(version, pubsub_topic, message)).await
    }

    /// Returns the state of this node's subscriptions at filter peers.
    #[must_use]
    pub fn light_status(&self) -> LightStatus {
        self.status.lock().clone()
    }

    /// Subscribes to content topics at filter peers, and waits until one holds the subscription. From then on, other
    /// filter peers take over when needed, and stores provide missed messages.
    ///
    /// # Errors
    /// [`ServiceFailure`] if no filter peer accepted the subscription. Then there is no subscription; the same holds if
    /// the caller stops waiting.
    pub async fn subscribe(
        &self,
        pubsub_topic: Option<PubsubTopic>,
        content_topics: Vec<String>,
    ) -> Result<(), ServiceFailure> {
        let criteria = self.criteria(pubsub_topic, content_topics)?;
        self.ask_light(|reply| LightCall::Subscribe(criteria, reply))
            .await?
    }

    /// Subscribes to content topics like [`Self::subscribe`], even without a filter peer: peers are tried until one is
    /// available. Messages sent since `since_ns`, Unix nanoseconds, are fetched from stores; without it, those sent
    /// since a moment ago.
    ///
    /// # Errors
    /// [`ServiceFailure`] if a topic cannot be derived, or the node has the maximum number of subscriptions.
    pub async fn keep_subscribed(
        &self,
        pubsub_topic: Option<PubsubTopic>,
        content_topics: Vec<String>,
        since_ns: Option<i64>,
    ) -> Result<(), ServiceFailure> {
        let criteria = self.criteria(pubsub_topic, content_topics)?;
        self.ask_light(|reply| LightCall::Keep(criteria, since_ns, reply))
            .await?
    }

    /// Ends a subscription to content topics, and waits until no filter peer holds it. No messages are delivered after
    /// the call has begun.
    ///
    /// # Errors
    /// [`ServiceFailure`] if a topic cannot be derived, or the node has stopped.
    pub async fn unsubscribe(
        &self,
        pubsub_topic: Option<PubsubTopic>,
        content_topics: Vec<String>,
    ) -> Result<(), ServiceFailure> {
        let criteria = self.criteria(pubsub_topic, content_topics)?;
        self.ask_light(|reply| LightCall::Unsubscribe(criteria, reply))
            .await?
    }

    /// Ends all filter subscriptions.
    ///
    /// # Errors
    /// Like [`Self::unsubscribe`].
    pub async fn unsubscribe_all(&self) -> Result<(), ServiceFailure> {
        self.ask_light(LightCall::UnsubscribeAll).await?
    }

    /// Asks the filter peer whether this node's subscriptions are alive.
    ///
    /// # Errors
    /// [`ServiceFailure::Refused`] with status 404 if the peer knows of none.
    pub async fn ping(&self) -> Result<(), ServiceFailure> {
        self.ask_light(LightCall::Ping).await?
    }

    /// Returns the filter subscriptions of this node at its peers.
    ///
    /// # Errors
    /// [`ServiceFailure::Stopped`] if the node has stopped.
    pub async fn subscriptions(&self) -> Result<Vec<FilterCriterion>, ServiceFailure> {
        self.ask_light(LightCall::List).await
    }

    /// Returns the peers that are subscribed at this node; `None` if it does not serve filter.
    ///
    /// # Errors
    /// [`ServiceFailure::Stopped`] if the node has stopped.
    pub fn subscribers(&self) -> Result<Option<Vec<FilterSubscriber>>, ServiceFailure> {
        self.asked.subscribers()
    }

    /// Returns the totals of what peers asked of this node's services.
    ///
    /// # Errors
    /// [`ServiceFailure::Stopped`] if the node has stopped.
    pub fn totals(&self) -> Result<ServiceTotals, ServiceFailure> {
        self.asked.totals()
    }

    /// Returns the handle for sending messages and following their progress.
    #[must_use]
    pub fn sender(&self) -> &SenderHandle {
        &self.sender
    }

    /// Passes every later message of a filter subscription to `sink` once, whether it comes from a filter peer or a
    /// store, until `sink` returns `false`.
    pub fn add_sink(&self, sink: Arc<dyn MessageSink>) {
        self.pushed.add(sink);
    }

    /// Returns a queue of later messages of filter subscriptions. Messages that would exceed `capacity` are dropped, so
    /// that a slow reader does not block the node.
    pub fn messages(&self, capacity: usize) -> mpsc::Receiver<Delivery> {
        self.pushed.queue(capacity)
    }

    /// Runs a call to its end, even if its caller stops waiting.
    async fn run<T: Send + 'static>(&self, call: ServiceAnswer<T>) -> Result<T, ServiceFailure> {
        // A task without an answer ended because the node stopped.
        let ended = self.runtime.spawn(call).await;
        ended.unwrap_or(Err(ServiceFailure::Stopped(Stopped)))
    }

    /// Sends a call to the task that maintains the subscriptions.
    async fn ask_light<T>(
        &self,
        call: impl FnOnce(oneshot::Sender<T>) -> LightCall,
    ) -> Result<T, ServiceFailure> {
        let (reply, answer) = oneshot::channel();
        let sent = self.light.send(call(reply)).await;
        sent.map_err(|_| Stopped)?;
        answer.await.map_err(|_| ServiceFailure::Stopped(Stopped))
    }

    /// Returns content topics, each with the topic that carries it.
    fn criteria(
        &self,
        given: Option<PubsubTopic>,
        content_topics: Vec<String>,
    ) -> Result<Vec<FilterCriterion>, ServiceFailure> {
        let each = content_topics.into_iter().map(|content_topic| {
            let topic = topic_of(self.sharding, given.clone(), &content_topic)?;
            Ok(FilterCriterion {
                pubsub_topic: topic.to_string().into(),
                content_topic: content_topic.into(),
            })
        });
        each.collect()
    }
}

/// Returns the given topic, or the one that carries the content topic.
pub(super) fn topic_of(
    sharding: Sharding,
    given: Option<PubsubTopic>,
    content_topic: &str,
) -> Result<PubsubTopic, ServiceFailure> {
    if let Some(given) = given {
        return Ok(given);
    }
    let failure = |error: &dyn std::error::Error| ServiceFailure::Topic(error.to_string());
    let topic = sharding.derive(content_topic);
    let topic = topic.map_err(|error| failure(&error))?;
    PubsubTopic::parse_any(&topic).map_err(|error| failure(&error))
}
