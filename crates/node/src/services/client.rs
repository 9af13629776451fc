//! Requests to the services of other peers: finds a peer, opens a stream, waits for the answer.

use std::time::{Duration, Instant};

use bytes::Bytes;
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId, StreamProtocol};
use tokio::time::timeout;

use super::ServiceFailure;
use super::framing::{read_frame, write_frame};
use crate::command::{ConnectFailure, Connectedness};
use crate::handle::NodeHandle;
use crate::swarm::{StreamOpenError, StreamOpener};
use crate::traces::{RequestSpan, SpanKind};

/// Time for a peer's answer, connection and stream included.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Service to be asked of a peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceProtocol {
    /// Name for messages.
    pub(super) name: &'static str,
    /// Id of the protocol.
    pub(super) protocol: &'static str,
    /// Longest answer, bytes.
    pub(super) answer_bytes_max: usize,
}

/// Client of other peers' services; clones share the node.
#[derive(Clone)]
pub(super) struct PeerClient {
    streams: StreamOpener,
    node: NodeHandle,
}

impl PeerClient {
    pub(super) fn new(streams: StreamOpener, node: NodeHandle) -> Self {
        Self { streams, node }
    }

    /// Peers that can be asked for a service, the best first: the configured ones, then those connected that
    /// announced its protocol.
    pub(super) async fn candidates(
        &self,
        service: ServiceProtocol,
        configured: &[Multiaddr],
    ) -> Result<Vec<Multiaddr>, ServiceFailure> {
        if !configured.is_empty() {
            return Ok(configured.to_vec());
        }
        let peers = self.node.peers().await;
        let peers = peers.map_err(|_| ServiceFailure::Stopped)?;
        let offers = peers.into_iter().filter(|peer| {
            let has_protocol = peer.protocols.iter().any(|id| id == service.protocol);
            peer.connected == Connectedness::Connected && has_protocol
        });
        let addresses: Vec<_> = offers
            .map(|peer| Multiaddr::empty().with(Protocol::P2p(peer.peer_id)))
            .collect();
        match addresses.is_empty() {
            true => Err(ServiceFailure::NoPeer {
                service: service.name,
            }),
            false => Ok(addresses),
        }
    }

    /// Sends a request to the peer of an address, and returns its answer. The peer is dialled if it is not
    /// connected and the address says where it is.
    pub(super) async fn ask(
        &self,
        address: &Multiaddr,
        service: ServiceProtocol,
        request: &[u8],
    ) -> Result<(PeerId, Bytes), ServiceFailure> {
        let Some(Protocol::P2p(peer)) = address.iter().last() else {
            return Err(ServiceFailure::Address {
                address: address.clone(),
            });
        };
        let tracer = self.node.tracer();
        let span = RequestSpan::begin(tracer, SpanKind::Client, peer, service.protocol);
        let span = span.with_request(request.len());
        let asked = timeout(TIMEOUT, self.exchange(peer, address, service, request)).await;
        let timed_out = ServiceFailure::TimedOut {
            peer,
            timeout_s: TIMEOUT.as_secs(),
        };
        let asked = asked.unwrap_or(Err(timed_out));
        span.end(asked.as_ref().err());
        Ok((peer, asked?))
    }

    async fn exchange(
        &self,
        peer: PeerId,
        address: &Multiaddr,
        service: ServiceProtocol,
        request: &[u8],
    ) -> Result<Bytes, ServiceFailure> {
        let protocol = StreamProtocol::new(service.protocol);
        let dial = |reason: String| ServiceFailure::Dial { peer, reason };
        let begun = Instant::now();
        let mut opened = self.streams.open(peer, protocol.clone()).await;
        if matches!(opened, Err(StreamOpenError::NotConnected)) && address.iter().count() > 1 {
            self.connect(address).await.map_err(dial)?;
            opened = self.streams.open(peer, protocol).await;
        }
        let mut stream = opened.map_err(|error| dial(error.to_string()))?;
        // A process that was suspended meanwhile must not send what its caller has given up.
        if begun.elapsed() >= TIMEOUT {
            let opened_s = begun.elapsed().as_secs();
            return Err(dial(format!(
                "the stream was opened only after {opened_s} s"
            )));
        }
        let failed = |error: std::io::Error| ServiceFailure::Dial {
            peer,
            reason: error.to_string(),
        };
        write_frame(&mut stream, request).await.map_err(failed)?;
        let answer = read_frame(&mut stream, service.answer_bytes_max).await;
        let answer = answer.map_err(|error| ServiceFailure::BadAnswer {
            peer,
            reason: error.to_string(),
        })?;
        answer.ok_or_else(|| ServiceFailure::BadAnswer {
            peer,
            reason: "the stream ended without an answer".to_owned(),
        })
    }

    async fn connect(&self, address: &Multiaddr) -> Result<(), String> {
        let connected = self.node.connect(address.clone()).await;
        connected.map_err(|error| match error {
            ConnectFailure::Dial { reason, .. } => reason,
            error => error.to_string(),
        })
    }
}
