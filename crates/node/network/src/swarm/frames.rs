//! Length-prefixed frames on a stream, read and written with as few copies as possible.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes, BytesMut};
use futures::io::{AsyncRead, AsyncWrite};
use libp2p::PeerId;
use thiserror::Error;
use undertone_gossip::wire::{EarlyId, Frame, VarintError, read_varint};

use super::in_transit::{InTransit, LongFrame};

/// Minimum number of bytes to make room for in one read, unless the frame ends earlier.
const READ_CHUNK: usize = 16 << 10;

/// Maximum size of the first read of a frame. It goes to a buffer on the stack, so that an idle stream has no heap
/// buffer of its own: most streams are idle most of the time.
const FIRST_READ: usize = 4 << 10;

/// Growth of a frame's buffer, as a multiple of the bytes that have arrived. Memory for a claimed megabyte is allocated
/// in full only once a quarter of it has arrived, and data is copied twice, not six times.
const GROWTH: usize = 3;

/// Largest frame that is copied to an allocation of its own. A frame left in the read buffer keeps the whole allocation
/// alive: one of 200 bytes, cached for seconds, would cost [`READ_CHUNK`].
const COPIED_BYTES: usize = READ_CHUNK / 2;

/// Reason why no frame could be read.
#[derive(Debug, Error)]
pub(crate) enum ReadError {
    #[error("stream: {0}")]
    Io(#[from] io::Error),
    #[error("frame of {len} bytes is over the limit of {max}")]
    TooLarge { len: u64, max: usize },
    #[error("frame length: {0}")]
    Length(VarintError),
}

/// Limits and owner of a stream from which frames are read.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// Longest frame that is accepted, bytes.
    pub(crate) frame_bytes_max: usize,
    /// Length above which an incomplete frame is reported to `in_transit`, bytes.
    pub(crate) long_frame_bytes: usize,
    /// Registry of long frames in transit.
    pub(crate) in_transit: InTransit,
    /// Peer that sends the frames.
    pub(crate) peer: PeerId,
}

/// A complete frame with its length prefix.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// Frame, with the id of its first message if that was hashed while the frame arrived.
    pub(crate) frame: Frame,
    /// Entry of a long frame in transit; dropped when the router has the frame.
    pub(crate) long_frame: Option<LongFrame>,
}

/// Result of looking for a frame in the buffer.
enum Parsed {
    /// A complete frame with its length prefix.
    Frame(Bytes),
    /// No complete frame: at least this many bytes are missing.
    Needs(usize),
}

/// Reads frames. Memory grows with the bytes that have arrived, never with the length that a prefix claims.
#[derive(Debug)]
pub(crate) struct FrameReader<S> {
    stream: S,
    buffer: BytesMut,
    /// Number of bytes in `buffer` that hold data.
    filled: usize,
    reading: Reading,
    /// Length of the frame in transit including its prefix, bytes; 0 while unknown.
    coming_bytes: usize,
    long_frame: Option<LongFrame>,
    /// Incremental hash of a frame that has not arrived completely.
    early: Option<EarlyId>,
}

