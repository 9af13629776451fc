//! Publication through the relay of a lightpush peer.

use std::sync::Arc;

use libp2p::Multiaddr;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_services::lightpush::legacy::{LegacyRequest, LegacyResponse};
use undertone_services::lightpush::{
    self, LightpushCodecLimits, LightpushRequest, LightpushResponse,
};

use super::client::{PeerClient, PeerService};
use super::{LightpushVersion, ServiceFailure};

/// Longest answer, bytes; the description is the only long field.
const ANSWER_BYTES_MAX: usize = 4096;

/// Status of a v2 answer without success; v2 has no codes of its own.
const LEGACY_REFUSED: u32 = 503;

/// Service of a version.
pub(super) const fn service(version: LightpushVersion) -> PeerService {
    let (name, protocol) = match version {
        LightpushVersion::V3 => ("lightpush", lightpush::PROTOCOL_ID),
        LightpushVersion::V2 => ("legacy lightpush", lightpush::legacy::PROTOCOL_ID),
    };
    PeerService {
        name,
        protocol,
        answer_bytes_max: ANSWER_BYTES_MAX,
    }
}

/// Sends a message to the peers of `addresses` in turn, until one has published it. Returns the number of
/// peers that it sent the message to; 1 by v2, which does not tell.
///
/// # Errors
/// The failure of the last peer.
pub(super) async fn push(
    client: &PeerClient,
    addresses: &[Multiaddr],
    version: LightpushVersion,
    pubsub_topic: &PubsubTopic,
    message: &WakuMessage,
    request_id: &str,
) -> Result<u32, ServiceFailure> {
    let topic: Arc<str> = pubsub_topic.to_string().into();
    let mut failure = ServiceFailure::NoPeer {
        service: service(version).name,
    };
    for address in addresses {
        let pushed = push_to(client, address, version, &topic, message, request_id).await;
        match pushed {
            Ok(peers) => return Ok(peers),
            // Another peer would refuse it, too.
            Err(
                refused @ ServiceFailure::Refused {
                    status: 400..=420, ..
                },
            ) => return Err(refused),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

pub(super) async fn push_to(
    client: &PeerClient,
    address: &Multiaddr,
    version: LightpushVersion,
    topic: &Arc<str>,
    message: &WakuMessage,
    request_id: &str,
) -> Result<u32, ServiceFailure> {
    let (request_id, message) = (request_id.to_owned(), message.clone());
    let pubsub_topic = Some(Arc::clone(topic));
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
