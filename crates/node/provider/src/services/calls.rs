//! Calls of the program to other nodes, or to this node's archive and relay.

use std::sync::{Arc, Weak};
use undertone_network::handle::Stopped;

use bytes::Bytes;
use libp2p::{Multiaddr, PeerId};
use parking_lot::Mutex;
use undertone_archive::{Archive, QueryError};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::history::{HistoryError, HistoryQuery};
use undertone_services::sharding::Sharding;
use undertone_services::store::StoreRequest;

use super::client::PeerClient;
use super::handle::{AskServices, FilterSubscriber, MountedServices, ServiceAnswer, topic_of};
use super::host::HostDriver;
use super::push_client::PushRequest;
use super::push_order::PushOrder;
use super::push_prover::PushProver;
use super::service_peers::Candidate;
use super::totals::ServiceTotals;
use super::{LightpushVersion, ServiceFailure, StoreAnswer, push_client, query_client, request_id};
use undertone_network::command::PublishFailure;
use undertone_network::handle::NodeHandle;

/// Everything that these calls need.
pub(super) struct Callee {
    pub(super) client: PeerClient,
    pub(super) node: NodeHandle,
    pub(super) archive: Option<Archive>,
    pub(super) host: Weak<Mutex<HostDriver>>,
    pub(super) mounted: MountedServices,
    /// Whether the node relays, and therefore publishes by itself.
    pub(super) is_relay: bool,
    pub(super) sharding: Sharding,
    pub(super) store_peers: Arc<[Multiaddr]>,
    pub(super) lightpush_peers: Vec<Multiaddr>,
    pub(super) push_order: PushOrder,
    /// Prover of messages published through peers. Present only on a node without relay that has an identity.
    pub(super) prover: Option<PushProver>,
}

impl AskServices for Callee {
    fn query(
        self: Arc<Self>,
        peer: Option<Multiaddr>,
        query: HistoryQuery,
    ) -> ServiceAnswer<StoreAnswer> {
        Box::pin(async move { self.page(peer, &query).await })
    }

    fn ask_store(
        self: Arc<Self>,
        peer: Multiaddr,
        request: StoreRequest,
    ) -> ServiceAnswer<(PeerId, Bytes)> {
        let service = query_client::service();
        Box::pin(async move { self.client.ask(&peer, service, &request.encode()).await })
    }

    fn push(
        self: Arc<Self>,
        version: LightpushVersion,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
    ) -> ServiceAnswer<u32> {
        Box::pin(async move { self.publish(version, pubsub_topic, message).await })
    }

    fn subscribers(&self) -> Result<Option<Vec<FilterSubscriber>>, ServiceFailure> {
        Ok(self.host()?.lock().subscribers())
    }

    fn totals(&self) -> Result<ServiceTotals, ServiceFailure> {
        Ok(self.host()?.lock().totals())
    }
}

impl Callee {
    /// Returns the host while its task runs.
    fn host(&self) -> Result<Arc<Mutex<HostDriver>>, ServiceFailure> {
        self.host.upgrade().ok_or(ServiceFailure::Stopped(Stopped))
    }

    async fn page(
        &self,
        peer: Option<Multiaddr>,
        query: &HistoryQuery,
    ) -> Result<StoreAnswer, ServiceFailure> {
        let stores = match (peer, &self.archive) {
            (Some(peer), _) => {
                let request_id = request_id::random();
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
        let request_id = request_id::random();
        query_client::query(&self.client, stores, query, &request_id).await
    }

    async fn publish(
        &self,
        version: LightpushVersion,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
    ) -> Result<u32, ServiceFailure> {
        let topic = topic_of(self.sharding, pubsub_topic, &message.content_topic)?;
        if self.is_relay {
            // Its own mesh comes first: a single peer cannot lie about it.
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
            request_id: &request_id::random(),
        };
        push_client::push(&self.client, peers, &self.push_order, &request).await
    }
}

/// Converts an error of the archive for readers of history; logs the cause.
pub(super) fn history_error(error: QueryError) -> HistoryError {
    if let QueryError::Archive(cause) = &error {
        tracing::warn!(error = %cause, "the archive cannot be read");
    }
    error.into()
}

/// Whether lightpush peers may publish a message that this node's relay could not.
fn can_others_publish(failure: &PublishFailure) -> bool {
    matches!(
        failure,
        PublishFailure::NotSubscribed { .. }
            | PublishFailure::NotRelaying
            | PublishFailure::NoPeers
            | PublishFailure::RlnProof { .. }
    )
}

/// Returns the failure for a message that this node's relay refused.
fn refused(failure: &PublishFailure) -> ServiceFailure {
    ServiceFailure::Refused {
        status: status_of(failure),
        description: failure.to_string(),
    }
}

/// Returns the lightpush status of a failed publication.
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
        | PublishFailure::Stopped(Stopped)
        | PublishFailure::Bandwidth { .. } => LightpushStatus::SERVICE_NOT_AVAILABLE,
    };
    status.0
}