impl<S: AsyncRead + Unpin> FrameReader<S> {
    pub(crate) fn new(stream: S, reading: Reading) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
            filled: 0,
            reading,
            coming_bytes: 0,
            long_frame: None,
            early: None,
        }
    }

    /// Returns the next frame with its prefix; `None` when the stream has ended.
    pub(crate) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Incoming>, ReadError>> {
        loop {
            let missing = match self.parse()? {
                Parsed::Frame(frame) => return Poll::Ready(Ok(Some(self.incoming(frame)))),
                Parsed::Needs(missing) => missing,
            };
            if self.filled == 0 {
                match ready!(self.poll_first(cx))? {
                    0 => return Poll::Ready(Ok(None)),
                    _ => continue,
                }
            }
            let grow = missing.min(READ_CHUNK.max(self.filled * GROWTH));
            let wanted = self.filled + grow;
            if self.buffer.len() < wanted {
                self.buffer.resize(wanted, 0);
            }
            let space = &mut self.buffer[self.filled..];
            let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(cx, space) else {
                self.note_waiting();
                return Poll::Pending;
            };
            let read = read?;
            if read == 0 {
                return Poll::Ready(Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()));
            }
            self.filled += read;
        }
    }

    /// Reads the first bytes of a frame and returns their number; 0 when the stream has ended.
    fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut first = [0; FIRST_READ];
        let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(cx, &mut first) else {
            self.buffer = BytesMut::new();
            return Poll::Pending;
        };
        let read = read?;
        self.buffer.clear();
        self.buffer.extend_from_slice(&first[..read]);
        self.filled = read;
        Poll::Ready(Ok(read))
    }

    fn incoming(&mut self, frame: Bytes) -> Incoming {
        let frame = match self.early.take() {
            Some(early) => Frame::with_early_id(frame, early),
            None => Frame::from(frame),
        };
        Incoming {
            frame,
            long_frame: self.long_frame.take(),
        }
    }

    /// Handles an incomplete frame: hashes the bytes that are here, and reports the frame if it is long.
    fn note_waiting(&mut self) {
        if self.coming_bytes > 0 {
            let early = self.early.get_or_insert_default();
            early.advance(&self.buffer[..self.filled]);
        }
        let Reading {
            long_frame_bytes,
            in_transit,
            peer,
            ..
        } = &self.reading;
        if self.coming_bytes > *long_frame_bytes && self.long_frame.is_none() {
            self.long_frame = Some(in_transit.begin(*peer));
        }
    }

    /// Removes a complete frame from the buffer.
    fn parse(&mut self) -> Result<Parsed, ReadError> {
        let (len, prefix) = match read_varint(&self.buffer[..self.filled]) {
            Ok(read) => read,
            Err(VarintError::Incomplete) => {
                self.coming_bytes = 0;
                return Ok(Parsed::Needs(READ_CHUNK));
            }
            Err(error) => return Err(ReadError::Length(error)),
        };
        let max = self.reading.frame_bytes_max;
        let frame = match usize::try_from(len) {
            Ok(frame) if frame <= max => frame,
            _ => return Err(ReadError::TooLarge { len, max }),
        };
        let end = prefix + frame;
        self.coming_bytes = end;
        if self.filled < end {
            return Ok(Parsed::Needs(end - self.filled));
        }
        self.filled -= end;
        if end <= COPIED_BYTES {
            let frame = Bytes::copy_from_slice(&self.buffer[..end]);
            self.buffer.advance(end);
            return Ok(Parsed::Frame(frame));
        }
        Ok(Parsed::Frame(self.buffer.split_to(end).freeze()))
    }
}

/// Writes frames in the order in which it receives them.
#[derive(Debug)]
pub(crate) struct FrameWriter<S> {
    stream: S,
    current: Bytes,
    unflushed: bool,
    /// Whether nothing of `current` has been written yet.
    fresh: bool,
}

impl<S: AsyncWrite + Unpin> FrameWriter<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            current: Bytes::new(),
            unflushed: false,
            fresh: false,
        }
    }

    /// Takes frames from `next` and writes them until there are none or the stream is full. Becomes ready only when the
    /// stream has failed.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        mut next: impl FnMut(&mut Context<'_>) -> Option<Bytes>,
    ) -> Poll<io::Result<Infallible>> {
        loop {
            while !self.current.is_empty() {
                let stream = Pin::new(&mut self.stream);
                let written = ready!(stream.poll_write(cx, &self.current))?;
                if written == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                self.current.advance(written);
                self.unflushed = true;
                if std::mem::take(&mut self.fresh) && !self.current.is_empty() {
                    // Yield first: the task that reads the other end can begin while the rest is copied.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
            }
            match next(cx) {
                Some(bytes) => {
                    self.current = bytes;
                    self.fresh = true;
                }
                None => break,
            }
        }
        if self.unflushed {
            ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
            self.unflushed = false;
        }
        Poll::Pending
    }
}

#[cfg(test)]
#[path = "tests/frames.rs"]
mod tests;
