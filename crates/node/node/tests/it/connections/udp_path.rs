//! A path of UDP packets to a node, which can lose those of one direction or of both.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::net::UdpSocket;
use tokio::task::JoinHandle;
use undertone_node::Multiaddr;

/// Longest packet of UDP, bytes.
const PACKET_BYTES_MAX: usize = 65_535;

/// Packets that the path lets through.
#[derive(Debug, Default)]
struct Losses {
    there: AtomicBool,
    back: AtomicBool,
}

/// Forwards the packets of one dialler to a node, and those of the node back.
pub(crate) struct UdpPath {
    pub(crate) address: Multiaddr,
    losses: Arc<Losses>,
    carrying: JoinHandle<()>,
}

impl Drop for UdpPath {
    fn drop(&mut self) {
        self.carrying.abort();
    }
}

impl UdpPath {
    /// A path to a node that listens on QUIC; its address names the node's identity.
    pub(crate) async fn to(node: &Multiaddr) -> Self {
        let (socket, identity) = split(node);
        let near = UdpSocket::bind("127.0.0.1:0").await.expect("loopback");
        let far = UdpSocket::bind("127.0.0.1:0").await.expect("loopback");
        far.connect(socket).await.expect("loopback");
        let port = near.local_addr().expect("it is bound").port();
        let address = format!("/ip4/127.0.0.1/udp/{port}/quic-v1{identity}");
        let losses = Arc::new(Losses::default());
        Self {
            address: address.parse().expect("made of parts of an address"),
            carrying: tokio::spawn(carry(near, far, losses.clone())),
            losses,
        }
    }

    /// From now on nothing arrives in either direction.
    pub(crate) fn silence(&self) {
        self.losses.there.store(true, Ordering::Relaxed);
        self.silence_answers();
    }

    /// From now on nothing of the node arrives.
    pub(crate) fn silence_answers(&self) {
        self.losses.back.store(true, Ordering::Relaxed);
    }
}

/// Socket and identity of an address of QUIC.
fn split(node: &Multiaddr) -> (SocketAddr, String) {
    let text = node.to_string();
    let (socket, identity) = text.split_once("/quic-v1").expect("an address of QUIC");
    let socket = socket.replace("/ip4/", "").replace("/udp/", ":");
    let socket = socket.parse().expect("an address of UDP");
    (socket, identity.to_owned())
}

async fn carry(near: UdpSocket, far: UdpSocket, losses: Arc<Losses>) {
    let mut dialler = None;
    let (mut there, mut back) = (vec![0; PACKET_BYTES_MAX], vec![0; PACKET_BYTES_MAX]);
    loop {
        // Errors are those of ports that are closed at the moment.
        tokio::select! {
            Ok((bytes, from)) = near.recv_from(&mut there) => {
                dialler = Some(from);
                if !losses.there.load(Ordering::Relaxed) {
                    let _ = far.send(&there[..bytes]).await;
                }
            }
            Ok(bytes) = far.recv(&mut back) => {
                if let Some(dialler) = dialler
                    && !losses.back.load(Ordering::Relaxed)
                {
                    let _ = near.send_to(&back[..bytes], dialler).await;
                }
            }
            else => tokio::task::yield_now().await,
        }
    }
}
