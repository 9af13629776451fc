//! Subscriptions of this node at filter peers, for nodes and topics that are not relayed.
//!
//! One peer at a time carries the subscriptions. It is asked every minute whether it still has them; one that
//! has not, or does not answer, is replaced by the next.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::{mpsc, oneshot};
use undertone_gossip::MessageId;
use undertone_message::PubsubTopic;
use undertone_services::filter::{
    self, FilterCodecLimits, FilterCriterion, MessagePush, SubscribeKind, SubscribeRequest,
    SubscribeResponse,
};

use super::ServiceFailure;
use super::client::{PeerClient, PeerService};
use super::recent::RecentHashes;
use crate::handle::{Deliveries, Delivery};

/// Longest answer, bytes; the description is the only long field.
const ANSWER_BYTES_MAX: usize = 4096;

/// Interval at which the subscriptions are confirmed. Servers forget them after five minutes.
const CONFIRMING: Duration = Duration::from_secs(60);

/// Most content topics subscribed to; a server keeps a thousand criteria of a peer.
const CRITERIA_MAX: usize = 1000;

/// Most content topics in one request (nwaku).
const TOPICS_PER_REQUEST: usize = 100;

const SERVICE: PeerService = PeerService {
    name: "filter",
    protocol: filter::SUBSCRIBE_PROTOCOL_ID,
    answer_bytes_max: ANSWER_BYTES_MAX,
};

/// Request to the task that keeps the subscriptions.
pub(super) enum FilterCall {
    Add(
        PubsubTopic,
        Vec<String>,
        oneshot::Sender<Result<(), ServiceFailure>>,
    ),
    Remove(
        PubsubTopic,
        Vec<String>,
        oneshot::Sender<Result<(), ServiceFailure>>,
    ),
    RemoveAll(oneshot::Sender<Result<(), ServiceFailure>>),
    Ping(oneshot::Sender<Result<(), ServiceFailure>>),
    List(oneshot::Sender<Vec<FilterCriterion>>),
    /// Frame that a peer pushed.
    Pushed(PeerId, Bytes),
}

/// Subscriptions of this node at filter peers.
pub(super) struct FilterClient {
    client: PeerClient,
    configured: Vec<Multiaddr>,
    sinks: Deliveries,
    criteria: BTreeSet<FilterCriterion>,
    /// Peer that carries the subscriptions.
    server: Option<Multiaddr>,
    recent: RecentHashes,
    limits: FilterCodecLimits,
    next_request: u64,
}

impl FilterClient {
    pub(super) fn new(client: PeerClient, configured: Vec<Multiaddr>, sinks: Deliveries) -> Self {
        Self {
            client,
            configured,
            sinks,
            criteria: BTreeSet::new(),
            server: None,
            recent: RecentHashes::default(),
            limits: FilterCodecLimits::default(),
            next_request: 0,
        }
    }

