//! Calls of the program to the services: each one runs as a task of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use libp2p::Multiaddr;
use tokio::sync::{mpsc, oneshot};
use undertone_archive::{Archive, QueryError};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::filter::FilterCriterion;
use undertone_services::history::{HistoryError, HistoryQuery};
use undertone_services::sharding::Sharding;

use super::client::PeerClient;
use super::handle::{MountedServices, RawStoreAnswer, ServiceCall};
use super::host::HostCall;
use super::light_driver::LightCall;
use super::push_client::PushRequest;
use super::push_order::PushOrder;
use super::push_prover::PushProver;
use super::service_peers::Candidate;
use super::{LightpushVersion, ServiceFailure, StoreAnswer, push_client, query_client};
use crate::command::PublishFailure;
use crate::handle::NodeHandle;

/// Everything that calls need; clones share it.
#[derive(Clone)]
pub(super) struct Callee {
    pub(super) client: PeerClient,
    pub(super) node: NodeHandle,
    pub(super) archive: Option<Archive>,
    pub(super) light: mpsc::Sender<LightCall>,
    pub(super) host: mpsc::Sender<HostCall>,
    pub(super) mounted: MountedServices,
    /// Whether the node relays, and so publishes by itself.
    pub(super) is_relay: bool,
    pub(super) sharding: Sharding,
    pub(super) store_peers: Arc<[Multiaddr]>,
    pub(super) lightpush_peers: Arc<[Multiaddr]>,
    pub(super) push_order: PushOrder,
    /// Prover of messages that leave through peers; only on a node without relay that has an identity.
    pub(super) prover: Option<PushProver>,
    pub(super) next_request: Arc<AtomicU64>,
}

/// Takes calls until every handle is dropped.
pub(super) async fn run(callee: Callee, mut calls: mpsc::Receiver<ServiceCall>) {
    while let Some(call) = calls.recv().await {
        tokio::spawn(callee.clone().answer(call));
    }
}

impl Callee {
    async fn answer(self, call: ServiceCall) {
        // A caller that no longer waits is not an error. One whose reply is dropped learns that the node stops.
        match call {
            ServiceCall::Query { peer, query, reply } => {
                let _ = reply.send(self.query(peer, &query).await);
            }
            ServiceCall::AskStore {
                peer,
                request,
                reply,
            } => {
                let service = query_client::service();
                let asked = self.client.ask(&peer, service, &request.encode()).await;
                let _ = reply.send(asked.map(|(peer, bytes)| RawStoreAnswer { peer, bytes }));
            }
            ServiceCall::Push {
                version,
                pubsub_topic,
                message,
                reply,
            } => {
                let _ = reply.send(self.push(version, pubsub_topic, message).await);
            }
            ServiceCall::Subscribe {
                pubsub_topic,
                content_topics,
                reply,
            } => {
                let criteria = self.criteria(pubsub_topic, content_topics);
                self.ask_light(criteria, reply, LightCall::Subscribe).await;
            }
            ServiceCall::KeepSubscribed {
                pubsub_topic,
                content_topics,
                since_ns,
                reply,
            } => {
                let criteria = self.criteria(pubsub_topic, content_topics);
                let keep = |criteria, reply| LightCall::Keep(criteria, since_ns, reply);
                self.ask_light(criteria, reply, keep).await;
            }
            ServiceCall::Unsubscribe {
                pubsub_topic,
                content_topics,
                reply,
            } => {
                let criteria = self.criteria(pubsub_topic, content_topics);
                self.ask_light(criteria, reply, LightCall::Unsubscribe)
                    .await;
            }
            ServiceCall::UnsubscribeAll { reply } => {
                let _ = self.light.send(LightCall::UnsubscribeAll(reply)).await;
            }
            ServiceCall::Ping { reply } => {
                let _ = self.light.send(LightCall::Ping(reply)).await;
            }
            ServiceCall::Subscriptions { reply } => {
                let _ = self.light.send(LightCall::List(reply)).await;
            }
            ServiceCall::Subscribers { reply } => {
                let _ = self.host.send(HostCall::Subscribers(reply)).await;
            }
            ServiceCall::Totals { reply } => {
                let _ = self.host.send(HostCall::Totals(reply)).await;
            }
        }
    }

    fn request_id(&self) -> String {
        let number = self.next_request.fetch_add(1, Ordering::Relaxed);
        format!("undertone-{number}")
    }

    async fn query(
        &self,
        peer: Option<Multiaddr>,
        query: &HistoryQuery,
    ) -> Result<StoreAnswer, ServiceFailure> {
        let stores = match (peer, &self.archive) {
            (Some(peer), _) => {
                let request_id = self.request_id();
                return query_client::query_one(&self.client, &peer, query, &request_id).await;
            }
            (None, Some(archive)) => {
                let page = archive.query(query.clone()).await;
                return Ok(StoreAnswer {
                    request_id: String::new(),
                    page: page.map_err(history_error)?,
                });
            }
            (None, None) => {
                let service = query_client::service();
                self.client.candidates(service, &self.store_peers)?
            }
        };
        let request_id = self.request_id();
        query_client::query(&self.client, stores, query, &request_id).await
    }

