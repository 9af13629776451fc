//! Requests to other nodes for the node records that they know (peer exchange).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use libp2p::{Multiaddr, PeerId};
use undertone_services::peer_exchange::{
    PROTOCOL_ID, PeerExchangeCodecLimits, PeerExchangeRequest, PeerExchangeResponse,
    PeerExchangeStatus,
};

use super::ServiceFailure;
use super::client::{PeerClient, ServiceProtocol};

/// Client of peer exchange; clones share it.
#[derive(Clone)]
pub(crate) struct ExchangeClient {
    client: PeerClient,
    /// Peers to ask; empty for any connected peer that offers it.
    configured: Arc<[Multiaddr]>,
    asked: Arc<AtomicUsize>,
}

impl ExchangeClient {
    pub(super) fn new(client: PeerClient, configured: Vec<Multiaddr>) -> Self {
        Self {
            client,
            configured: configured.into(),
            asked: Arc::default(),
        }
    }

    /// Asks one peer, a different one each time, for the records of `wanted` nodes. Returns the peer and the records,
    /// which are raw RLP and not yet checked.
    pub(crate) async fn ask(&self, wanted: u64) -> Result<(PeerId, Vec<Bytes>), ServiceFailure> {
        let limits = PeerExchangeCodecLimits::default();
        let service = ServiceProtocol {
            name: "peer exchange",
            protocol: PROTOCOL_ID,
            answer_bytes_max: limits.max_response_bytes,
        };
        let known = self.client.candidates(service, &self.configured)?;
        let turn = self.asked.fetch_add(1, Ordering::Relaxed) % known.len().max(1);
        let Some(peer) = known.get(turn) else {
            let service = service.name;
            return Err(ServiceFailure::NoPeer { service });
        };
        let request = PeerExchangeRequest {
            num_peers: Some(wanted),
        };
        let (peer, answer) = self
            .client
            .ask(&peer.address, service, &request.encode())
            .await?;
        let answer = PeerExchangeResponse::decode(&answer, &limits);
        let answer = answer.map_err(|error| ServiceFailure::BadAnswer {
            peer,
            reason: error.to_string(),
        })?;
        if answer.skipped > 0 {
            let skipped = answer.skipped;
            tracing::warn!(
                %peer,
                skipped,
                "a peer answered peer exchange with empty or too long records, or more than are taken: they were passed over"
            );
        }
        match answer.status == PeerExchangeStatus::OK {
            true => Ok((peer, answer.enrs)),
            false => Err(ServiceFailure::Refused {
                status: answer.status.0,
                description: answer.status_desc.unwrap_or_default(),
            }),
        }
    }
}
