//! Publication through the relay of a lightpush peer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use libp2p::Multiaddr;
use tokio::time::timeout;
use undertone_message::WakuMessage;
use undertone_services::lightpush::legacy::{LegacyRequest, LegacyResponse};
use undertone_services::lightpush::{
    self, LightpushCodecLimits, LightpushRequest, LightpushResponse,
};

use super::client::{AskedService, PeerClient};
use super::push_order::PushOrder;
use super::{LightpushVersion, ServiceFailure};

/// Longest answer, bytes; the description is the only long field.
const ANSWER_BYTES_MAX: usize = 4096;

/// Time for an answer while other peers are left to ask.
const PATIENCE: Duration = Duration::from_secs(3);

/// Status of a v2 answer without success; v2 has no codes of its own.
const LEGACY_REFUSED: u32 = 503;

/// Service of a version.
pub(super) const fn service(version: LightpushVersion) -> AskedService {
    let (name, protocol) = match version {
        LightpushVersion::V3 => ("lightpush", lightpush::PROTOCOL_ID),
        LightpushVersion::V2 => ("legacy lightpush", lightpush::legacy::PROTOCOL_ID),
    };
    AskedService {
        name,
        protocol,
        answer_bytes_max: ANSWER_BYTES_MAX,
    }
}

/// Message to be published through peers.
pub(super) struct PushRequest<'a> {
    pub(super) version: LightpushVersion,
    pub(super) pubsub_topic: &'a Arc<str>,
    pub(super) message: &'a WakuMessage,
    pub(super) request_id: &'a str,
}

/// Sends a message to the peers of `addresses` in turn, those that failed of late last, until one has published it.
/// Returns the number of peers that it sent the message to; 1 by v2, which does not tell.
///
/// # Errors
/// The failure of the last peer.
pub(super) async fn push(
    client: &PeerClient,
    mut addresses: Vec<Multiaddr>,
    order: &PushOrder,
    request: &PushRequest<'_>,
) -> Result<u32, ServiceFailure> {
    let mut failure = ServiceFailure::NoPeer {
        service: service(request.version).name,
    };
    order.sort(Instant::now(), &mut addresses);
    let mut left = addresses.len();
    for address in &addresses {
        left -= 1;
        let pushing = push_to(client, address, request);
        let pushed = match left {
            0 => pushing.await,
            _ => match timeout(PATIENCE, pushing).await {
                Ok(pushed) => pushed,
                Err(_) => {
                    // It may publish the message yet; others drop the second copy.
                    order.failed(Instant::now(), address);
                    continue;
                }
            },
        };
        match pushed {
            Ok(peers) => {
                order.answered(address);
                return Ok(peers);
            }
            Err(refused @ ServiceFailure::Refused { .. }) => {
                order.answered(address);
                // Another peer would refuse it, too.
                if let ServiceFailure::Refused {
                    status: 400..=420, ..
                } = refused
                {
                    return Err(refused);
                }
                failure = refused;
            }
            Err(error) => {
                order.failed(Instant::now(), address);
                failure = error;
            }
        }
    }
    Err(failure)
}

pub(super) async fn push_to(
    client: &PeerClient,
    address: &Multiaddr,
    request: &PushRequest<'_>,
) -> Result<u32, ServiceFailure> {
    let version = request.version;
    let (request_id, message) = (request.request_id.to_owned(), request.message.clone());
    let pubsub_topic = Some(Arc::clone(request.pubsub_topic));
    let limits = LightpushCodecLimits::default();
    match version {
        LightpushVersion::V3 => {
            let request = LightpushRequest {
                request_id,
                pubsub_topic,
                message,
            };
            let (peer, answer) = client
                .ask(address, service(version), &request.encode())
                .await?;
            let answer = LightpushResponse::decode(&answer, &limits);
            let answer = answer.map_err(|error| ServiceFailure::BadAnswer {
                peer,
                reason: error.to_string(),
            })?;
            if answer.status.is_success() {
                return Ok(answer.relay_peer_count.unwrap_or(1));
            }
            Err(ServiceFailure::Refused {
                status: answer.status.0,
                description: answer.status_desc.unwrap_or_default(),
            })
        }
        LightpushVersion::V2 => {
            let request = LegacyRequest {
                request_id,
                pubsub_topic,
                message,
            };
            let (peer, answer) = client
                .ask(address, service(version), &request.encode())
                .await?;
            let answer = LegacyResponse::decode(&answer, &limits);
            let answer = answer.map_err(|error| ServiceFailure::BadAnswer {
                peer,
                reason: error.to_string(),
            })?;
            if answer.is_success {
                return Ok(1);
            }
            Err(ServiceFailure::Refused {
                status: LEGACY_REFUSED,
                description: answer.info.unwrap_or_default(),
            })
        }
    }
}
