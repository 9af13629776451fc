//! Answers of service nodes, as the machines of a client take them.

use bytes::Bytes;
use undertone_services::filter::{FilterCodecLimits, FilterStatus, SubscribeResponse};
use undertone_services::history::HistoryPage;
use undertone_services::light::ServicePeerFailure;
use undertone_services::lightpush::{
    LightpushCodecLimits, LightpushResponse, LightpushStatus, PublishRefusal,
};
use undertone_services::sending::PushFailure;
use undertone_services::store::{StoreLimits, StoreResponse, StoreStatus};

/// Reads the answer to a filter request.
pub(super) fn filter(body: &[u8]) -> Result<(), ServicePeerFailure> {
    let response = SubscribeResponse::decode(body, &FilterCodecLimits::default());
    let response = response.map_err(|_| ServicePeerFailure::NoAnswer)?;
    match response.status {
        status if status.is_success() => Ok(()),
        FilterStatus::NOT_FOUND => Err(ServicePeerFailure::NoSubscription),
        FilterStatus::TOO_MANY_REQUESTS | FilterStatus::SERVICE_UNAVAILABLE => {
            Err(ServicePeerFailure::Busy { retry_after: None })
        }
        _ => Err(ServicePeerFailure::Refused),
    }
}

/// Reads the answer to a store query.
pub(super) fn history(body: &Bytes) -> Result<HistoryPage, ServicePeerFailure> {
    let response = StoreResponse::decode(body, &StoreLimits::default());
    let response = response.map_err(|_| ServicePeerFailure::NoAnswer)?;
    match response.status {
        StoreStatus::Ok => Ok(response.page),
        StoreStatus::TooManyRequests | StoreStatus::ServiceUnavailable => {
            Err(ServicePeerFailure::Busy { retry_after: None })
        }
        _ => Err(ServicePeerFailure::Refused),
    }
}

/// Reads the answer to a message that was to be published.
pub(super) fn push(body: &[u8]) -> Result<Option<u32>, PushFailure> {
    let response = LightpushResponse::decode(body, &LightpushCodecLimits::default());
    let response = response.map_err(|_| PushFailure::NoAnswer)?;
    let text = response.status_desc.unwrap_or_default();
    match response.status {
        LightpushStatus::OK => Ok(response.relay_peer_count),
        // The relay has the message from another node: it is published.
        LightpushStatus::INVALID_MESSAGE if text == PublishRefusal::Duplicate.to_string() => {
            Ok(None)
        }
        LightpushStatus::INVALID_MESSAGE if text == PublishRefusal::InvalidProof.to_string() => {
            Err(PushFailure::ProofRefused)
        }
        LightpushStatus::OUT_OF_RLN_PROOF => Err(PushFailure::ProofRefused),
        LightpushStatus::TOO_MANY_REQUESTS | LightpushStatus::SERVICE_NOT_AVAILABLE => {
            Err(PushFailure::Busy { retry_after: None })
        }
        LightpushStatus::PAYLOAD_TOO_LARGE => Err(PushFailure::TooLarge),
        LightpushStatus::UNSUPPORTED_PUBSUB_TOPIC => Err(PushFailure::UnsupportedTopic),
        LightpushStatus::NO_PEERS_TO_RELAY => Err(PushFailure::NoPeers),
        LightpushStatus::INTERNAL_SERVER_ERROR => Err(PushFailure::Internal),
        _ => Err(PushFailure::Invalid),
    }
}
