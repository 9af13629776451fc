//! Tests of a yamux connection whose peer writes its frames by hand.

use std::time::Duration;

use futures::future::poll_fn;
use futures::{AsyncReadExt, AsyncWriteExt};
use libp2p::core::muxing::StreamMuxerExt;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::task::JoinHandle;

use pipe::Pipe;

use super::*;

/// Delay of an answer that is long enough for a window to fill meanwhile.
const LATE: Duration = Duration::from_millis(1_500);

const DATA: u8 = 0;
const WINDOW_UPDATE: u8 = 1;
const PING: u8 = 2;
const SYN: u16 = 1;
const ACK: u16 = 2;
const FIN: u16 = 4;
const RST: u16 = 8;

mod pipe {
    //! Adapter that gives tokio's pipe the traits of `futures`.

    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use futures::io::{AsyncRead, AsyncWrite};
    use tokio::io::{DuplexStream, ReadBuf};

    #[derive(Debug)]
    pub(super) struct Pipe(pub(super) DuplexStream);

    impl AsyncRead for Pipe {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buffer: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            let mut filled = ReadBuf::new(buffer);
            ready!(tokio::io::AsyncRead::poll_read(
                Pin::new(&mut self.0),
                cx,
                &mut filled
            ))?;
            Poll::Ready(Ok(filled.filled().len()))
        }
    }

    impl AsyncWrite for Pipe {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            tokio::io::AsyncWrite::poll_write(Pin::new(&mut self.0), cx, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            tokio::io::AsyncWrite::poll_flush(Pin::new(&mut self.0), cx)
        }

        fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            tokio::io::AsyncWrite::poll_shutdown(Pin::new(&mut self.0), cx)
        }
    }
}

/// The peer's end of the connection, which sends and reads single yamux frames.
struct Peer(DuplexStream);

struct Header {
    kind: u8,
    flags: u16,
    stream: u32,
    value: u32,
}

impl Peer {
    async fn send(&mut self, kind: u8, flags: u16, stream: u32, value: u32) {
        let mut header = vec![0, kind];
        header.extend_from_slice(&flags.to_be_bytes());
        header.extend_from_slice(&stream.to_be_bytes());
        header.extend_from_slice(&value.to_be_bytes());
        self.0.write_all(&header).await.expect("the node reads");
    }

    async fn data(&mut self, stream: u32, bytes: &[u8]) {
        let len = u32::try_from(bytes.len()).expect("a small frame");
        self.send(DATA, 0, stream, len).await;
        self.0.write_all(bytes).await.expect("the node reads");
    }

    async fn header(&mut self) -> Header {
        let mut header = [0; 12];
        self.0
            .read_exact(&mut header)
            .await
            .expect("the node writes");
        let word = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().expect("four"));
        let read = Header {
            kind: header[1],
            flags: u16::from_be_bytes([header[2], header[3]]),
            stream: word(4),
            value: word(8),
        };
        if read.kind == DATA {
            let mut body = vec![0; read.value as usize];
            self.0.read_exact(&mut body).await.expect("the node writes");
        }
        read
    }
}

/// The node's end of the connection: accepts streams and reads everything that they deliver.
fn node(pipe: DuplexStream, config: YamuxUpgrade) -> JoinHandle<()> {
    let connection = Connection::new(Pipe(pipe), config.0, Mode::Server);
    let mut muxer: Muxer<Pipe> = Muxer::new(connection);
    tokio::spawn(async move {
        while let Ok(mut stream) = poll_fn(|cx| muxer.poll_inbound_unpin(cx)).await {
            tokio::spawn(async move {
                let mut buffer = vec![0; 64 << 10];
                while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
                stream.close().await
            });
        }
    })
}

/// Bytes that a peer may have in flight on one stream, after it has answered pings late and has used
/// most of its window `rounds` times.
async fn credit_of_a_peer_that_answers_late(config: YamuxUpgrade, rounds: u32) -> u64 {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let node = node(ours, config);
    let mut peer = Peer(theirs);
    peer.send(WINDOW_UPDATE, SYN, 1, 0).await;
    let ping = loop {
        let header = peer.header().await;
        if header.kind == PING && header.flags == SYN {
            break header.value;
        }
    };
    tokio::time::sleep(LATE).await;
    peer.send(PING, ACK, 0, ping).await;
    let mut credit = u64::from(yamux::DEFAULT_CREDIT);
    let mut largest = credit;
    let chunk = vec![0; 64 << 10];
    for _ in 0..rounds {
        let until = largest / 4;
        while credit > until {
            let len = chunk.len().min(credit as usize);
            peer.data(1, &chunk[..len]).await;
            credit -= len as u64;
        }
        let update = loop {
            let header = peer.header().await;
            if header.kind == WINDOW_UPDATE && header.stream == 1 && header.value > 0 {
                break header.value;
            }
        };
        credit += u64::from(update);
        largest = largest.max(credit);
    }
    node.abort();
    largest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_answers_pings_late_gets_no_more_credit_than_a_node_needs() {
    let bounded = credit_of_a_peer_that_answers_late(YamuxUpgrade::default(), 12).await;
    let most = u64::from(yamux::DEFAULT_CREDIT) + WINDOW_GROWTH_BYTES as u64;
    assert!(bounded <= most, "{bounded} bytes");
    assert!(
        bounded >= 3 << 19,
        "grows to what is needed: {bounded} bytes"
    );
}

/// Confirms that the attack works against the defaults of the yamux crate.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_bound_the_same_peer_gets_tens_of_megabytes() {
    let defaults = YamuxUpgrade(yamux::Config::default());
    let unbounded = credit_of_a_peer_that_answers_late(defaults, 9).await;
    assert!(unbounded > 30 << 20, "{unbounded} bytes");
}

#[tokio::test]
async fn streams_beyond_those_that_a_node_needs_are_reset() {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let node = node(ours, YamuxUpgrade::default());
    let mut peer = Peer(theirs);
    let streams = u32::try_from(INBOUND_STREAMS_MAX + 3).expect("few");
    for n in 0..streams {
        peer.send(WINDOW_UPDATE, SYN, 2 * n + 1, 0).await;
    }
    let mut reset = Vec::new();
    while reset.len() < 3 {
        let header = peer.header().await;
        if header.flags & RST != 0 {
            reset.push(header.stream);
        }
    }
    let first = 2 * streams - 5;
    assert_eq!(reset, [first, first + 2, first + 4]);
    // One that ends makes room for another.
    peer.send(WINDOW_UPDATE, RST, 1, 0).await;
    node.abort();
}

#[tokio::test]
async fn a_light_client_that_opens_a_hundred_streams_at_once_gets_them_all() {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let node = node(ours, YamuxUpgrade::default());
    let mut peer = Peer(theirs);
    for n in 0..100 {
        peer.send(WINDOW_UPDATE, SYN, 2 * n + 1, 0).await;
    }
    for n in 0..100 {
        peer.data(2 * n + 1, b"request").await;
        peer.send(DATA, FIN, 2 * n + 1, 0).await;
    }
    let mut ended = 0;
    while ended < 100 {
        let header = peer.header().await;
        assert_eq!(header.flags & RST, 0, "stream {} is reset", header.stream);
        ended += u32::from(header.flags & FIN != 0);
    }
    node.abort();
}
