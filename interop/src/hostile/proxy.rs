//! A TCP proxy between two nodes that can fall silent, lose one end, or be slow.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use super::{HostileError, Tasks};

/// Connections that a proxy accepts in its life, at most.
const CONNECTIONS_MAX: u64 = 10_000;

/// Bytes read at a time by a slow proxy.
const CHUNK_BYTES: usize = 64 << 10;

/// What became of all connections up to a number.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    /// Connections before this one carry nothing any more.
    silent_before: u64,
    /// Of those, connections from this one on were closed towards who dialled.
    closed_from: u64,
    /// Connections before this one are closed.
    ended_before: u64,
}

#[derive(Debug)]
struct Shared {
    target: SocketAddr,
    source: Mutex<Ipv4Addr>,
    is_closed: AtomicBool,
    accepted: AtomicU64,
    fate: watch::Sender<Fate>,
    delay: Duration,
}

/// A running proxy. Dropping it closes all connections.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
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

    /// As [`Self::start`]; every byte is late by `delay`, each way, with no bound on the rate.
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
        let shared = Arc::new(Shared {
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

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Address from which new connections are made.
    pub fn set_source(&self, source: Ipv4Addr) {
        let current = &self.shared.source;
        *current.lock().unwrap_or_else(PoisonError::into_inner) = source;
    }

    /// Whether new connections are closed at once.
    pub fn set_closed(&self, is_closed: bool) {
        self.shared.is_closed.store(is_closed, Ordering::Release);
    }

    /// Connections so far carry nothing any more, and none of their ends hears of it.
    pub fn silence(&self) {
        let now = self.shared.accepted.load(Ordering::Acquire);
        self.shared.fate.send_modify(|fate| {
            fate.silent_before = now;
            fate.closed_from = now;
        });
    }

    /// Connections so far are closed towards who dialled; the other end does not hear of it.
    pub fn cut(&self) {
        let now = self.shared.accepted.load(Ordering::Acquire);
        self.shared.fate.send_modify(|fate| {
            fate.closed_from = fate.silent_before;
            fate.silent_before = now;
        });
    }

    /// What ends the connections that were silenced or cut.
    #[must_use]
    pub fn ender(&self) -> Ender {
        Ender(Arc::clone(&self.shared))
    }
}

/// Ends connections that were silenced or cut.
#[derive(Clone, Debug)]
pub struct Ender(Arc<Shared>);

impl Ender {
    /// Closes them, so that both ends hear of it at last.
    pub fn end_silent(&self) {
        self.0
            .fate
            .send_modify(|fate| fate.ended_before = fate.silent_before);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
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

/// One connection, until it ends.
async fn carry(client: TcpStream, number: u64, shared: Arc<Shared>) {
    let source = *shared.source.lock().unwrap_or_else(PoisonError::into_inner);
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
    // Both ends stay as they are until then.
    let _ = fate.wait_for(|fate| fate.ended_before > number).await;
    drop((client, server));
}

/// Connects from a certain address.
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

/// Copies one direction, each byte late by `delay`. What waits is not bounded: the sender's window is.
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
