//! Requests of the light client to service peers, each in a task of its own.

use std::time::Duration;

use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use tokio::sync::mpsc;
use undertone_services::filter::{self, FilterCodecLimits, FilterStatus, SubscribeResponse};
use undertone_services::history::{HistoryPage, HistoryQuery};
use undertone_services::light::{LightFilterRequest, ServicePeerFailure};
use undertone_services::{PeerNo, RequestNo};

use crate::services::client::{PeerClient, ServiceProtocol};
use crate::services::{ServiceFailure, query_client, request_id};

/// Maximum length of an answer, bytes; the description is the only long field.
const ANSWER_BYTES_MAX: usize = 4096;

/// Time limit for an answer. It is a little shorter than the machine's, so that the reason is known when the machine
/// gives up.
const ANSWERING: Duration = Duration::from_secs(9);

pub(super) const SERVICE: ServiceProtocol = ServiceProtocol {
    name: "filter",
    protocol: filter::SUBSCRIBE_PROTOCOL_ID,
    answer_bytes_max: ANSWER_BYTES_MAX,
};

/// Answer of a service peer, or the reason why there is none.
#[derive(Debug)]
pub(super) struct PeerAnswer {
    pub(super) number: PeerNo,
    pub(super) peer: PeerId,
    pub(super) request: RequestNo,
    pub(super) body: AnswerBody,
}

#[derive(Debug)]
pub(super) enum AnswerBody {
    Filter(Result<(), ServiceFailure>),
    History(Result<HistoryPage, ServiceFailure>),
}

impl AnswerBody {
    pub(super) fn failure(&self) -> Option<&ServiceFailure> {
        match self {
            Self::Filter(answer) => answer.as_ref().err(),
            Self::History(answer) => answer.as_ref().err(),
        }
    }
}

/// Sender of requests; the answers go to a channel.
#[derive(Clone)]
pub(super) struct FilterRequests {
    client: PeerClient,
    answers: mpsc::UnboundedSender<PeerAnswer>,
}

impl FilterRequests {
    pub(super) fn new(client: PeerClient, answers: mpsc::UnboundedSender<PeerAnswer>) -> Self {
        Self { client, answers }
    }

    /// Sends a filter request to a connected peer.
    pub(super) fn filter(
        &self,
        number: PeerNo,
        peer: PeerId,
        request: RequestNo,
        body: LightFilterRequest,
    ) {
        let asking = self.clone();
        tokio::spawn(async move {
            let answer = asking.ask(&connected(peer), body).await;
            // The driver may have ended, here and below.
            let _ = asking.answers.send(PeerAnswer {
                number,
                peer,
                request,
                body: AnswerBody::Filter(answer),
            });
        });
    }

    /// Sends a query to a connected store.
    pub(super) fn history(
        &self,
        number: PeerNo,
        peer: PeerId,
        request: RequestNo,
        query: HistoryQuery,
    ) {
        let asking = self.clone();
        tokio::spawn(async move {
            let (address, id) = (connected(peer), request_id::random());
            let answer = query_client::query_one(&asking.client, &address, &query, &id).await;
            let _ = asking.answers.send(PeerAnswer {
                number,
                peer,
                request,
                body: AnswerBody::History(answer.map(|answer| answer.page)),
            });
        });
    }

    /// Asks a peer whether it holds subscriptions of this node: `holder`, or the first peer known to offer filter.
    pub(super) async fn ping(
        &self,
        holder: Option<PeerId>,
        known: &[Multiaddr],
    ) -> Result<(), ServiceFailure> {
        let address = match holder {
            Some(peer) => connected(peer),
            None => {
                let known = self.client.candidates(SERVICE, known)?;
                known.into_iter().next().ok_or(NO_PEER)?.address
            }
        };
        self.ask(&address, LightFilterRequest::Ping).await
    }

    async fn ask(
        &self,
        address: &Multiaddr,
        body: LightFilterRequest,
    ) -> Result<(), ServiceFailure> {
        let request = body.into_frame(request_id::random()).encode();
        let asking = self.client.ask(address, SERVICE, &request);
        let asked = tokio::time::timeout(ANSWERING, asking).await;
        let (peer, answer) = asked.unwrap_or_else(|_| Err(timed_out(address)))?;
        let answer = SubscribeResponse::decode(&answer, &FilterCodecLimits::default());
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
}

/// Failure when nobody offers filter.
pub(super) const NO_PEER: ServiceFailure = ServiceFailure::NoPeer {
    service: SERVICE.name,
};

/// Returns the address for asking a connected peer. A disconnected peer is not dialled, because the machine does that.
fn connected(peer: PeerId) -> Multiaddr {
    Multiaddr::empty().with(Protocol::P2p(peer))
}

fn timed_out(address: &Multiaddr) -> ServiceFailure {
    match address.iter().last() {
        Some(Protocol::P2p(peer)) => ServiceFailure::TimedOut {
            peer,
            timeout_s: ANSWERING.as_secs(),
        },
        _ => NO_PEER,
    }
}

/// Returns how the machine classifies a failure.
pub(super) fn kind(failure: &ServiceFailure) -> ServicePeerFailure {
    let ServiceFailure::Refused { status, .. } = failure else {
        return ServicePeerFailure::NoAnswer;
    };
    match FilterStatus(*status) {
        FilterStatus::NOT_FOUND => ServicePeerFailure::NoSubscription,
        FilterStatus::TOO_MANY_REQUESTS | FilterStatus::SERVICE_UNAVAILABLE => {
            ServicePeerFailure::Busy { retry_after: None }
        }
        // The peer failed, and may recover.
        FilterStatus(500..=599) => ServicePeerFailure::NoAnswer,
        _ => ServicePeerFailure::Refused,
    }
}
