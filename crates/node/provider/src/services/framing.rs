//! Frames on a service's stream: messages with a length prefix.

use std::io;

use bytes::Bytes;
use futures::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use undertone_wire::{VARINT_LEN_MAX, VarintError, put_varint, read_varint};

#[cfg(test)]
#[path = "tests/framing.rs"]
mod tests;

/// Bytes of a body that are copied after its length, so that both are sent in one piece.
const COPIED_MAX: usize = 16 << 10;

/// Bytes reserved for a body before any of it has arrived.
const READ_MIN: usize = 4 << 10;

/// Reads one frame of at most `max` bytes; returns `None` if the stream ends before it. Memory grows with the bytes
/// that arrive, not with the announced length.
///
/// # Errors
/// `InvalidData` for a length that is malformed or over `max`, `UnexpectedEof` for a stream that ends within a
/// frame, or the error of the stream.
pub(super) async fn read_frame<T: AsyncRead + Unpin>(
    stream: &mut T,
    max: usize,
) -> io::Result<Option<Bytes>> {
    match read_length(stream, max).await? {
        Some(len) => read_body(stream, len).await.map(Some),
        None => Ok(None),
    }
}

/// Reads the length of a frame of at most `max` bytes; returns `None` if the stream ends before it.
///
/// # Errors
/// As [`read_frame`].
pub(super) async fn read_length<T: AsyncRead + Unpin>(
    stream: &mut T,
    max: usize,
) -> io::Result<Option<usize>> {
    let mut prefix = Vec::with_capacity(VARINT_LEN_MAX);
    let len = loop {
        let mut byte = [0];
        if stream.read(&mut byte).await? == 0 {
            return match prefix.is_empty() {
                true => Ok(None),
                false => Err(io::ErrorKind::UnexpectedEof.into()),
            };
        }
        prefix.push(byte[0]);
        match read_varint(&prefix) {
            Ok((len, _)) => break len,
            Err(VarintError::Incomplete) => {}
            Err(error) => return Err(invalid(format!("length of a frame: {error}"))),
        }
    };
    let len = usize::try_from(len).ok().filter(|len| *len <= max);
    let len = len.ok_or_else(|| invalid(format!("a frame is longer than {max} bytes")))?;
    Ok(Some(len))
}

/// Reads the `len` bytes of a frame that follow its length.
///
/// # Errors
/// As [`read_frame`].
pub(super) async fn read_body<T: AsyncRead + Unpin>(
    stream: &mut T,
    len: usize,
) -> io::Result<Bytes> {
    let mut body = Vec::new();
    while body.len() < len {
        let had = body.len();
        let room = (len - had).min(had.max(READ_MIN));
        // A vector that grows by itself would take up to twice the frame's size.
        body.reserve_exact(room);
        body.resize(had + room, 0);
        let (_, rest) = body.split_at_mut(had);
        stream.read_exact(rest).await?;
    }
    Ok(body.into())
}

/// Writes one frame and flushes it.
///
/// # Errors
/// The error of the stream.
pub(super) async fn write_frame<T: AsyncWrite + Unpin>(
    stream: &mut T,
    body: &[u8],
) -> io::Result<()> {
    let (framed, copied) = framed_head(body);
    let rest = &body[copied..];
    stream.write_all(&framed).await?;
    stream.write_all(rest).await?;
    stream.flush().await
}

/// Returns the pieces of a frame to write one after the other: its length with a part of the body, and the rest.
pub(super) fn frame_pieces(body: &Bytes) -> [Bytes; 2] {
    let (framed, copied) = framed_head(body);
    [framed.into(), body.slice(copied..)]
}

/// Returns the length of a frame followed by the first bytes of its body, and the number of these bytes.
fn framed_head(body: &[u8]) -> (Vec<u8>, usize) {
    let copied = body.len().min(COPIED_MAX);
    let mut framed = Vec::with_capacity(copied + VARINT_LEN_MAX);
    put_varint(&mut framed, body.len() as u64);
    framed.extend_from_slice(&body[..copied]);
    (framed, copied)
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
