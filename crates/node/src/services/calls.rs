//! Calls of the program to the services: each one runs as a task of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use libp2p::Multiaddr;
use tokio::sync::{mpsc, oneshot};
use undertone_archive::{Archive, QueryError};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::history::{HistoryError, HistoryQuery};
use undertone_services::sharding::Sharding;

use super::client::PeerClient;
use super::filter_client::FilterCall;
use super::handle::{MountedServices, RawStoreAnswer, ServiceCall};
use super::host::HostCall;
use super::{LightpushVersion, ServiceFailure, StoreAnswer, push_client, query_client};
use crate::command::PublishFailure;
use crate::handle::NodeHandle;

/// Everything that calls need; clones share it.
#[derive(Clone)]
pub(super) struct Callee {
    pub(super) client: PeerClient,
    pub(super) node: NodeHandle,
    pub(super) archive: Option<Archive>,
    pub(super) filter: mpsc::Sender<FilterCall>,
    pub(super) host: mpsc::Sender<HostCall>,
    pub(super) mounted: MountedServices,
    pub(super) sharding: Sharding,
    pub(super) store_peers: Arc<[Multiaddr]>,
    pub(super) lightpush_peers: Arc<[Multiaddr]>,
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
        // A caller that no longer waits is not an error.
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
                let each = self.by_topic(pubsub_topic, content_topics);
                let _ = reply.send(self.each(each, FilterCall::Add).await);
            }
            ServiceCall::Unsubscribe {
                pubsub_topic,
                content_topics,
                reply,
            } => {
                let each = self.by_topic(pubsub_topic, content_topics);
                let _ = reply.send(self.each(each, FilterCall::Remove).await);
            }
            ServiceCall::UnsubscribeAll { reply } => {
                let _ = reply.send(self.ask_filter(FilterCall::RemoveAll).await);
            }
            ServiceCall::Ping { reply } => {
                let _ = reply.send(self.ask_filter(FilterCall::Ping).await);
            }
            ServiceCall::Subscriptions { reply } => {
                let _ = self.filter.send(FilterCall::List(reply)).await;
            }
            ServiceCall::Subscribers { reply } => {
                let _ = self.host.send(HostCall::Subscribers(reply)).await;
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
        let addresses = match (peer, &self.archive) {
            (Some(peer), _) => vec![peer],
            (None, Some(archive)) => {
                let page = archive.query(query.clone()).await;
                return Ok(StoreAnswer {
                    request_id: String::new(),
                    page: page.map_err(history_error)?,
                });
            }
            (None, None) => {
                let service = query_client::service();
                self.client.candidates(service, &self.store_peers).await?
            }
        };
        let request_id = self.request_id();
        query_client::query(&self.client, &addresses, query, &request_id).await
    }

    async fn push(
        &self,
        version: LightpushVersion,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
    ) -> Result<u32, ServiceFailure> {
        let topic = self.topic(pubsub_topic, &message.content_topic)?;
        let service = push_client::service(version);
        let known = self.client.candidates(service, &self.lightpush_peers).await;
        match known {
            Ok(known) => {
                let id = self.request_id();
                push_client::push(&self.client, &known, version, &topic, &message, &id).await
            }
            Err(ServiceFailure::NoPeer { .. }) if self.mounted.lightpush => {
                let published = self.node.publish(topic, message).await;
                let published = published.map_err(|error| ServiceFailure::Refused {
                    status: status_of(&error),
                    description: error.to_string(),
                })?;
                Ok(u32::try_from(published.peers).unwrap_or(u32::MAX))
            }
            Err(error) => Err(error),
        }
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

    /// Groups content topics by the topic that carries them.
    fn by_topic(
        &self,
        given: Option<PubsubTopic>,
        content_topics: Vec<String>,
    ) -> Result<Vec<(PubsubTopic, Vec<String>)>, ServiceFailure> {
        let mut groups: Vec<(PubsubTopic, Vec<String>)> = Vec::new();
        for content_topic in content_topics {
            let topic = self.topic(given.clone(), &content_topic)?;
            match groups.iter_mut().find(|(known, _)| *known == topic) {
                Some((_, topics)) => topics.push(content_topic),
                None => groups.push((topic, vec![content_topic])),
            }
        }
        Ok(groups)
    }

    async fn each(
        &self,
        groups: Result<Vec<(PubsubTopic, Vec<String>)>, ServiceFailure>,
        call: impl Fn(
            PubsubTopic,
            Vec<String>,
            oneshot::Sender<Result<(), ServiceFailure>>,
        ) -> FilterCall,
    ) -> Result<(), ServiceFailure> {
        for (topic, content_topics) in groups? {
            self.ask_filter(|reply| call(topic, content_topics, reply))
                .await?;
        }
        Ok(())
    }

    async fn ask_filter(
        &self,
        call: impl FnOnce(oneshot::Sender<Result<(), ServiceFailure>>) -> FilterCall,
    ) -> Result<(), ServiceFailure> {
        let (reply, answer) = oneshot::channel();
        let sent = self.filter.send(call(reply)).await;
        sent.map_err(|_| ServiceFailure::Stopped)?;
        answer.await.map_err(|_| ServiceFailure::Stopped)?
    }
}

/// Error of the archive as a reader of history sees it; the cause is logged.
pub(super) fn history_error(error: QueryError) -> HistoryError {
    if let QueryError::Archive(cause) = &error {
        tracing::warn!(error = %cause, "the archive cannot be read");
    }
    error.into()
}

/// Lightpush status of a publication that failed.
fn status_of(failure: &PublishFailure) -> u32 {
    use undertone_services::lightpush::LightpushStatus;
    let status = match failure {
        PublishFailure::NotSubscribed { .. } => LightpushStatus::UNSUPPORTED_PUBSUB_TOPIC,
        PublishFailure::TooLarge { .. } => LightpushStatus::PAYLOAD_TOO_LARGE,
        PublishFailure::InvalidMessage { .. }
        | PublishFailure::InvalidProof { .. }
        | PublishFailure::Duplicate => LightpushStatus::INVALID_MESSAGE,
        PublishFailure::RlnProof { .. } | PublishFailure::RateLimit { .. } => {
            LightpushStatus::OUT_OF_RLN_PROOF
        }
        PublishFailure::NoPeers => LightpushStatus::NO_PEERS_TO_RELAY,
        PublishFailure::Timeout => LightpushStatus::INTERNAL_SERVER_ERROR,
        PublishFailure::ShuttingDown => LightpushStatus::SERVICE_NOT_AVAILABLE,
    };
    status.0
}
