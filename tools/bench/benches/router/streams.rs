//! Streams of libp2p whose remote end discards everything.
//!
//! A handler of `libp2p-gossipsub` can only write to a stream of libp2p, and only a swarm creates these. So a
//! swarm creates some over a custom transport without a socket, a multiplexer or encryption. Its streams
//! agree to any protocol and then accept every byte at once. They keep working when the swarm is gone.

use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use futures::future::{Either, Ready, ready, select};
use futures::io::{AsyncRead, AsyncWrite};
use libp2p::core::Multiaddr;
use libp2p::core::multiaddr::Protocol;
use libp2p::core::muxing::{StreamMuxer, StreamMuxerBox, StreamMuxerEvent};
use libp2p::core::transport::{DialOpts, ListenerId, Transport, TransportError, TransportEvent};
use libp2p::swarm::{self, Config, Stream, StreamProtocol, SwarmEvent};
use libp2p::{PeerId, Swarm};
use parking_lot::Mutex;

const PROTOCOL: &str = "/swallow";

/// Answer of a stream's remote end to a proposal of [`PROTOCOL`] (multistream-select).
const ANSWER: &[u8] = b"\x13/multistream/1.0.0\n\x09/swallow\n";

/// A stream, and the record of what was written to it.
pub(crate) type Swallowing = (Stream, Arc<Written>);

/// Opens `count` streams.
pub(crate) fn open(count: usize) -> Vec<Swallowing> {
    let remote = PeerId::random();
    let opened = Arc::default();
    let transport = Nowhere {
        remote,
        opened: Arc::clone(&opened),
    };
    let mut swarm = Swarm::new(
        transport.boxed(),
        libp2p_stream::Behaviour::new(),
        PeerId::random(),
        Config::without_executor(),
    );
    let dial = swarm::dial_opts::DialOpts::peer_id(remote)
        .addresses(vec![Multiaddr::empty().with(Protocol::Memory(1))])
        .build();
    swarm.dial(dial).expect("nothing denies the first dial");
    futures::executor::block_on(async {
        while !matches!(
            swarm.select_next_some().await,
            SwarmEvent::ConnectionEstablished { .. }
        ) {}
        let mut control = swarm.behaviour().new_control();
        let opening = pin!(async {
            let mut streams = Vec::new();
            for _ in 0..count {
                let protocol = StreamProtocol::new(PROTOCOL);
                let stream = control.open_stream(remote, protocol).await;
                streams.push(stream.expect("the other end agrees to everything"));
            }
            streams
        });
        let driving = pin!(async { while swarm.next().await.is_some() {} });
        let Either::Left((streams, _)) = select(opening, driving).await else {
            unreachable!("a swarm never ends");
        };
        let written = std::mem::take(&mut *opened.lock());
        assert_eq!(written.len(), count, "streams are opened one by one");
        streams.into_iter().zip(written).collect()
    })
}

/// Record of what was written to a stream.
#[derive(Debug, Default)]
pub(crate) struct Written {
    bytes: AtomicU64,
    recording: AtomicBool,
    recorded: Mutex<BytesMut>,
}

impl Written {
    /// Returns the number of bytes so far, including those of the negotiation.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Starts to record what is written.
    pub(crate) fn record(&self) {
        self.recording.store(true, Ordering::Relaxed);
    }

    /// Stops recording, and returns what was written meanwhile.
    pub(crate) fn recorded(&self) -> Bytes {
        self.recording.store(false, Ordering::Relaxed);
        let mut recorded = self.recorded.lock();
        recorded.split().freeze()
    }

    fn add(&self, data: &[u8]) {
        // Only one thread writes, so a load and a store are enough.
        let bytes = self.bytes() + data.len() as u64;
        self.bytes.store(bytes, Ordering::Relaxed);
        if self.recording.load(Ordering::Relaxed) {
            let mut recorded = self.recorded.lock();
            recorded.extend_from_slice(data);
        }
    }
}

type Opened = Arc<Mutex<Vec<Arc<Written>>>>;

/// A transport on which every dial succeeds.
struct Nowhere {
    remote: PeerId,
    opened: Opened,
}

impl Transport for Nowhere {
    type Output = (PeerId, StreamMuxerBox);
    type Error = io::Error;
    type ListenerUpgrade = Ready<io::Result<Self::Output>>;
    type Dial = Ready<io::Result<Self::Output>>;

    fn listen_on(&mut self, _: ListenerId, at: Multiaddr) -> Result<(), TransportError<io::Error>> {
        Err(TransportError::MultiaddrNotSupported(at))
    }

    fn remove_listener(&mut self, _: ListenerId) -> bool {
        false
    }

    fn dial(
        &mut self,
        _: Multiaddr,
        _: DialOpts,
    ) -> Result<Self::Dial, TransportError<Self::Error>> {
        let muxer = Muxer(Arc::clone(&self.opened));
        Ok(ready(Ok((self.remote, StreamMuxerBox::new(muxer)))))
    }

    fn poll(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<TransportEvent<Self::ListenerUpgrade, Self::Error>> {
        Poll::Pending
    }
}

/// Muxer that opens as many streams as requested.
struct Muxer(Opened);

impl StreamMuxer for Muxer {
    type Substream = Substream;
    type Error = Infallible;

    fn poll_inbound(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Result<Substream, Infallible>> {
        Poll::Pending
    }

    fn poll_outbound(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Result<Substream, Infallible>> {
        let written = Arc::<Written>::default();
        let mut opened = self.0.lock();
        opened.push(Arc::clone(&written));
        let answer = ANSWER;
        Poll::Ready(Ok(Substream { answer, written }))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn poll(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Result<StreamMuxerEvent, Infallible>> {
        Poll::Pending
    }
}

struct Substream {
    /// Rest of the answer to read; after it the stream stays pending.
    answer: &'static [u8],
    written: Arc<Written>,
}

impl AsyncRead for Substream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if self.answer.is_empty() {
            return Poll::Pending;
        }
        let len = buffer.len().min(self.answer.len());
        let (now, later) = self.answer.split_at(len);
        buffer[..len].copy_from_slice(now);
        self.answer = later;
        Poll::Ready(Ok(len))
    }
}

impl AsyncWrite for Substream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.written.add(data);
        Poll::Ready(Ok(data.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
