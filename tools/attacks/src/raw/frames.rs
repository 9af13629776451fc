//! Frames with a length prefix on streams: reading those of the other side, and answering them.

use bytes::{Buf, Bytes, BytesMut};
use futures::{AsyncReadExt, AsyncWriteExt, StreamExt};
use libp2p::swarm::Stream;
use libp2p_stream::IncomingStreams;
use tokio::sync::mpsc;
use undertone_gossip::wire::{VarintError, read_varint};
use undertone_wire::put_varint;

use super::Inbound;

/// Longest frame that is read, above all frame limits in use; a longer frame ends the reading of its stream.
pub(super) const MAX_FRAME_BYTES: usize = 32 << 20;
/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// Error for a length prefix that is malformed or above [`MAX_FRAME_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadLength;

/// Reads or holds all inbound streams until the swarm is gone.
pub(super) async fn read_streams(mut streams: IncomingStreams, inbound: Inbound) {
    let mut unread = Vec::new();
    while let Some((_, stream)) = streams.next().await {
        match &inbound {
            Some(frames) => drop(tokio::spawn(read_stream(stream, frames.clone()))),
            None => unread.push(stream),
        }
    }
}

async fn read_stream(mut stream: Stream, frames: mpsc::UnboundedSender<Bytes>) {
    let mut buffer = BytesMut::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        loop {
            match take_frame(&mut buffer) {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    if frames.send(frame).is_err() {
                        return;
                    }
                }
                Err(BadLength) => return,
            }
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(read) => buffer.extend_from_slice(&chunk[..read]),
        }
    }
}

/// Removes the first frame from the buffer, if it is complete.
pub(super) fn take_frame(buffer: &mut BytesMut) -> Result<Option<Bytes>, BadLength> {
    let (len, prefix) = match read_varint(buffer) {
        Ok(read) => read,
        Err(VarintError::Overflow) => return Err(BadLength),
        Err(_) => return Ok(None),
    };
    let len = usize::try_from(len).map_err(|_| BadLength)?;
    if len > MAX_FRAME_BYTES {
        return Err(BadLength);
    }
    if buffer.len() < prefix + len {
        return Ok(None);
    }
    buffer.advance(prefix);
    Ok(Some(buffer.split_to(len).freeze()))
}

/// Reads the first frame of a stream; `None` if none came.
pub(super) async fn read_one(stream: &mut Stream) -> Option<Bytes> {
    let mut buffer = BytesMut::new();
    let mut chunk = [0; 4096];
    loop {
        if let Some(frame) = take_frame(&mut buffer).ok()? {
            return Some(frame);
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => buffer.extend_from_slice(&chunk[..read]),
        }
    }
}

/// Writes a frame and closes the stream; returns `None` if the other side does not accept it.
pub(super) async fn write_last(stream: &mut Stream, body: &[u8]) -> Option<()> {
    let mut frame = Vec::with_capacity(body.len() + 4);
    put_varint(&mut frame, body.len() as u64);
    frame.extend_from_slice(body);
    stream.write_all(&frame).await.ok()?;
    stream.close().await.ok()
}
