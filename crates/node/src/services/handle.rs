//! The program's end of the services' channel.

use std::sync::Arc;

use bytes::Bytes;
use libp2p::{Multiaddr, PeerId};
use parking_lot::Mutex;
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::filter::FilterCriterion;
use undertone_services::history::{HistoryError, HistoryPage, HistoryQuery};
use undertone_services::store::{HistoryReadError, HistoryReader, ReadPage, StoreRequest};

use super::archive_counts::ArchiveCounts;
use super::light_driver::LightStatus;
use super::sender::{SenderEndpoint, SenderHandle, sender_channel};
use super::store_watch::StoreWatch;
use super::sync::SyncHandle;
use super::totals::ServiceTotals;
use crate::handle::{Deliveries, Delivery, MessageSink};

/// Calls that wait for the services at most; further callers wait.
const CALLS_MAX: usize = 256;

/// Services that a node serves to its peers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MountedServices {
    /// Whether the node keeps messages and serves history.
    pub store: bool,
    /// Whether the node pushes messages to light clients.
    pub filter: bool,
    /// Whether the node publishes for light clients, by both versions of the protocol.
    pub lightpush: bool,
    /// Whether the node's membership proves messages of light clients.
    pub lightpush_proofs: bool,
    /// Whether the node tells others of nodes that it knows.
    pub peer_exchange: bool,
    /// Whether the node keeps where others listen, and tells it.
    pub rendezvous: bool,
}

/// Version of the lightpush protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LightpushVersion {
    /// `/vac/waku/lightpush/2.0.0-beta1`, called legacy.
    V2,
    /// `/vac/waku/lightpush/3.0.0`, the current version.
    V3,
}

/// Peer that is subscribed to messages at this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterSubscriber {
    /// Identity of the peer.
    pub peer: PeerId,
    /// Messages that the peer gets.
    pub criteria: Vec<FilterCriterion>,
}

/// Page of history, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreAnswer {
    /// Request id that the peer was asked with; empty if this node's own archive answered.
    pub request_id: String,
    /// Page that answers the query.
    pub page: HistoryPage,
}

/// Response of a peer's store to one request, unread.
#[derive(Debug)]
pub(crate) struct RawStoreAnswer {
    pub(crate) peer: PeerId,
    pub(crate) bytes: Bytes,
}

/// Reason why a service did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ServiceFailure {
    /// No peer that offers the service is known.
    #[error("no suitable peer for {service}; name one, or connect to one first")]
    NoPeer {
        /// Name of the service, such as `store`.
        service: &'static str,
    },
    /// The address does not name a peer that can be dialled.
    #[error("{address} is no address with a peer id; use /ip4/…/tcp/…/p2p/…")]
    Address {
        /// Address that was given.
        address: Multiaddr,
    },
    /// No connection to the peer, or no stream for the protocol.
    #[error("cannot reach peer {peer}: {reason}")]
    Dial {
        /// Peer that was asked.
        peer: PeerId,
        /// Error of the connection.
        reason: String,
    },
    /// The peer refused, or could not do it.
    #[error("status {status}: {description}")]
    Refused {
        /// Status code of the protocol.
        status: u32,
        /// Description that came with it, possibly empty.
        description: String,
    },
    /// The peer's answer is not one of the protocol.
    #[error("peer {peer} gave an invalid answer: {reason}")]
    BadAnswer {
        /// Peer that was asked.
        peer: PeerId,
        /// Defect of the answer.
        reason: String,
    },
    /// The peer did not answer in time.
    #[error("peer {peer} did not answer within {timeout_s} s")]
    TimedOut {
        /// Peer that was asked.
        peer: PeerId,
        /// Time limit, seconds.
        timeout_s: u64,
    },
    /// The node's own archive has no page for the query.
    #[error(transparent)]
    Archive(#[from] HistoryError),
    /// The topic of the message or subscription is missing and cannot be derived, or is not the network's.
    #[error("{0}")]
    Topic(String),
    /// As many subscriptions as the node may have.
    #[error("already subscribed to {max} content topics; unsubscribe from one first")]
    TooManySubscriptions {
        /// Maximum number of content topics.
        max: usize,
    },
    /// The node is stopping or has stopped.
    #[error("the node is shutting down")]
    Stopped,
}

