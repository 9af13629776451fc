//! A path between two nodes that can fall silent without a FIN.

use std::sync::{Arc, Mutex};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
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
        let accepting = tokio::spawn(accept(listener, target, paths.clone()));
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

async fn accept(listener: TcpListener, target: String, paths: Paths) {
    while let Ok((dialler, _)) = listener.accept().await {
        let (path, changes) = watch::channel(Path::Forwards);
        paths.lock().expect("nobody panics").push(path);
        let target = target.clone();
        tokio::spawn(async move {
            if let Ok(node) = TcpStream::connect(target).await {
                carry(dialler, node, changes).await;
            }
        });
    }
}

async fn carry(mut dialler: TcpStream, mut node: TcpStream, mut path: watch::Receiver<Path>) {
    tokio::select! {
        _ = tokio::io::copy_bidirectional(&mut dialler, &mut node) => return,
        _ = path.wait_for(|path| *path > Path::Forwards) => {}
    }
    let _ = path.wait_for(|path| *path > Path::Silent).await.map(drop);
    drop(dialler);
    let _ = path.wait_for(|path| *path == Path::Ended).await.map(drop);
}
