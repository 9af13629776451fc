//! Relay within one TCP connection, which delays the bytes and shows them to an observer.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

/// Number of bytes read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Bytes of one direction as they reach the relay.
#[derive(Clone, Copy, Debug)]
pub struct PassingBytes<'a> {
    /// Time from the start of the connection, microseconds.
    pub at_us: u64,
    /// Whether the end that dialled sent them.
    pub is_dialler: bool,
    /// Bytes of the piece.
    pub bytes: &'a [u8],
}

/// Observer of all bytes; an error from it ends the connection.
pub type Observer = Arc<Mutex<dyn FnMut(PassingBytes<'_>) -> io::Result<()> + Send>>;

/// Accepts one connection, connects it to `to`, and forwards bytes in both directions, each `delay` later.
///
/// # Errors
/// An error of a socket, or of the observer.
pub async fn run(
    listener: TcpListener,
    to: SocketAddr,
    delay: Duration,
    observer: Observer,
) -> io::Result<()> {
    let (near, _) = listener.accept().await?;
    let far = TcpStream::connect(to).await?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let start = Instant::now();
    let (near_read, near_write) = near.into_split();
    let (far_read, far_write) = far.into_split();
    let shows = |is_dialler: bool, observer: Observer| {
        move |bytes: &[u8]| {
            let at_us = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
            (observer.lock())(PassingBytes {
                at_us,
                is_dialler,
                bytes,
            })
        }
    };
    let forth = one_way(near_read, far_write, delay, shows(true, observer.clone()));
    let back = one_way(far_read, near_write, delay, shows(false, observer));
    tokio::try_join!(forth, back).map(|_| ())
}

async fn one_way(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    delay: Duration,
    mut show: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let (queue, mut waiting) = mpsc::unbounded_channel::<(Instant, Bytes)>();
    let reading = async move {
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let length = from.read(&mut chunk).await?;
            if length == 0 {
                return Ok(());
            }
            let due = Instant::now() + delay;
            show(&chunk[..length])?;
            let bytes = Bytes::copy_from_slice(&chunk[..length]);
            if queue.send((due, bytes)).is_err() {
                return Ok(());
            }
        }
    };
    let writing = async move {
        while let Some((due, bytes)) = waiting.recv().await {
            sleep_until(due).await;
            to.write_all(&bytes).await?;
        }
        to.shutdown().await
    };
    tokio::try_join!(reading, writing).map(|_: ((), ())| ())
}
