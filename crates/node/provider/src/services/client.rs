//! Requests to the services of other peers: finds a peer, opens a stream, waits for the answer.

use std::sync::Arc;
use std::time::{Duration, Instant};
use undertone_network::handle::Stopped;

use bytes::Bytes;
use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId, StreamProtocol};
use parking_lot::Mutex;
use tokio::time::timeout;
use undertone_services::PeerNo;
use undertone_services::trust::{Standing, Witness};

use super::ServiceFailure;
use super::framing::{read_frame, write_frame};
use super::light_driver::LightStatus;
use super::service_peers::{Candidate, ServicePeers};
use undertone_network::command::ConnectFailure;
use undertone_network::handle::NodeHandle;
use undertone_network::swarm::{StreamOpenError, StreamOpener};
use undertone_network::traces::{RequestSpan, SpanKind};

/// Time limit for a peer's answer, including connection and stream.
const TIMEOUT: Duration = Duration::from_secs(15);

/// A service of other peers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceProtocol {
    /// Name for log and error messages.
    pub(super) name: &'static str,
    /// Id of the protocol.
    pub(super) protocol: &'static str,
    /// Maximum length of an answer, bytes.
    pub(super) answer_bytes_max: usize,
}

/// Client of other peers' services; clones share the node.
#[derive(Clone)]
pub(super) struct PeerClient {
    streams: StreamOpener,
    node: NodeHandle,
    peers: ServicePeers,
    status: Arc<Mutex<LightStatus>>,
}

impl PeerClient {
    pub(super) fn new(
        streams: StreamOpener,
        node: NodeHandle,
        peers: ServicePeers,
        status: Arc<Mutex<LightStatus>>,
    ) -> Self {
        Self {
            streams,
            node,
            peers,
            status,
        }
    }

    /// Returns the peers that can be asked for a service, best first, as in [`ServicePeers::candidates`]; never empty.
    pub(super) fn candidates(
        &self,
        service: ServiceProtocol,
        configured: &[Multiaddr],
    ) -> Result<Vec<Candidate>, ServiceFailure> {
        let candidates = self.peers.candidates(service.protocol, configured);
        let candidates = candidates.ok_or(Stopped)?;
        match candidates.is_empty() {
            true => Err(ServiceFailure::NoPeer {
                service: service.name,
            }),
            false => Ok(candidates),
        }
    }

    /// Returns the identity of a peer, if it is known.
    pub(super) fn identity(&self, peer: PeerNo) -> Option<PeerId> {
        self.peers.identity(peer)
    }

    /// Records that answers of peers agree.
    pub(super) fn agreed(&self, agreeing: &[PeerNo]) {
        self.peers.agreed(agreeing);
    }

    /// Records which peers' answers were believed for a service. The log and health report it if they are strangers
    /// only.
    pub(super) fn note_word(&self, service: ServiceProtocol, believed: &[Witness]) {
        let mut status = self.status.lock();
        let is_strange = |one: &Witness| one.standing == Standing::Stranger;
        if !believed.iter().all(is_strange) {
            status.strangers_alone.remove(service.name);
        } else if status.strangers_alone.insert(service.name) {
            let (service, strangers) = (service.name, believed.len());
            tracing::warn!(
                service,
                strangers,
                "the word of strangers alone was taken, peers that dialled this node; name a peer for the service, or connect to one"
            );
        }
    }

    /// Sends a request to the peer at an address, and returns its answer. Dials the peer if it is not connected and the
    /// address contains its location.
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
        let _turn = self.streams.turn(peer).await;
        let mut opened = self.streams.open(peer, protocol.clone()).await;
        if matches!(opened, Err(StreamOpenError::NotConnected)) && address.iter().count() > 1 {
            self.connect(address).await.map_err(dial)?;
            opened = self.streams.open(peer, protocol).await;
        }
        let mut stream = opened.map_err(|error| dial(error.to_string()))?;
        // After a suspension of the process, a request that its caller has given up must not be sent.
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
