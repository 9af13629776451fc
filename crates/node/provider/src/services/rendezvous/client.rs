//! Requests to rendezvous points, which keep registrations.

use libp2p::{Multiaddr, PeerId};
use undertone_services::rendezvous::{
    DiscoverResponse, PROTOCOL_ID, RegisterResponse, RendezvousCodecLimits, RendezvousRequest,
    RendezvousStatus,
};

use crate::services::ServiceFailure;
use crate::services::client::{PeerClient, ServiceProtocol};

/// Client of rendezvous; clones share it.
#[derive(Clone)]
pub(crate) struct RendezvousClient(PeerClient);

impl RendezvousClient {
    pub(in crate::services) fn new(client: PeerClient) -> Self {
        Self(client)
    }

    fn service() -> ServiceProtocol {
        ServiceProtocol {
            name: "rendezvous",
            protocol: PROTOCOL_ID,
            answer_bytes_max: RendezvousCodecLimits::default().max_response_bytes,
        }
    }

    /// Returns the connected peers that keep registrations; never empty.
    pub(crate) fn points(&self) -> Result<Vec<Multiaddr>, ServiceFailure> {
        let points = self.0.candidates(Self::service(), &[])?.into_iter();
        Ok(points.map(|point| point.address).collect())
    }

    /// Registers this node at a peer.
    pub(crate) async fn register(
        &self,
        point: &Multiaddr,
        namespace: &str,
        record: &[u8],
        ttl_s: u64,
    ) -> Result<(), ServiceFailure> {
        let request = RendezvousRequest::Register {
            namespace: namespace.as_bytes(),
            record,
            ttl_s: Some(ttl_s),
        };
        let asked = self.0.ask(point, Self::service(), &request.encode()).await;
        let (peer, answer) = asked?;
        let answer = RegisterResponse::decode(&answer, &RendezvousCodecLimits::default());
        let answer = answer.map_err(|error| ServiceFailure::BadAnswer {
            peer,
            reason: error.to_string(),
        })?;
        accepted(answer.status, answer.text)
    }

    /// Asks a peer for at most `wanted` registered nodes; with its cookie, only for newer ones. Returns the peer and
    /// its answer, which is not verified.
    pub(crate) async fn discover(
        &self,
        point: &Multiaddr,
        namespace: &str,
        wanted: u64,
        cookie: Option<&[u8]>,
    ) -> Result<(PeerId, DiscoverResponse), ServiceFailure> {
        let request = RendezvousRequest::Discover {
            namespace: Some(namespace.as_bytes()),
            limit: Some(wanted),
            cookie,
        };
        let asked = self.0.ask(point, Self::service(), &request.encode()).await;
        let (peer, answer) = asked?;
        let answer = DiscoverResponse::decode(&answer, &RendezvousCodecLimits::default());
        let answer = answer.map_err(|error| ServiceFailure::BadAnswer {
            peer,
            reason: error.to_string(),
        })?;
        accepted(answer.status, answer.text.clone())?;
        Ok((peer, answer))
    }
}

fn accepted(status: RendezvousStatus, text: Option<String>) -> Result<(), ServiceFailure> {
    match status == RendezvousStatus::OK {
        true => Ok(()),
        false => Err(ServiceFailure::Refused {
            status: status.0,
            description: text.unwrap_or_default(),
        }),
    }
}
