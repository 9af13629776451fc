//! Raw client of a node's services, which opens streams of any protocol and writes any bytes to them.

use bytes::{Bytes, BytesMut};
use futures::{AsyncReadExt, AsyncWriteExt};
use libp2p::identity::Keypair;
use libp2p::swarm::{Stream, StreamProtocol};
use libp2p::{Multiaddr, PeerId};
use undertone_wire::put_varint;

use super::frames::take_frame;
use super::{Inbound, Network, RawError, swarm, within, write};

/// Number of bytes of an answer read at a time.
const CHUNK_BYTES: usize = 16 << 10;

/// Connected client of a node's services; a drop closes the connection.
pub struct RawClient {
    id: PeerId,
    remote: PeerId,
    network: Network,
}

impl RawClient {
    /// Dials `addr` with `key`. The other side's streams of the protocol `accepted` are read into `inbound`;
    /// if that is `None`, they are accepted but never read.
    pub async fn dial(
        key: Keypair,
        addr: &Multiaddr,
        accepted: StreamProtocol,
        inbound: Inbound,
    ) -> Result<Self, RawError> {
        let id = key.public().to_peer_id();
        let failed = |source| RawError::Dial {
            addr: addr.clone(),
            source: Box::new(source),
        };
        let mut swarm = swarm(key)?;
        swarm.dial(addr.clone()).map_err(failed)?;
        let mut network = Network::start(swarm, &accepted, inbound);
        let remote = network.connected().await?.map_err(failed)?;
        Ok(Self {
            id,
            remote,
            network,
        })
    }

    /// Returns this client's own id.
    #[must_use]
    pub fn id(&self) -> PeerId {
        self.id
    }

    /// Opens a stream.
    pub async fn open(&self, protocol: StreamProtocol) -> Result<Stream, RawError> {
        let mut control = self.network.control.clone();
        let opening = control.open_stream(self.remote, protocol.clone());
        within("stream", opening)
            .await?
            .map_err(|source| RawError::Stream { protocol, source })
    }

    /// Opens a stream and writes bytes to it unchanged.
    pub async fn send(&self, protocol: StreamProtocol, bytes: &[u8]) -> Result<Stream, RawError> {
        let mut stream = self.open(protocol).await?;
        write(&mut stream, bytes).await?;
        Ok(stream)
    }

    /// Sends a request with its length prefix on a stream of its own, and returns the answer.
    pub async fn ask(&self, protocol: StreamProtocol, request: &[u8]) -> Result<Bytes, RawError> {
        let mut framed = Vec::with_capacity(request.len() + 10);
        put_varint(&mut framed, request.len() as u64);
        framed.extend_from_slice(request);
        let mut stream = self.send(protocol, &framed).await?;
        // The server may already have answered and closed the stream.
        let _ = stream.close().await;
        within("answer", answer(&mut stream)).await?
    }

    /// Waits without a time limit until the other side has closed the connection.
    pub async fn closed(&mut self) {
        // The sender is dropped with the swarm and its connection.
        let _ = (&mut self.network.closed).await;
    }
}

async fn answer(stream: &mut Stream) -> Result<Bytes, RawError> {
    let mut buffer = BytesMut::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        if let Some(frame) = take_frame(&mut buffer).map_err(|_| RawError::NoAnswer)? {
            return Ok(frame);
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return Err(RawError::NoAnswer),
            Ok(read) => buffer.extend_from_slice(&chunk[..read]),
        }
    }
}