    async fn push(
        &self,
        version: LightpushVersion,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
    ) -> Result<u32, ServiceFailure> {
        let topic = self.topic(pubsub_topic, &message.content_topic)?;
        if self.is_relay {
            // Its own mesh is not to be lied to by one peer.
            match self.node.publish(topic.clone(), message.clone()).await {
                Ok(published) => return Ok(u32::try_from(published.peers).unwrap_or(u32::MAX)),
                Err(error) if !can_others_publish(&error) => return Err(refused(&error)),
                Err(error) => {
                    let service = push_client::service(version);
                    return match self.client.candidates(service, &self.lightpush_peers) {
                        Ok(peers) => self.push_through(version, peers, &topic, &message).await,
                        Err(ServiceFailure::NoPeer { .. }) if self.mounted.lightpush => {
                            Err(refused(&error))
                        }
                        Err(failure) => Err(failure),
                    };
                }
            }
        }
        let service = push_client::service(version);
        let peers = self.client.candidates(service, &self.lightpush_peers)?;
        let message = match &self.prover {
            Some(prover) => prover.proved(&topic, message).await?,
            None => message,
        };
        self.push_through(version, peers, &topic, &message).await
    }

    /// Publishes a message through the relays of lightpush peers.
    async fn push_through(
        &self,
        version: LightpushVersion,
        peers: Vec<Candidate>,
        topic: &PubsubTopic,
        message: &WakuMessage,
    ) -> Result<u32, ServiceFailure> {
        let request = PushRequest {
            version,
            pubsub_topic: &topic.to_string().into(),
            message,
            request_id: &self.request_id(),
        };
        push_client::push(&self.client, peers, &self.push_order, &request).await
    }

    /// Returns the topic that was given, or the one that carries the content topic.
    fn topic(
        &self,
        given: Option<PubsubTopic>,
        content_topic: &str,
    ) -> Result<PubsubTopic, ServiceFailure> {
        if let Some(given) = given {
            return Ok(given);
        }
        let failure = |error: &dyn std::error::Error| ServiceFailure::Topic(error.to_string());
        let topic = self.sharding.derive(content_topic);
        let topic = topic.map_err(|error| failure(&error))?;
        PubsubTopic::parse_any(&topic).map_err(|error| failure(&error))
    }

    /// Returns content topics, each with the topic that carries it.
    fn criteria(
        &self,
        given: Option<PubsubTopic>,
        content_topics: Vec<String>,
    ) -> Result<Vec<FilterCriterion>, ServiceFailure> {
        let each = content_topics.into_iter().map(|content_topic| {
            let topic = self.topic(given.clone(), &content_topic)?;
            Ok(FilterCriterion {
                pubsub_topic: topic.to_string().into(),
                content_topic: content_topic.into(),
            })
        });
        each.collect()
    }

    async fn ask_light(
        &self,
        criteria: Result<Vec<FilterCriterion>, ServiceFailure>,
        reply: oneshot::Sender<Result<(), ServiceFailure>>,
        call: impl FnOnce(
            Vec<FilterCriterion>,
            oneshot::Sender<Result<(), ServiceFailure>>,
        ) -> LightCall,
    ) {
        match criteria {
            Ok(criteria) => {
                let _ = self.light.send(call(criteria, reply)).await;
            }
            Err(failure) => {
                let _ = reply.send(Err(failure));
            }
        }
    }
}

/// Error of the archive as a reader of history sees it; the cause is logged.
pub(super) fn history_error(error: QueryError) -> HistoryError {
    if let QueryError::Archive(cause) = &error {
        tracing::warn!(error = %cause, "the archive cannot be read");
    }
    error.into()
}

/// Whether lightpush peers may publish what this node's relay could not.
fn can_others_publish(failure: &PublishFailure) -> bool {
    matches!(
        failure,
        PublishFailure::NotSubscribed { .. }
            | PublishFailure::NotRelaying
            | PublishFailure::NoPeers
            | PublishFailure::RlnProof { .. }
    )
}

/// Refusal of a message by this node's relay.
fn refused(failure: &PublishFailure) -> ServiceFailure {
    ServiceFailure::Refused {
        status: status_of(failure),
        description: failure.to_string(),
    }
}

/// Lightpush status of a publication that failed.
fn status_of(failure: &PublishFailure) -> u32 {
    use undertone_services::lightpush::LightpushStatus;
    let status = match failure {
        PublishFailure::NotSubscribed { .. } | PublishFailure::NotRelaying => {
            LightpushStatus::UNSUPPORTED_PUBSUB_TOPIC
        }
        PublishFailure::TooLarge { .. } => LightpushStatus::PAYLOAD_TOO_LARGE,
        PublishFailure::InvalidMessage { .. }
        | PublishFailure::InvalidProof { .. }
        | PublishFailure::Duplicate => LightpushStatus::INVALID_MESSAGE,
        PublishFailure::RlnProof { .. } | PublishFailure::RateLimit { .. } => {
            LightpushStatus::OUT_OF_RLN_PROOF
        }
        PublishFailure::NoPeers => LightpushStatus::NO_PEERS_TO_RELAY,
        PublishFailure::Timeout => LightpushStatus::INTERNAL_SERVER_ERROR,
        PublishFailure::Busy { .. }
        | PublishFailure::ShuttingDown
        | PublishFailure::Bandwidth { .. } => LightpushStatus::SERVICE_NOT_AVAILABLE,
    };
    status.0
}