impl ServiceFailure {
    /// Translates the reason why the response of a peer's store was refused.
    pub(super) fn of_page(peer: PeerId, error: HistoryReadError) -> Self {
        match error {
            HistoryReadError::Refused {
                status,
                description,
            } => Self::Refused {
                status: status.code(),
                description: description.to_string(),
            },
            HistoryReadError::Busy { status } => Self::Refused {
                status: status.code(),
                description: String::new(),
            },
            error => Self::BadAnswer {
                peer,
                reason: error.to_string(),
            },
        }
    }
}

/// Request of the program to the services.
#[derive(Debug)]
pub(crate) enum ServiceCall {
    /// Page of history, from a peer, or from the own archive if no peer is named.
    Query {
        peer: Option<Multiaddr>,
        query: HistoryQuery,
        reply: oneshot::Sender<Result<StoreAnswer, ServiceFailure>>,
    },
    /// Request to a peer's store, whose response the caller reads.
    AskStore {
        peer: Multiaddr,
        request: StoreRequest,
        reply: oneshot::Sender<Result<RawStoreAnswer, ServiceFailure>>,
    },
    /// Publication through a peer's relay.
    Push {
        version: LightpushVersion,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
        reply: oneshot::Sender<Result<u32, ServiceFailure>>,
    },
    /// Subscription to content topics at a peer.
    Subscribe {
        pubsub_topic: Option<PubsubTopic>,
        content_topics: Vec<String>,
        reply: oneshot::Sender<Result<(), ServiceFailure>>,
    },
    /// Subscription to content topics that stays whether a filter peer is there or not.
    KeepSubscribed {
        pubsub_topic: Option<PubsubTopic>,
        content_topics: Vec<String>,
        since_ns: Option<i64>,
        reply: oneshot::Sender<Result<(), ServiceFailure>>,
    },
    /// End of such subscriptions.
    Unsubscribe {
        pubsub_topic: Option<PubsubTopic>,
        content_topics: Vec<String>,
        reply: oneshot::Sender<Result<(), ServiceFailure>>,
    },
    /// End of all subscriptions.
    UnsubscribeAll {
        reply: oneshot::Sender<Result<(), ServiceFailure>>,
    },
    /// Question to the filter peer whether subscriptions are alive.
    Ping {
        reply: oneshot::Sender<Result<(), ServiceFailure>>,
    },
    /// Content topics that this node is subscribed to at peers.
    Subscriptions {
        reply: oneshot::Sender<Vec<FilterCriterion>>,
    },
    /// Peers that are subscribed at this node.
    Subscribers {
        reply: oneshot::Sender<Option<Vec<FilterSubscriber>>>,
    },
    /// Totals of what peers asked for.
    Totals {
        reply: oneshot::Sender<ServiceTotals>,
    },
}

/// The services' end of the channel.
pub(crate) struct ServicesEndpoint {
    pub(crate) calls: mpsc::Receiver<ServiceCall>,
    /// Sinks for messages that filter peers push.
    pub(crate) pushed: Deliveries,
    pub(crate) sender: SenderEndpoint,
}

/// The program's end of the services' channel; clones talk to the same services.
#[derive(Clone)]
pub struct ServicesHandle {
    calls: mpsc::Sender<ServiceCall>,
    pushed: Deliveries,
    mounted: MountedServices,
    store: Option<StoreWatch>,
    light: Arc<Mutex<LightStatus>>,
    sender: SenderHandle,
    sync: Option<SyncHandle>,
}

/// Creates both ends of the services' channel.
pub(crate) fn services_channel(
    mounted: MountedServices,
    store: Option<StoreWatch>,
    light: Arc<Mutex<LightStatus>>,
) -> (ServicesHandle, ServicesEndpoint) {
    let (calls, receiver) = mpsc::channel(CALLS_MAX);
    let pushed = Deliveries::default();
    let (sender, sender_endpoint) = sender_channel();
    let handle = ServicesHandle {
        calls,
        pushed: pushed.clone(),
        mounted,
        store,
        light,
        sender,
        sync: None,
    };
    let endpoint = ServicesEndpoint {
        calls: receiver,
        pushed,
        sender: sender_endpoint,
    };
    (handle, endpoint)
}

