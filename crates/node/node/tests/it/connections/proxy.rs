//! A path between two nodes that is slow, or can fall silent without a FIN.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use undertone_node::Multiaddr;

/// What becomes of the bytes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Path {
    Forwards,
    /// Both sockets stay open, and nothing comes out of them.
    Silent,
    /// The same for the node that was dialled; who dialled knows that it is over.
    Forgotten,
    Ended,
}

type Paths = Arc<Mutex<Vec<watch::Sender<Path>>>>;

/// Forwards TCP connections to a node until it is told otherwise.
pub(crate) struct Proxy {
    pub(crate) address: Multiaddr,
    paths: Paths,
    accepting: JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Proxy {
    /// A proxy to a node; its address names the node's identity.
    pub(crate) async fn to(node: &Multiaddr) -> Self {
        Self::slow(node, Duration::ZERO).await
    }

    /// A proxy that delivers bytes so much later, in each direction.
    pub(crate) async fn slow(node: &Multiaddr, delay: Duration) -> Self {
        let mut parts = node.iter();
        let (ip, tcp, identity) = (parts.next(), parts.next(), parts.next());
        let (Some(ip), Some(tcp), Some(identity)) = (ip, tcp, identity) else {
            panic!("{node} is no address of TCP with an identity");
        };
        let target = format!("{ip}{tcp}")
            .replace("/ip4/", "")
            .replace("/tcp/", ":");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let port = listener.local_addr().expect("it is bound").port();
        let address = format!("/ip4/127.0.0.1/tcp/{port}{identity}");
        let paths = Paths::default();
        let accepting = tokio::spawn(accept(listener, target, delay, paths.clone()));
        Self {
            address: address.parse().expect("made of parts of an address"),
            paths,
            accepting,
        }
    }

    fn set(&self, path: Path) {
        for known in self.paths.lock().expect("nobody panics").iter() {
            // Only ever in this direction; who has ended does not listen.
            known.send_if_modified(|now| {
                let changes = *now < path;
                *now = (*now).max(path);
                changes
            });
        }
    }

    /// Connections there are now fall silent in both directions.
    pub(crate) fn silence(&self) {
        self.set(Path::Silent);
    }

    /// Connections there are now end for who dialled; the other node does not hear of it.
    pub(crate) fn forget(&self) {
        self.set(Path::Forgotten);
    }

    /// Connections that had fallen silent end for everybody; new ones stay.
    pub(crate) fn end_silent(&self) {
        for known in self.paths.lock().expect("nobody panics").iter() {
            known.send_if_modified(|now| {
                let is_silent = *now > Path::Forwards;
                if is_silent {
                    *now = Path::Ended;
                }
                is_silent
            });
        }
    }
}

async fn accept(listener: TcpListener, target: String, delay: Duration, paths: Paths) {
    while let Ok((dialler, _)) = listener.accept().await {
        let (path, changes) = watch::channel(Path::Forwards);
        paths.lock().expect("nobody panics").push(path);
        let target = target.clone();
        tokio::spawn(async move {
            if let Ok(node) = TcpStream::connect(target).await {
                carry(dialler, node, delay, changes).await;
            }
        });
    }
}

async fn carry(
    mut dialler: TcpStream,
    mut node: TcpStream,
    delay: Duration,
    mut path: watch::Receiver<Path>,
) {
    let (from_dialler, to_dialler) = dialler.split();
    let (from_node, to_node) = node.split();
    let both = async {
        tokio::join!(
            copy(from_dialler, to_node, delay),
            copy(from_node, to_dialler, delay)
        )
    };
    tokio::select! {
        _ = both => return,
        _ = path.wait_for(|path| *path > Path::Forwards) => {}
    }
    let _ = path.wait_for(|path| *path > Path::Silent).await.map(drop);
    drop(dialler);
    let _ = path.wait_for(|path| *path == Path::Ended).await.map(drop);
}

/// Copies bytes in one direction, each as late as it must be, until one end is closed.
async fn copy(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, delay: Duration) {
    let (sender, mut on_their_way) = mpsc::unbounded_channel();
    let read = async {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(len @ 1..) = from.read(&mut buffer).await {
            let due = Instant::now() + delay;
            let _ = sender.send((due, buffer[..len].to_vec()));
        }
        drop(sender);
    };
    let write = async {
        while let Some((due, bytes)) = on_their_way.recv().await {
            tokio::time::sleep_until(due).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
        let _ = to.shutdown().await;
    };
    tokio::join!(read, write);
}
