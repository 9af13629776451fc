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
use undertone_services::trust::{Standing, Witness, is_believed};

use super::client::{PeerClient, ServiceProtocol};
use super::push_order::PushOrder;
use super::service_peers::Candidate;
use super::{LightpushVersion, ServiceFailure};

/// Maximum length of an answer, bytes; the description is the only long field.
const ANSWER_BYTES_MAX: usize = 4096;

/// Time limit for an answer while there are other peers to ask.
const PATIENCE: Duration = Duration::from_secs(3);

/// Status of an unsuccessful v2 answer; v2 has no status codes of its own.
const LEGACY_REFUSED: u32 = 503;

/// Returns the service of a protocol version.
pub(super) const fn service(version: LightpushVersion) -> ServiceProtocol {
    let (name, protocol) = match version {
        LightpushVersion::V3 => ("lightpush", lightpush::PROTOCOL_ID),
        LightpushVersion::V2 => ("legacy lightpush", lightpush::legacy::PROTOCOL_ID),
    };
    ServiceProtocol {
        name,
        protocol,
        answer_bytes_max: ANSWER_BYTES_MAX,
    }
}

/// Message to publish through peers.
pub(super) struct PushRequest<'a> {
    pub(super) version: LightpushVersion,
    pub(super) pubsub_topic: &'a Arc<str>,
    pub(super) message: &'a WakuMessage,
    pub(super) request_id: &'a str,
}

/// Sends a message to peers in turn until one reports that it has published it; peers that failed recently come last.
/// If only strangers report success, continues until two unrelated ones do. Returns the number of peers that the
/// message was sent to: the smallest reported number, or 1 by v2, which reports none.
///
/// # Errors
/// The failure of the last peer, if none has published the message.
pub(super) async fn push(
    client: &PeerClient,
    mut peers: Vec<Candidate>,
    order: &PushOrder,
    request: &PushRequest<'_>,
) -> Result<u32, ServiceFailure> {
    let service = service(request.version);
    let mut failure = ServiceFailure::NoPeer {
        service: service.name,
    };
    order.sort(Instant::now(), &mut peers);
    let mut believed: Vec<Witness> = Vec::new();
    let mut sent_to: Option<u32> = None;
    let mut left = peers.len();
    for peer in &peers {
        left -= 1;
        let is_unrelated = believed.iter().all(|one| one.is_unrelated(&peer.witness));
        if !is_unrelated {
            continue;
        }
        let address = &peer.address;
        let pushing = push_to(client, address, request);
        let pushed = match left {
            0 if believed.is_empty() => pushing.await,
            _ => match timeout(PATIENCE, pushing).await {
                Ok(pushed) => pushed,
                Err(_) => {
                    // It may still publish the message; a second copy is dropped as a duplicate.
                    order.failed(Instant::now(), address);
                    continue;
                }
            },
        };
        match pushed {
            Ok(count) => {
                order.answered(address);
                believed.push(peer.witness);
                sent_to = Some(sent_to.map_or(count, |least| least.min(count)));
                if peer.witness.standing > Standing::Stranger || is_believed(&believed) {
                    break;
                }
            }
            Err(refused @ ServiceFailure::Refused { .. }) => {
                order.answered(address);
                // Other peers would refuse it too, unless this one lies.
                if let ServiceFailure::Refused {
                    status: 400..=420, ..
                } = refused
                    && peer.witness.standing > Standing::Stranger
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
    let sent_to = sent_to.ok_or(failure)?;
    client.note_word(service, &believed);
    Ok(sent_to)
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
