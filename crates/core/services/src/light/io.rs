//! Inputs and outputs of the light client.

use std::sync::Arc;
use std::time::Duration;

use undertone_message::{MessageHash, WakuMessage};

use crate::filter::{SubscribeKind, SubscribeRequest};
use crate::history::{HistoryPage, HistoryQuery};
use crate::trust::{Network, Standing, Witness};
use crate::{PeerNo, RequestNo};

/// Services that a peer offers to light clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Services {
    /// The peer pushes messages by content topic (filter).
    pub filter: bool,
    /// The peer publishes messages on behalf of others (lightpush).
    pub lightpush: bool,
    /// The peer answers queries for messages of the past (store).
    pub store: bool,
}

/// Peer that offers services, as found by discovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicePeer {
    /// Number that the driver gave the peer.
    pub peer: PeerNo,
    /// Services that the peer offers.
    pub services: Services,
    /// Pubsub topics that the peer serves; `None` if unknown, which counts as all.
    pub pubsub_topics: Option<Vec<Arc<str>>>,
    /// Whether the operator configured the peer as a source of messages. It is then asked for all topics, since its
    /// known topics may be out of date.
    pub filters_all: bool,
    /// Standing of the peer.
    pub standing: Standing,
    /// Network that the peer is connected from, as in [`Witness::network`].
    pub network: Option<Network>,
}

impl ServicePeer {
    /// Returns the peer as a witness.
    pub fn witness(&self) -> Witness {
        Witness {
            peer: self.peer,
            standing: self.standing,
            network: self.network,
        }
    }
}

/// Failure of a request to a service peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServicePeerFailure {
    /// The stream broke, or the answer could not be decoded.
    NoAnswer,
    /// The peer has no subscription of this client (404).
    NoSubscription,
    /// The peer is overloaded or limits the rate (429, 503).
    Busy {
        /// Retry delay that the peer requests, if it named one.
        retry_after: Option<Duration>,
    },
    /// The peer permanently refuses the request (400 and others).
    Refused,
}

/// Request of a light client to a filter peer (filter v2, `FilterSubscribeRequest`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LightFilterRequest {
    /// Asks whether the peer still has subscriptions of this client.
    Ping,
    /// Adds content topics of a pubsub topic to the subscriptions.
    Subscribe {
        /// Pubsub topic of the messages.
        pubsub_topic: Arc<str>,
        /// Content topics to add.
        content_topics: Vec<Arc<str>>,
    },
    /// Removes content topics of a pubsub topic from the subscriptions.
    Unsubscribe {
        /// Pubsub topic of the messages.
        pubsub_topic: Arc<str>,
        /// Content topics to remove.
        content_topics: Vec<Arc<str>>,
    },
    /// Removes every subscription.
    UnsubscribeAll,
}

impl LightFilterRequest {
    /// Returns the request as a frame of filter v2 with the request id, which the answer echoes.
    #[must_use]
    pub fn into_frame(self, request_id: String) -> SubscribeRequest {
        let (kind, pubsub_topic, content_topics) = match self {
            Self::Ping => (SubscribeKind::Ping, None, Vec::new()),
            Self::UnsubscribeAll => (SubscribeKind::UnsubscribeAll, None, Vec::new()),
            Self::Subscribe {
                pubsub_topic,
                content_topics,
            } => (SubscribeKind::Subscribe, Some(pubsub_topic), content_topics),
            Self::Unsubscribe {
                pubsub_topic,
                content_topics,
            } => (
                SubscribeKind::Unsubscribe,
                Some(pubsub_topic),
                content_topics,
            ),
        };
        SubscribeRequest {
            request_id,
            kind,
            pubsub_topic,
            content_topics,
        }
    }
}

/// Event that the driver reports to the light client, or a command for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// Discovery found a service peer, or learned more about one.
    PeerFound(ServicePeer),
    /// Discovery dropped a peer; the client forgets it.
    PeerLost(PeerNo),
    /// A peer is connected now.
    Connected(PeerNo),
    /// A peer is disconnected now.
    Disconnected(PeerNo),
    /// A connection that [`Output::Connect`] asked for could not be made.
    ConnectFailed(PeerNo),
    /// The application wants messages of these content topics.
    Subscribe {
        /// Pubsub topic of the messages.
        pubsub_topic: Arc<str>,
        /// Content topics to add.
        content_topics: Vec<Arc<str>>,
        /// Time from which messages are wanted, Unix nanoseconds; `None` for
        /// [`LightConfig::subscribe_lookback`](super::LightConfig::subscribe_lookback) before now.
        since_ns: Option<i64>,
    },
    /// The application no longer wants messages of these content topics.
    Unsubscribe {
        /// Pubsub topic of the messages.
        pubsub_topic: Arc<str>,
        /// Content topics to remove.
        content_topics: Vec<Arc<str>>,
    },
    /// Answer to an [`Output::Filter`].
    FilterAnswer {
        /// Number of the request.
        request: RequestNo,
        /// Success (200), or the reason of the failure.
        answer: Result<(), ServicePeerFailure>,
    },
    /// Answer to an [`Output::History`].
    HistoryAnswer {
        /// Number of the request.
        request: RequestNo,
        /// The page, or the reason of the failure.
        answer: Result<HistoryPage, ServicePeerFailure>,
    },
    /// A peer pushed a message (filter v2, `MessagePush`).
    Pushed {
        /// Peer that pushed the message.
        peer: PeerNo,
        /// Pubsub topic that the peer named.
        pubsub_topic: Arc<str>,
        /// Message that the peer pushed.
        message: WakuMessage,
    },
    /// The wall clock was set or corrected, also after the machine slept with its clock stopped.
    ClockSet {
        /// Wall time at [`Time::ZERO`](undertone_gossip::Time::ZERO), Unix nanoseconds.
        unix_ns_at_zero: u64,
    },
    /// Time has passed: run the timers that are due.
    Tick,
}

