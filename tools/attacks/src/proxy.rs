//! TCP proxy between two nodes that can go silent, close one end, or delay bytes.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::{HostileError, Tasks};

/// Maximum number of connections that a proxy accepts in its lifetime.
const CONNECTIONS_MAX: u64 = 10_000;

/// Bytes read at a time by a slow proxy.
const CHUNK_BYTES: usize = 64 << 10;

/// State of all connections, by their numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    /// Connections with lower numbers no longer carry data.
    silent_before: u64,
    /// Silent connections from this number on are closed towards the dialling side.
    closed_from: u64,
    /// Connections with lower numbers are closed at both ends.
    ended_before: u64,
}

#[derive(Debug)]
struct ProxyState {
    target: SocketAddr,
    source: Mutex<Ipv4Addr>,
    is_closed: AtomicBool,
    accepted: AtomicU64,
    fate: watch::Sender<Fate>,
    delay: Duration,
}

/// Running proxy; a drop closes all connections.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<ProxyState>,
    addr: SocketAddr,
    _tasks: Tasks,
}

impl Proxy {
    /// Listens on a port of `ip`, and dials `target` from `source`.
    pub async fn start(
        ip: Ipv4Addr,
        target: SocketAddr,
        source: Ipv4Addr,
    ) -> Result<Self, HostileError> {
        Self::slow(ip, target, source, Duration::ZERO).await
    }

    /// Starts a proxy like [`Self::start`] that delays every byte by `delay` in each direction, at any rate.
    pub async fn slow(
        ip: Ipv4Addr,
        target: SocketAddr,
        source: Ipv4Addr,
        delay: Duration,
    ) -> Result<Self, HostileError> {
        let listening = TcpListener::bind((ip, 0)).await;
        let listener = listening.map_err(HostileError::io("cannot listen for a proxy"))?;
        let addr = listener.local_addr();
        let addr = addr.map_err(HostileError::io("cannot listen for a proxy"))?;
        let shared = Arc::new(ProxyState {
            target,
            source: Mutex::new(source),
            is_closed: AtomicBool::new(false),
            accepted: AtomicU64::new(0),
            fate: watch::Sender::new(Fate::default()),
            delay,
        });
        let mut tasks = Tasks::default();
        tasks.spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self {
            shared,
            addr,
            _tasks: tasks,
        })
    }

    /// Returns the address on which the proxy listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Sets the address from which new connections are made.
    pub fn set_source(&self, source: Ipv4Addr) {
        let current = &self.shared.source;
        *current.lock() = source;
    }

    /// Sets whether new connections are closed at once.
    pub fn set_closed(&self, is_closed: bool) {
        self.shared.is_closed.store(is_closed, Ordering::Release);
    }

    /// Silences all present connections: they carry no more data, and neither end is closed.
    pub fn silence(&self) {
        let now = self.shared.accepted.load(Ordering::Acquire);
        self.shared.fate.send_modify(|fate| {
            fate.silent_before = now;
            fate.closed_from = now;
        });
    }

    /// Closes all present connections towards the dialling side; the other end is not closed.
    pub fn cut(&self) {
        let now = self.shared.accepted.load(Ordering::Acquire);
        self.shared.fate.send_modify(|fate| {
            fate.closed_from = fate.silent_before;
            fate.silent_before = now;
        });
    }

    /// Returns a handle that ends silenced or cut connections.
    #[must_use]
    pub fn ender(&self) -> Ender {
        Ender(Arc::clone(&self.shared))
    }
}

/// Handle that ends silenced or cut connections.
#[derive(Clone, Debug)]
pub struct Ender(Arc<ProxyState>);

impl Ender {
    /// Closes all silent connections at both ends.
    pub fn end_silent(&self) {
        self.0
            .fate
            .send_modify(|fate| fate.ended_before = fate.silent_before);
    }
}

async fn accept(listener: TcpListener, shared: Arc<ProxyState>) {
    let mut connections = Tasks::default();
    for number in 0..CONNECTIONS_MAX {
        let Ok((client, _)) = listener.accept().await else {
            return;
        };
        shared.accepted.store(number + 1, Ordering::Release);
        if !shared.is_closed.load(Ordering::Acquire) {
            connections.spawn(carry(client, number, Arc::clone(&shared)));
        }
    }
}

/// Forwards one connection until it ends.
async fn carry(client: TcpStream, number: u64, shared: Arc<ProxyState>) {
    let source = *shared.source.lock();
    let Ok(mut server) = dial(source, shared.target).await else {
        return;
    };
    let mut client = Some(client);
    let mut fate = shared.fate.subscribe();
    if let Some(client) = &mut client {
        let pumping = pump(client, &mut server, shared.delay);
        tokio::select! {
            () = pumping => return,
            _ = fate.wait_for(|fate| fate.silent_before > number) => {}
        }
    }
    if fate.borrow().closed_from <= number {
        client = None;
    }
    // The open ends stay open until the connection is ended.
    let _ = fate.wait_for(|fate| fate.ended_before > number).await;
    drop((client, server));
}

/// Connects from the address `source`.
pub(super) async fn dial(source: Ipv4Addr, target: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((source, 0)))?;
    let stream = socket.connect(target).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn pump(client: &mut TcpStream, server: &mut TcpStream, delay: Duration) {
    let _ = client.set_nodelay(true);
    if delay.is_zero() {
        let _ = tokio::io::copy_bidirectional(client, server).await;
        return;
    }
    let (client_in, client_out) = client.split();
    let (server_in, server_out) = server.split();
    tokio::select! {
        () = late(client_in, server_out, delay) => {}
        () = late(server_in, client_out, delay) => {}
    }
}

/// Copies one direction and delays each byte by `delay`. The queue has no limit of its own; the sender's
/// window limits it.
async fn late(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, delay: Duration) {
    let (sender, mut waiting) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let read = async move {
        loop {
            let mut chunk = vec![0; CHUNK_BYTES];
            match from.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(length) => chunk.truncate(length),
            }
            if sender.send((Instant::now() + delay, chunk)).is_err() {
                return;
            }
        }
    };
    let write = async {
        while let Some((due, chunk)) = waiting.recv().await {
            sleep_until(due).await;
            if to.write_all(&chunk).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(read, write);
}
