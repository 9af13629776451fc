//! QUIC: UDP with TLS 1.3 and streams inside, so that neither Noise nor yamux is needed.
//!
//! Where the library has a setting, the limits are those of TCP and yamux: silence, streams of a peer, and bytes
//! waiting to be read. The library buffers up to 10 MB that a peer has not acknowledged, if the peer's windows allow
//! that.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::timeout::TransportTimeout;
use libp2p::core::transport::{Boxed, DialOpts, ListenerId, TransportError, TransportEvent};
use libp2p::identity::Keypair;
use libp2p::{Multiaddr, PeerId, Transport, quic};

use super::address_kind::is_quic;
use super::named::{Named, TrustedNames};

/// Time limit for an outbound handshake. Where UDP is blocked there is no answer, so the peer's other addresses wait
/// this long.
const DIAL_TIMEOUT: Duration = Duration::from_secs(3);

/// Silence after which a connection is closed, milliseconds. Half of TCP's limit, because the kernel does not tell
/// peers when a process with QUIC connections is killed.
const SILENCE_MAX_MS: u32 = 10_000;

/// Silence after which a packet is sent that must be acknowledged. Three in a row must be lost before a connection
/// counts as dead.
const KEEP_ALIVE: Duration = Duration::from_secs(3);

/// Maximum number of streams that a peer may have open at a time, as with yamux; further ones wait.
const INBOUND_STREAMS_MAX: u32 = 128;

/// Maximum number of unread bytes of one stream: as many as a yamux stream may have in flight.
const STREAM_WINDOW_BYTES: u32 = 9 << 18;

/// Maximum number of unread bytes of a connection.
const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;

type QuicTransport = Boxed<(PeerId, StreamMuxerBox)>;

/// Builds the transport from UDP sockets to streams. Host names may lead into private networks only if they are
/// `trusted`.
pub(super) fn build(keypair: &Keypair, trusted: &TrustedNames) -> io::Result<QuicTransport> {
    let transport = quic::tokio::Transport::new(config(keypair));
    let named = Named::system(transport, trusted.clone())?;
    let muxed = named.map(|(peer, connection), _| (peer, StreamMuxerBox::new(connection)));
    let timed = TransportTimeout::with_outgoing_timeout(muxed, DIAL_TIMEOUT);
    Ok(QuicOnly(timed.boxed()).boxed())
}

fn config(keypair: &Keypair) -> quic::Config {
    let mut config = quic::Config::new(keypair);
    config.max_idle_timeout = SILENCE_MAX_MS;
    config.keep_alive_interval = KEEP_ALIVE;
    config.max_concurrent_stream_limit = INBOUND_STREAMS_MAX;
    config.max_stream_data = STREAM_WINDOW_BYTES;
    config.max_connection_data = CONNECTION_WINDOW_BYTES;
    config
}

/// Transport that refuses other addresses at once. Name resolution alone would accept every address, and fail too late
/// for the next transport to try.
struct QuicOnly(QuicTransport);

impl Transport for QuicOnly {
    type Output = <QuicTransport as Transport>::Output;
    type Error = <QuicTransport as Transport>::Error;
    type ListenerUpgrade = <QuicTransport as Transport>::ListenerUpgrade;
    type Dial = <QuicTransport as Transport>::Dial;

    fn listen_on(
        &mut self,
        id: ListenerId,
        address: Multiaddr,
    ) -> Result<(), TransportError<Self::Error>> {
        match is_quic(&address) {
            true => self.0.listen_on(id, address),
            false => Err(TransportError::MultiaddrNotSupported(address)),
        }
    }

    fn remove_listener(&mut self, id: ListenerId) -> bool {
        self.0.remove_listener(id)
    }

    fn dial(
        &mut self,
        address: Multiaddr,
        options: DialOpts,
    ) -> Result<Self::Dial, TransportError<Self::Error>> {
        match is_quic(&address) {
            true => self.0.dial(address, options),
            false => Err(TransportError::MultiaddrNotSupported(address)),
        }
    }

    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<TransportEvent<Self::ListenerUpgrade, Self::Error>> {
        Pin::new(&mut self.0).poll(cx)
    }
}

#[cfg(test)]
#[path = "tests/quic.rs"]
mod tests;