impl ServicesHandle {
    /// Returns the services that this node serves.
    #[must_use]
    pub fn mounted(&self) -> MountedServices {
        self.mounted
    }

    /// Sets the handle to synchronisation.
    pub(super) fn set_sync(&mut self, sync: Option<SyncHandle>) {
        self.sync = sync;
    }

    /// Returns the handle to synchronisation; `None` for a node that does not synchronise its store.
    #[must_use]
    pub fn sync(&self) -> Option<&SyncHandle> {
        self.sync.as_ref()
    }

    /// Returns what became of messages that were to be kept; `None` for a node without a store.
    #[must_use]
    pub fn archive_counts(&self) -> Option<ArchiveCounts> {
        self.store.as_ref().map(|store| store.counts.counts())
    }

    /// Returns the reason why messages are not being kept; `None` if they are, or need not be.
    #[must_use]
    pub fn store_trouble(&self) -> Option<String> {
        self.store.as_ref().and_then(StoreWatch::trouble)
    }

    /// Returns a page of history: from `peer`, or without one from this node's archive, or if it has none
    /// from the stores that [`undertone_services::trust`] chooses.
    ///
    /// # Errors
    /// [`ServiceFailure`] if no store could answer.
    pub async fn query_store(
        &self,
        peer: Option<Multiaddr>,
        query: HistoryQuery,
    ) -> Result<StoreAnswer, ServiceFailure> {
        self.ask(|reply| ServiceCall::Query { peer, query, reply })
            .await?
    }

    /// Asks the store of `peer` for the next page of a walk through history; `None` if the walk has ended.
    ///
    /// After a failure the walk is where it was, and the page may be asked for again.
    ///
    /// # Errors
    /// [`ServiceFailure`] if the peer gave no page, or none that is true as far as can be seen.
    pub async fn read_history(
        &self,
        peer: &Multiaddr,
        reader: &mut HistoryReader,
    ) -> Result<Option<ReadPage>, ServiceFailure> {
        const REQUEST_ID: &str = "undertone-walk";
        let Some(request) = reader.request(REQUEST_ID) else {
            return Ok(None);
        };
        let peer = peer.clone();
        let answer = self
            .ask(|reply| ServiceCall::AskStore {
                peer,
                request,
                reply,
            })
            .await??;
        let page = reader.take(REQUEST_ID, &answer.bytes);
        page.map(Some)
            .map_err(|error| ServiceFailure::of_page(answer.peer, error))
    }

    /// Publishes a message through this node's relay, or if that cannot, through lightpush peers. Returns the number of
    /// peers that the relay sent it to.
    ///
    /// # Errors
    /// [`ServiceFailure::Refused`] with the protocol's status if the message was not published.
    pub async fn push(
        &self,
        version: LightpushVersion,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
    ) -> Result<u32, ServiceFailure> {
        self.ask(|reply| ServiceCall::Push {
            version,
            pubsub_topic,
            message,
            reply,
        })
        .await?
    }

    /// Returns the state of this node's subscriptions at filter peers.
    #[must_use]
    pub fn light_status(&self) -> LightStatus {
        self.light.lock().clone()
    }

    /// Subscribes to content topics at filter peers, and waits until one holds the subscription. From then on other
    /// filter peers take over as need be, and stores give what was missed.
    ///
    /// # Errors
    /// [`ServiceFailure`] if no filter peer accepted the subscription; then there is none, as when the
    /// caller stops waiting.
    pub async fn subscribe(
        &self,
        pubsub_topic: Option<PubsubTopic>,
        content_topics: Vec<String>,
    ) -> Result<(), ServiceFailure> {
        self.ask(|reply| ServiceCall::Subscribe {
            pubsub_topic,
            content_topics,
            reply,
        })
        .await?
    }

