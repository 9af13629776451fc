//! Decodes answers of service nodes for a client's state machines.

use bytes::Bytes;
use undertone_message::WakuMetadata;
use undertone_services::filter::{FilterCodecLimits, FilterStatus, SubscribeResponse};
use undertone_services::history::HistoryPage;
use undertone_services::light::ServicePeerFailure;
use undertone_services::lightpush::legacy::LegacyResponse;
use undertone_services::lightpush::{
    LightpushCodecLimits, LightpushResponse, LightpushStatus, PushVersion,
};
use undertone_services::metadata::{self, MetadataVerdict};
use undertone_services::peer_exchange::{PeerExchangeCodecLimits, PeerExchangeResponse};
use undertone_services::sending::{PushFailure, refused_push};
use undertone_services::store::{StoreLimits, StoreResponse, StoreStatus};

use crate::services::records;

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

/// Reads the answer to a lightpush request.
pub(super) fn push(version: PushVersion, body: &[u8]) -> Result<Option<u32>, PushFailure> {
    let limits = LightpushCodecLimits::default();
    let (is_success, status, text, peers) = match version {
        PushVersion::V3 => {
            let response = LightpushResponse::decode(body, &limits);
            let response = response.map_err(|_| PushFailure::NoAnswer)?;
            let status = response.status;
            let text = response.status_desc;
            (status.is_success(), status, text, response.relay_peer_count)
        }
        PushVersion::V2 => {
            let response = LegacyResponse::decode(body, &limits);
            let response = response.map_err(|_| PushFailure::NoAnswer)?;
            // The legacy protocol has no status.
            let status = LightpushStatus::INTERNAL_SERVER_ERROR;
            (response.is_success, status, response.info, None)
        }
    };
    match is_success {
        true => Ok(peers),
        false => refused_push(version, status, &text.unwrap_or_default()),
    }
}

/// Reads the answer to a metadata request.
pub(super) fn metadata(our_cluster: u16, body: &[u8]) -> Option<MetadataVerdict> {
    let theirs = WakuMetadata::decode(body).ok()?;
    Some(metadata::judge(our_cluster, &theirs))
}

/// Reads the answer to a peer exchange request.
pub(super) fn peers(body: &Bytes) -> Vec<u32> {
    let response = PeerExchangeResponse::decode(body, &PeerExchangeCodecLimits::default());
    let enrs = response.map(|response| response.enrs).unwrap_or_default();
    enrs.iter().filter_map(|enr| records::decode(enr)).collect()
}
