//! Frames on a service's stream: a message with its length before it.

use std::io;

use bytes::Bytes;
use futures::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use undertone_wire::{VARINT_LEN_MAX, VarintError, put_varint, read_varint};

#[cfg(test)]
mod tests;

/// Reads one frame of at most `max` bytes; `None` if the stream ends before it. Memory grows with the bytes
/// that arrive, not with the length that is announced.
///
/// # Errors
/// `InvalidData` for a length that is malformed or over `max`, `UnexpectedEof` for a stream that ends within a
/// frame, or the error of the stream.
pub(super) async fn read_frame<T: AsyncRead + Unpin>(
    stream: &mut T,
    max: usize,
) -> io::Result<Option<Bytes>> {
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
    let mut body = Vec::new();
    stream.take(len as u64).read_to_end(&mut body).await?;
    if body.len() < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(body.into()))
}

/// Writes one frame and flushes it.
///
/// # Errors
/// The error of the stream.
pub(super) async fn write_frame<T: AsyncWrite + Unpin>(
    stream: &mut T,
    body: &[u8],
) -> io::Result<()> {
    let mut framed = Vec::with_capacity(body.len() + VARINT_LEN_MAX);
    put_varint(&mut framed, body.len() as u64);
    framed.extend_from_slice(body);
    stream.write_all(&framed).await?;
    stream.flush().await
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
