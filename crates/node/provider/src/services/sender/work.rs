//! Slow operations requested by the sender's machine: proofs, publications and requests to peers.

use std::sync::Arc;
use undertone_network::handle::Stopped;

use bytes::Bytes;
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use undertone_archive::Archive;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::RequestNo;
use undertone_services::history::{HistoryPage, HistoryQuery};
use undertone_services::light::ServicePeerFailure;
use undertone_services::lightpush::{LightpushStatus, PushVersion};
use undertone_services::sending::{PushFailure, RelayFailure, SendId, refused_push};

use crate::services::client::PeerClient;
use crate::services::{LightpushVersion, ServiceFailure, push_client, query_client, request_id};
use undertone_network::command::{ProofRefusal, PublishFailure, SenderQuestion};
use undertone_network::handle::NodeHandle;

#[cfg(test)]
#[path = "tests/work.rs"]
mod tests;

/// Result of a background operation of the sender.
#[derive(Debug)]
pub(super) enum SenderDone {
    Proved {
        id: SendId,
        attempt: u32,
        result: Result<Bytes, ProofRefusal>,
    },
    ProofChecked {
        id: SendId,
        is_good: bool,
    },
    Relayed {
        id: SendId,
        result: Result<usize, RelayFailure>,
    },
    Pushed {
        request: RequestNo,
        answer: Result<Option<u32>, PushFailure>,
    },
    History {
        request: RequestNo,
        answer: Result<HistoryPage, ServicePeerFailure>,
    },
}

/// Everything that these operations need; clones share it.
#[derive(Clone)]
pub(in crate::services) struct SenderWork {
    pub(in crate::services) node: NodeHandle,
    pub(in crate::services) client: PeerClient,
    pub(in crate::services) archive: Option<Archive>,
}

impl SenderWork {
    pub(super) async fn prove(
        &self,
        pubsub_topic: &str,
        message: WakuMessage,
    ) -> Result<Bytes, ProofRefusal> {
        let pubsub_topic = parsed(pubsub_topic).ok_or_else(unknown_topic)?;
        let asked = self.node.sender(|reply| SenderQuestion::Prove {
            pubsub_topic,
            message,
            reply,
        });
        let stopped = |_| ProofRefusal::NotReady {
            reason: "the node is shutting down".to_owned(),
        };
        asked.await.map_err(stopped)?
    }

    pub(super) async fn is_proof_good(&self, message: WakuMessage) -> bool {
        let asked = self
            .node
            .sender(|reply| SenderQuestion::IsProofGood { message, reply });
        asked.await.unwrap_or(true)
    }

    pub(super) async fn relay(
        &self,
        pubsub_topic: &str,
        message: WakuMessage,
        is_delivered: bool,
    ) -> Result<usize, RelayFailure> {
        let pubsub_topic = parsed(pubsub_topic).ok_or(RelayFailure::Invalid)?;
        let asked = self.node.sender(|reply| SenderQuestion::Publish {
            pubsub_topic,
            message,
            is_delivered,
            reply,
        });
        let published = asked.await.unwrap_or(Err(PublishFailure::Stopped(Stopped)));
        published
            .map(|published| published.peers)
            .map_err(|failure| {
                tracing::debug!(%failure, "a message of the send queue was not published");
                relay_failure(&failure)
            })
    }

    pub(super) async fn push(
        &self,
        peer: PeerId,
        version: LightpushVersion,
        pubsub_topic: &Arc<str>,
        message: &WakuMessage,
    ) -> Result<Option<u32>, PushFailure> {
        let request_id = request_id::random();
        let address = Multiaddr::empty().with(Protocol::P2p(peer));
        let order = push_client::PushRequest {
            version,
            pubsub_topic,
            message,
            request_id: &request_id,
        };
        let pushed = push_client::push_to(&self.client, &address, &order);
        match (pushed.await, version) {
            (Ok(peers), LightpushVersion::V3) => Ok(Some(peers)),
            (Ok(_), LightpushVersion::V2) => Ok(None),
            (Err(failure), version) => {
                tracing::debug!(%peer, %failure, "a lightpush peer did not publish");
                not_pushed(&failure, version)
            }
        }
    }

    /// Queries a store peer.
    pub(super) async fn ask_peer(
        &self,
        peer: PeerId,
        query: &HistoryQuery,
    ) -> Result<HistoryPage, ServicePeerFailure> {
        let request_id = request_id::random();
        let address = Multiaddr::empty().with(Protocol::P2p(peer));
        let answer = query_client::query_one(&self.client, &address, query, &request_id).await;
        answer.map(|answer| answer.page).map_err(|failure| {
            tracing::debug!(%peer, %failure, "a store did not answer");
            history_failure(&failure)
        })
    }

    /// Queries this node's own archive.
    pub(super) async fn ask_archive(
        &self,
        query: HistoryQuery,
    ) -> Result<HistoryPage, ServicePeerFailure> {
        let archive = self.archive.as_ref().ok_or(ServicePeerFailure::Refused)?;
        let page = archive.query(query).await;
        page.map_err(|_| ServicePeerFailure::NoAnswer)
    }
}

fn parsed(topic: &str) -> Option<PubsubTopic> {
    PubsubTopic::parse_any(topic).ok()
}

fn unknown_topic() -> ProofRefusal {
    ProofRefusal::NotReady {
        reason: "the topic is not valid".to_owned(),
    }
}

fn relay_failure(failure: &PublishFailure) -> RelayFailure {
    match failure {
        // Another publication of the same message is in progress; its own answer decides.
        PublishFailure::Duplicate
        | PublishFailure::NotSubscribed { .. }
        | PublishFailure::NotRelaying
        | PublishFailure::Busy { .. }
        | PublishFailure::Bandwidth { .. }
        | PublishFailure::NoPeers
        | PublishFailure::Timeout
        | PublishFailure::Stopped(Stopped) => RelayFailure::NoPeers,
        PublishFailure::InvalidProof { .. }
        | PublishFailure::RlnProof { .. }
        | PublishFailure::RateLimit { .. } => RelayFailure::ProofRefused,
        PublishFailure::TooLarge { .. } | PublishFailure::InvalidMessage { .. } => {
            RelayFailure::Invalid
        }
    }
}

/// Returns the outcome of a push that did not succeed. A peer may refuse a message that it has already relayed.
fn not_pushed(
    failure: &ServiceFailure,
    version: LightpushVersion,
) -> Result<Option<u32>, PushFailure> {
    match failure {
        ServiceFailure::Refused {
            status,
            description,
        } => {
            let version = match version {
                LightpushVersion::V2 => PushVersion::V2,
                LightpushVersion::V3 => PushVersion::V3,
            };
            refused_push(version, LightpushStatus(*status), description)
        }
        // The request was not sent, or not completely.
        ServiceFailure::Dial { .. }
        | ServiceFailure::NoPeer { .. }
        | ServiceFailure::Address { .. } => Err(PushFailure::NoPeers),
        _ => Err(PushFailure::NoAnswer),
    }
}

fn history_failure(failure: &ServiceFailure) -> ServicePeerFailure {
    match failure {
        ServiceFailure::Refused {
            status: 429 | 503, ..
        } => ServicePeerFailure::Busy { retry_after: None },
        ServiceFailure::Refused { .. } => ServicePeerFailure::Refused,
        _ => ServicePeerFailure::NoAnswer,
    }
}