/// How a message reached the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOrigin {
    /// A filter peer pushed the message.
    Filter(PeerNo),
    /// A store peer had the message, and no filter peer had pushed it before.
    Store(PeerNo),
}

/// Message delivered to the application, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LightDelivery {
    /// Deterministic hash of topic and message (RFC 14).
    pub hash: MessageHash,
    /// Topic that the message was published on.
    pub pubsub_topic: Arc<str>,
    /// The message. Its rate-limit proof is not verified here, and stores may have removed it.
    pub message: WakuMessage,
    /// How the message arrived.
    pub origin: DeliveryOrigin,
}

/// Protocol violation by a service peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offence {
    /// The peer pushed a message outside every subscription ever requested from it.
    UnaskedPush,
    /// The peer pushed nothing while other peers pushed messages, or stores had them.
    Asleep,
    /// The store listed hashes of messages that it does not return.
    HollowListing,
    /// The store's page does not answer the query: it has messages that were not asked for, or pages never end.
    WrongPage,
}

/// Reason why content topics were not subscribed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LightSubscribeError {
    /// The client would hold more subscriptions than
    /// [`LightLimits::max_subscriptions`](super::LightLimits::max_subscriptions).
    #[error("more than {max} subscriptions")]
    TooMany {
        /// Maximum number of subscriptions.
        max: usize,
    },
    /// A topic is longer than
    /// [`LightLimits::max_topic_bytes`](super::LightLimits::max_topic_bytes).
    #[error("a topic of more than {max} bytes")]
    TopicTooLong {
        /// Maximum length of a topic, in bytes.
        max: usize,
    },
}

/// Action for the driver, or event for the application.
///
/// The enum is exhaustive on purpose: a driver that overlooks a new action is wrong, so it must not compile.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Connect to a peer; answer with [`Input::Connected`] or [`Input::ConnectFailed`].
    Connect(PeerNo),
    /// Send a request to a filter peer; answer with [`Input::FilterAnswer`].
    Filter {
        /// Peer to ask.
        peer: PeerNo,
        /// Number of the request, repeated in the answer.
        request: RequestNo,
        /// Body of the filter request.
        body: LightFilterRequest,
    },
    /// Send a query to a store peer; answer with [`Input::HistoryAnswer`].
    History {
        /// Peer to ask.
        peer: PeerNo,
        /// Number of the request, repeated in the answer.
        request: RequestNo,
        /// Query for the store peer.
        query: HistoryQuery,
    },
    /// Give a message to the application.
    Deliver(LightDelivery),
    /// None of a command's content topics were subscribed.
    SubscribeRefused {
        /// Pubsub topic of the command.
        pubsub_topic: Arc<str>,
        /// Reason of the refusal.
        reason: LightSubscribeError,
    },
    /// The number of filter peers that hold all subscriptions of a pubsub topic changed.
    Health {
        /// Pubsub topic of the subscriptions.
        pubsub_topic: Arc<str>,
        /// Filter peers that hold all its subscriptions.
        filter_peers: usize,
    },
    /// Part of history that no store has confirmed can no longer be compared with the delivered messages, because the
    /// memory of delivered hashes is full. Messages of that time may be lost.
    Unchecked {
        /// Pubsub topic of the messages.
        pubsub_topic: Arc<str>,
        /// Start of the uncompared time, Unix nanoseconds.
        from_ns: i64,
        /// Time from which history is compared again, Unix nanoseconds.
        until_ns: i64,
    },
    /// A service peer violated a protocol; the client avoids it for a while.
    Misbehaved {
        /// Peer that broke the protocol.
        peer: PeerNo,
        /// Offence that the peer committed.
        offence: Offence,
    },
    /// The client holds no state for a peer any more: its number may be reassigned.
    Forgotten(PeerNo),
}