    /// Keeps the subscriptions until the node stops.
    pub(super) async fn run(mut self, mut calls: mpsc::Receiver<FilterCall>) {
        let mut confirming = tokio::time::interval(CONFIRMING);
        confirming.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                call = calls.recv() => match call {
                    Some(call) => self.on_call(call).await,
                    None => return,
                },
                _ = confirming.tick() => self.confirm().await,
            }
        }
    }

    async fn on_call(&mut self, call: FilterCall) {
        // A caller that no longer waits is not an error.
        match call {
            FilterCall::Add(topic, content_topics, reply) => {
                let _ = reply.send(self.add(&topic, content_topics).await);
            }
            FilterCall::Remove(topic, content_topics, reply) => {
                let _ = reply.send(self.remove(&topic, content_topics).await);
            }
            FilterCall::RemoveAll(reply) => {
                self.criteria.clear();
                let asked = self
                    .tell(SubscribeKind::UnsubscribeAll, None, Vec::new())
                    .await;
                self.server = None;
                let _ = reply.send(asked);
            }
            FilterCall::Ping(reply) => {
                let asked = self.tell(SubscribeKind::Ping, None, Vec::new()).await;
                let _ = reply.send(asked);
            }
            FilterCall::List(reply) => {
                let _ = reply.send(self.criteria.iter().cloned().collect());
            }
            FilterCall::Pushed(peer, frame) => self.on_push(peer, &frame),
        }
    }

    async fn add(
        &mut self,
        topic: &PubsubTopic,
        content_topics: Vec<String>,
    ) -> Result<(), ServiceFailure> {
        let added = criteria(topic, &content_topics);
        let new = added
            .iter()
            .filter(|one| !self.criteria.contains(one))
            .count();
        if self.criteria.len() + new > CRITERIA_MAX {
            return Err(ServiceFailure::TooManySubscriptions { max: CRITERIA_MAX });
        }
        let before = self.criteria.clone();
        self.criteria.extend(added.iter().cloned());
        let subscribed = match &self.server {
            Some(server) => self.subscribe(&server.clone(), &added).await,
            None => Err(ServiceFailure::NoPeer {
                service: SERVICE.name,
            }),
        };
        let subscribed = match subscribed {
            Ok(()) => Ok(()),
            Err(_) => self.move_on().await,
        };
        if subscribed.is_err() {
            self.criteria = before;
        }
        subscribed
    }

    async fn remove(
        &mut self,
        topic: &PubsubTopic,
        content_topics: Vec<String>,
    ) -> Result<(), ServiceFailure> {
        for criterion in criteria(topic, &content_topics) {
            self.criteria.remove(&criterion);
        }
        let topics = content_topics.into_iter().map(Arc::from).collect();
        let topic: Arc<str> = topic.to_string().into();
        self.tell(SubscribeKind::Unsubscribe, Some(topic), topics)
            .await
    }

    /// Sends a request about the subscriptions to the peer that carries them.
    async fn tell(
        &mut self,
        kind: SubscribeKind,
        pubsub_topic: Option<Arc<str>>,
        content_topics: Vec<Arc<str>>,
    ) -> Result<(), ServiceFailure> {
        let server = match &self.server {
            Some(server) => server.clone(),
            None => {
                let known = self.client.candidates(SERVICE, &self.configured).await?;
                let first = known.into_iter().next();
                first.ok_or(ServiceFailure::NoPeer {
                    service: SERVICE.name,
                })?
            }
        };
        self.ask(&server, kind, pubsub_topic, content_topics).await
    }

    async fn ask(
        &mut self,
        server: &Multiaddr,
        kind: SubscribeKind,
        pubsub_topic: Option<Arc<str>>,
        content_topics: Vec<Arc<str>>,
    ) -> Result<(), ServiceFailure> {
        self.next_request += 1;
        let request = SubscribeRequest {
            request_id: format!("undertone-{}", self.next_request),
            kind,
            pubsub_topic,
            content_topics,
        };
        let (peer, answer) = self.client.ask(server, SERVICE, &request.encode()).await?;
        let answer = SubscribeResponse::decode(&answer, &self.limits);
        let answer = answer.map_err(|error| ServiceFailure::BadAnswer {
            peer,
            reason: error.to_string(),
        })?;
        if answer.status.is_success() {
            return Ok(());
        }
        Err(ServiceFailure::Refused {
            status: answer.status.0,
            description: answer.status_desc.unwrap_or_default(),
        })
    }

    /// Subscribes to criteria at a peer, topic by topic and a bounded number at a time.
    async fn subscribe(
        &mut self,
        server: &Multiaddr,
        criteria: &[FilterCriterion],
    ) -> Result<(), ServiceFailure> {
        for alike in criteria.chunk_by(|a, b| a.pubsub_topic == b.pubsub_topic) {
            for few in alike.chunks(TOPICS_PER_REQUEST) {
                let topic = Some(Arc::clone(&few[0].pubsub_topic));
                let topics = few.iter().map(|one| Arc::clone(&one.content_topic));
                let topics = topics.collect();
                self.ask(server, SubscribeKind::Subscribe, topic, topics)
                    .await?;
            }
        }
        Ok(())
    }

    /// Subscribes to everything at the first peer that accepts it, the present one last.
    async fn move_on(&mut self) -> Result<(), ServiceFailure> {
        let mut known = self.client.candidates(SERVICE, &self.configured).await?;
        let present = self.server.take();
        known.sort_by_key(|address| Some(address) == present.as_ref());
        let criteria: Vec<_> = self.criteria.iter().cloned().collect();
        let mut failure = ServiceFailure::NoPeer {
            service: SERVICE.name,
        };
        for server in known {
            match self.subscribe(&server, &criteria).await {
                Ok(()) => {
                    self.server = Some(server);
                    return Ok(());
                }
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// Makes sure that a peer has the subscriptions.
    async fn confirm(&mut self) {
        if self.criteria.is_empty() {
            return;
        }
        if let Some(server) = self.server.clone()
            && self
                .ask(&server, SubscribeKind::Ping, None, Vec::new())
                .await
                .is_ok()
        {
            return;
        }
        if let Err(error) = self.move_on().await {
            tracing::warn!(%error, "no filter peer has this node's subscriptions; trying again in a minute");
        }
    }

    fn on_push(&mut self, peer: PeerId, frame: &Bytes) {
        let received = Instant::now();
        let is_server = self.server.as_ref().is_some_and(
            |server| matches!(server.iter().last(), Some(Protocol::P2p(id)) if id == peer),
        );
        let push = match MessagePush::decode(frame, &self.limits) {
            Ok(push) => push,
            Err(error) => {
                tracing::debug!(%peer, %error, "a pushed message cannot be read");
                return;
            }
        };
        let topic = push.pubsub_topic.unwrap_or_default();
        let criterion = FilterCriterion {
            pubsub_topic: topic.clone(),
            content_topic: push.message.content_topic.clone(),
        };
        let parsed = PubsubTopic::parse_any(&topic);
        let (Ok(pubsub_topic), true) = (parsed, self.criteria.contains(&criterion)) else {
            tracing::debug!(%peer, is_server, "dropping a pushed message that nobody subscribed to");
            return;
        };
        let delivery = Delivery {
            pubsub_topic,
            id: MessageId::of(&push.message.encode()),
            message: push.message,
            from: Some(peer),
            received,
            validated: Instant::now(),
        };
        if self.recent.is_new(delivery.hash()) {
            self.sinks.deliver(&delivery);
        }
    }
}

fn criteria(topic: &PubsubTopic, content_topics: &[String]) -> Vec<FilterCriterion> {
    let pubsub_topic: Arc<str> = topic.to_string().into();
    let each = content_topics.iter().map(|content_topic| FilterCriterion {
        pubsub_topic: Arc::clone(&pubsub_topic),
        content_topic: content_topic.as_str().into(),
    });
    each.collect()
}
