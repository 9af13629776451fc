//! The protocol `/vac/waku/metadata/1.0.0`: cluster and shards that a node takes part in.

use std::io;

use futures::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use libp2p::StreamProtocol;
use libp2p::request_response::{self, Codec, ProtocolSupport};
use undertone_message::WakuMetadata;
use undertone_message::metadata::MAX_METADATA_BYTES;
use undertone_services::metadata;
use undertone_wire::{put_varint, read_varint};

/// Protocol id of the metadata exchange, as a libp2p type.
pub const METADATA_PROTOCOL: StreamProtocol = StreamProtocol::new(metadata::PROTOCOL_ID);

/// Maximum number of concurrent requests and responses per connection. js-waku asks several times
/// at once.
const STREAMS_MAX: usize = 32;

/// Codec of the metadata exchange: one length-prefixed message in each direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MetadataCodec;

pub(crate) fn behaviour() -> request_response::Behaviour<MetadataCodec> {
    let protocols = [(METADATA_PROTOCOL, ProtocolSupport::Full)];
    let config = request_response::Config::default().with_max_concurrent_streams(STREAMS_MAX);
    request_response::Behaviour::new(protocols, config)
}

async fn read<T: AsyncRead + Unpin + Send>(stream: &mut T) -> io::Result<WakuMetadata> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut prefix = Vec::with_capacity(2);
    let len = loop {
        let mut byte = [0];
        stream.read_exact(&mut byte).await?;
        prefix.push(byte[0]);
        match read_varint(&prefix) {
            Ok((len, _)) => break len,
            Err(_) if prefix.len() < 3 => {}
            Err(error) => return Err(invalid(format!("metadata length: {error}"))),
        }
    };
    let len = usize::try_from(len)
        .ok()
        .filter(|len| *len <= MAX_METADATA_BYTES);
    let len = len.ok_or_else(|| invalid("metadata is over its limit".into()))?;
    let mut body = vec![0; len];
    stream.read_exact(&mut body).await?;
    WakuMetadata::decode(&body).map_err(|error| invalid(error.to_string()))
}

async fn write<T: AsyncWrite + Unpin + Send>(
    stream: &mut T,
    metadata: &WakuMetadata,
) -> io::Result<()> {
    let body = metadata
        .encode()
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))?;
    let mut framed = Vec::with_capacity(body.len() + 2);
    put_varint(&mut framed, body.len() as u64);
    framed.extend_from_slice(&body);
    stream.write_all(&framed).await?;
    stream.close().await
}

impl Codec for MetadataCodec {
    type Protocol = StreamProtocol;
    type Request = WakuMetadata;
    type Response = WakuMetadata;

    async fn read_request<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<WakuMetadata>
    where
        T: AsyncRead + Unpin + Send,
    {
        read(io).await
    }

    async fn read_response<T>(&mut self, _: &StreamProtocol, io: &mut T) -> io::Result<WakuMetadata>
    where
        T: AsyncRead + Unpin + Send,
    {
        read(io).await
    }

    async fn write_request<T>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        request: WakuMetadata,
    ) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write(io, &request).await
    }

    async fn write_response<T>(
        &mut self,
        _: &StreamProtocol,
        io: &mut T,
        response: WakuMetadata,
    ) -> io::Result<()>
    where
        T: AsyncWrite + Unpin + Send,
    {
        write(io, &response).await
    }
}
