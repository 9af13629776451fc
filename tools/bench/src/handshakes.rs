//! Measures what two nodes write from the dial until their connection is quiet, without a topic: handshakes,
//! identify, and protocol negotiation of the streams.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use parking_lot::Mutex;
use tokio::net::TcpListener;
use undertone_bench::delay_relay::{self, PassingBytes};
use undertone_conformance::programs::{self, ResolveError};
use undertone_conformance::{PeerError, PeerProcess};

/// Prints each write of both ends as CSV.
#[derive(Debug, Args)]
pub(crate) struct HandshakesOptions {
    /// Command line of both peers: @undertone, @rust-gossipsub or @js-gossipsub with options.
    peer: String,
    /// Delay of the path, one way. It keeps the writes of one round trip apart from those of the next.
    #[arg(long, default_value_t = 40)]
    one_way_ms: u64,
    /// Time for which writes are recorded; shorter than the time to the first ping after the handshake.
    #[arg(long, default_value_t = 3_000)]
    for_ms: u64,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    #[error(transparent)]
    Peer(#[from] PeerError),
    #[error("the relay: {0}")]
    Relay(#[from] io::Error),
    #[error("the address {0} is none of TCP over IPv4")]
    Address(String),
}

pub(crate) async fn run(options: &HandshakesOptions) -> Result<String, Failure> {
    let start = |label| programs::resolve(label, &options.peer);
    let listener = PeerProcess::spawn(&start("listener")?).await?;
    let mut dialler = PeerProcess::spawn(&start("dialler")?).await?;
    let relay = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
    let (to, entry) = (port_of(listener.addr())?, relay.local_addr()?.port());
    let through = listener
        .addr()
        .replace(&format!("/tcp/{to}/"), &format!("/tcp/{entry}/"));
    let writes = Arc::new(Mutex::new(Vec::new()));
    let seen = writes.clone();
    let observer = Arc::new(Mutex::new(move |passing: PassingBytes<'_>| {
        seen.lock()
            .push((passing.at_us, passing.is_dialler, passing.bytes.len()));
        Ok(())
    }));
    let to = SocketAddr::from((Ipv4Addr::LOCALHOST, to));
    let one_way = Duration::from_millis(options.one_way_ms);
    let relaying = tokio::spawn(delay_relay::run(relay, to, one_way, observer));
    dialler.connect(&through).await?;
    tokio::time::sleep(Duration::from_millis(options.for_ms)).await;
    let mut lines = vec!["at_us,from,bytes".to_owned()];
    for (at_us, is_dialler, bytes) in writes.lock().iter() {
        let from = if *is_dialler { "dialler" } else { "listener" };
        lines.push(format!("{at_us},{from},{bytes}"));
    }
    relaying.abort();
    Ok(lines.join("\n"))
}

/// Returns the port of a TCP multiaddress.
fn port_of(addr: &str) -> Result<u16, Failure> {
    let mut parts = addr.split('/').skip_while(|part| *part != "tcp");
    let port = parts.nth(1).and_then(|port| port.parse().ok());
    port.ok_or_else(|| Failure::Address(addr.to_owned()))
}