    /// Subscribes to content topics as [`Self::subscribe`], whether a filter peer is there or not: peers are tried until
    /// one is. Messages sent since `since_ns`, Unix nanoseconds, are fetched from stores; without it, those sent since a
    /// moment ago.
    ///
    /// # Errors
    /// [`ServiceFailure`] if a topic cannot be derived, or the node has as many subscriptions as it may.
    pub async fn keep_subscribed(
        &self,
        pubsub_topic: Option<PubsubTopic>,
        content_topics: Vec<String>,
        since_ns: Option<i64>,
    ) -> Result<(), ServiceFailure> {
        self.ask(|reply| ServiceCall::KeepSubscribed {
            pubsub_topic,
            content_topics,
            since_ns,
            reply,
        })
        .await?
    }

    /// Ends a subscription to content topics, and waits until no filter peer holds it. No messages are delivered any
    /// more from the call on.
    ///
    /// # Errors
    /// [`ServiceFailure`] if a topic cannot be derived, or the node has stopped.
    pub async fn unsubscribe(
        &self,
        pubsub_topic: Option<PubsubTopic>,
        content_topics: Vec<String>,
    ) -> Result<(), ServiceFailure> {
        self.ask(|reply| ServiceCall::Unsubscribe {
            pubsub_topic,
            content_topics,
            reply,
        })
        .await?
    }

    /// Ends all filter subscriptions.
    ///
    /// # Errors
    /// As [`Self::unsubscribe`].
    pub async fn unsubscribe_all(&self) -> Result<(), ServiceFailure> {
        self.ask(|reply| ServiceCall::UnsubscribeAll { reply })
            .await?
    }

    /// Asks the filter peer whether this node's subscriptions are alive.
    ///
    /// # Errors
    /// [`ServiceFailure::Refused`] with status 404 if the peer knows of none.
    pub async fn ping(&self) -> Result<(), ServiceFailure> {
        self.ask(|reply| ServiceCall::Ping { reply }).await?
    }

    /// Returns the filter subscriptions of this node at its peers.
    ///
    /// # Errors
    /// [`ServiceFailure::Stopped`] if the node has stopped.
    pub async fn subscriptions(&self) -> Result<Vec<FilterCriterion>, ServiceFailure> {
        self.ask(|reply| ServiceCall::Subscriptions { reply }).await
    }

    /// Returns the peers that are subscribed at this node; `None` if it does not serve filter.
    ///
    /// # Errors
    /// [`ServiceFailure::Stopped`] if the node has stopped.
    pub async fn subscribers(&self) -> Result<Option<Vec<FilterSubscriber>>, ServiceFailure> {
        self.ask(|reply| ServiceCall::Subscribers { reply }).await
    }

    /// Returns the totals of what peers asked of this node's services.
    ///
    /// # Errors
    /// [`ServiceFailure::Stopped`] if the node has stopped.
    pub async fn totals(&self) -> Result<ServiceTotals, ServiceFailure> {
        self.ask(|reply| ServiceCall::Totals { reply }).await
    }

    /// Returns the handle to send messages and to learn what becomes of them.
    #[must_use]
    pub fn sender(&self) -> &SenderHandle {
        &self.sender
    }

    /// Gives every later message of a filter subscription to `sink`, once, whether a filter peer pushes it or a store
    /// has it, until `sink` returns `false`.
    pub fn add_sink(&self, sink: Arc<dyn MessageSink>) {
        self.pushed.add(sink);
    }

    /// Returns a queue of later messages of filter subscriptions. Those that find `capacity` others in the queue are
    /// dropped, so that a slow reader does not block the node.
    pub fn messages(&self, capacity: usize) -> mpsc::Receiver<Delivery> {
        self.pushed.queue(capacity)
    }

    async fn ask<T>(
        &self,
        call: impl FnOnce(oneshot::Sender<T>) -> ServiceCall,
    ) -> Result<T, ServiceFailure> {
        let (reply, answer) = oneshot::channel();
        let sent = self.calls.send(call(reply)).await;
        sent.map_err(|_| ServiceFailure::Stopped)?;
        answer.await.map_err(|_| ServiceFailure::Stopped)
    }
}
