//! Transports: TCP and WebSocket with Noise and yamux or mplex, and QUIC, which includes both functions.

use std::io;
use std::time::Duration;

use libp2p::core::muxing::StreamMuxerBox;
use libp2p::core::transport::timeout::TransportTimeout;
use libp2p::core::transport::{Boxed, OptionalTransport, OrTransport};
use libp2p::core::upgrade::{SelectUpgrade, Version};
use libp2p::identity::Keypair;
use libp2p::{PeerId, Transport, noise, relay, tcp, websocket};

use super::SwarmError;
use super::certificate::RenewedCertificate;
use super::closing::Closing;
use super::handshake_limit::HandshakeLimit;
use super::limits::ConnectionLimits;
use super::named::{Named, TrustedNames};
use super::renewable_tls::RenewableTls;
use super::source_address::{ListenAddresses, SourceAddress};
use super::yamux::YamuxUpgrade;

/// Time limit for dialling, from name resolution to the negotiated muxer.
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);

/// Time after which the kernel closes a connection whose peer has not acknowledged data. A ping every few seconds
/// ensures that there is always data in flight.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNACKNOWLEDGED_MAX: Duration = Duration::from_secs(20);

/// Maximum length of a WebSocket message, bytes. Implementations put one Noise message of at most 64 KiB into each.
const WEBSOCKET_MESSAGE_BYTES_MAX: usize = 1 << 20;

/// Maximum number of streams of one mplex connection in both directions; further ones are reset. It is lower than with
/// yamux, because mplex has no flow control per stream. Browser clients keep seven ready.
const MPLEX_STREAMS_MAX: usize = 64;

/// Number of frames buffered in an mplex stream above which the connection is no longer read. A frame has up to 1 MiB.
const MPLEX_BUFFERED_FRAMES_MAX: usize = 1;

/// Transport that yields the streams of an authenticated peer.
type Streams = Boxed<(PeerId, StreamMuxerBox)>;

/// Builds the transport from socket to streams. It includes QUIC if requested, and TLS on the WebSocket port if there
/// is a `certificate`. `circuits` carries relayed connections. `limits` bounds inbound handshakes. Host names may lead
/// into private networks only if they are `trusted`.
pub(crate) fn build(
    keypair: &Keypair,
    limits: ConnectionLimits,
    has_quic: bool,
    certificate: RenewedCertificate,
    circuits: Option<relay::client::Transport>,
    trusted: &TrustedNames,
) -> Result<Streams, SwarmError> {
    let listening = ListenAddresses::default();
    let named = || Named::system(sockets(&listening), trusted.clone());
    let plain = named()?;
    let mut websocket = websocket::Config::new(named()?);
    websocket.set_max_data_size(WEBSOCKET_MESSAGE_BYTES_MAX);
    let websocket = RenewableTls::new(websocket, certificate);
    let mut mplex = libp2p_mplex::Config::default();
    mplex
        .set_max_num_streams(MPLEX_STREAMS_MAX)
        .set_max_buffer_size(MPLEX_BUFFERED_FRAMES_MAX);
    let circuits = circuits.map_or_else(OptionalTransport::none, OptionalTransport::some);
    // Circuits come first: otherwise the transport that reaches the relay itself would take a circuit's address for its
    // own.
    let upgraded = OrTransport::new(circuits, OrTransport::new(websocket, plain))
        .upgrade(Version::V1Lazy)
        .authenticate(noise::Config::new(keypair)?)
        .multiplex(SelectUpgrade::new(YamuxUpgrade::default(), mplex))
        .map(|(peer, muxer), _| (peer, StreamMuxerBox::new(Closing::new(muxer))))
        .boxed();
    let upgraded = match has_quic {
        true => with_quic(keypair, trusted, upgraded)?,
        false => upgraded,
    };
    let dialled = TransportTimeout::with_outgoing_timeout(upgraded, DIAL_TIMEOUT);
    let timed = TransportTimeout::with_ingoing_timeout(dialled, limits.handshake_timeout);
    Ok(HandshakeLimit::new(timed.boxed(), limits).boxed())
}

/// Adds QUIC in front of `others`.
#[cfg(feature = "quic")]
fn with_quic(
    keypair: &Keypair,
    trusted: &TrustedNames,
    others: Streams,
) -> Result<Streams, SwarmError> {
    let quic = super::quic::build(keypair, trusted)?;
    let either = OrTransport::new(quic, others);
    Ok(either.map(|either, _| either.into_inner()).boxed())
}

#[cfg(not(feature = "quic"))]
fn with_quic(_: &Keypair, _: &TrustedNames, _: Streams) -> Result<Streams, SwarmError> {
    Err(SwarmError::WithoutQuic)
}

/// Returns a TCP transport whose sockets detect a peer that disappeared without closing the connection. It is one of
/// those that share the `listening` addresses.
fn sockets(
    listening: &ListenAddresses,
) -> impl Transport<Output = tcp::tokio::TcpStream, Error = io::Error, Dial: Send, ListenerUpgrade: Send>
+ Send
+ Unpin
+ 'static {
    let tcp = tcp::tokio::Transport::new(tcp::Config::default().nodelay(true));
    SourceAddress::new(tcp, listening.clone()).map(|stream, _| {
        bound_silence(&stream);
        stream
    })
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn bound_silence(stream: &tcp::tokio::TcpStream) {
    let millis = u32::try_from(UNACKNOWLEDGED_MAX.as_millis())
        .expect("UNACKNOWLEDGED_MAX is a constant of some seconds");
    if let Err(error) = rustix::net::sockopt::set_tcp_user_timeout(&stream.0, millis) {
        // Pings find a dead peer too, a few seconds later.
        tracing::debug!(%error, "cannot set TCP_USER_TIMEOUT");
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn bound_silence(_: &tcp::tokio::TcpStream) {}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
#[path = "tests/transport.rs"]
mod tests;
