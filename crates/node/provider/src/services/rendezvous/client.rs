//! Requests to rendezvous points, which keep registrations.

use libp2p::{Multiaddr, PeerId};
use undertone_services::PeerNo;
use undertone_services::rendezvous::{
    DiscoverResponse, PROTOCOL_ID, RegisterResponse, RendezvousCodecLimits, RendezvousRequest,
    RendezvousStatus,
};

use crate::services::ServiceFailure;
use crate::services::client::{PeerClient, ServiceProtocol};
use crate::services::service_peers::Candidate;

/// Turn of the rendezvous points, which are used one after the other: a node must be registered at all of them.
#[derive(Debug, Default)]
pub(crate) struct Turn(Option<PeerNo>);

impl Turn {
    /// Returns the point that follows the last one, whatever their order and whoever has come or gone since.
    fn next(&mut self, mut points: Vec<Candidate>) -> Option<Multiaddr> {
        points.sort_by_key(|point| point.witness.peer);
        let next = points
            .iter()
            .find(|point| Some(point.witness.peer) > self.0);
        let next = next.or(points.first())?;
        self.0 = Some(next.witness.peer);
        Some(next.address.clone())
    }
}

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

    /// Returns the connected peer that keeps registrations and whose turn it is.
    pub(crate) fn next_point(&self, turn: &mut Turn) -> Result<Multiaddr, ServiceFailure> {
        let service = Self::service();
        let next = turn.next(self.0.candidates(service, &[])?);
        next.ok_or(ServiceFailure::NoPeer {
            service: service.name,
        })
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

#[cfg(test)]
#[path = "tests/client.rs"]
mod tests;
