//! Transfer to a peer: messages that it lacks.

use futures::AsyncWriteExt as _;
use libp2p::swarm::Stream;
use libp2p::{PeerId, StreamProtocol};
use tokio::sync::mpsc;
use tokio::time::timeout;
use undertone_archive::QueryError;
use undertone_message::MessageHash;
use undertone_services::history::{
    HistoryCriteria, HistoryData, HistoryQuery, PAGE_MAX, PageDirection,
};
use undertone_services::sync::{SyncId, TRANSFER_PROTOCOL_ID, TransferMessage};
use undertone_wire::put_varint;

use super::SyncFailure;
use super::context::SyncContext;
use super::counts::TRANSFER;
use super::expected::ExpectedMessages;

/// Bytes of frames that are written together.
const CHUNK_BYTES: usize = 64 * 1024;

/// Sends the messages named by `to_send` until it is closed or the session fails; returns their number. The first one
/// opens the stream.
pub(super) async fn send(
    context: &SyncContext,
    peer: PeerId,
    session: &ExpectedMessages,
    mut to_send: mpsc::UnboundedReceiver<Vec<SyncId>>,
) -> Result<usize, SyncFailure> {
    let mut stream = None;
    let mut sent = 0;
    while let Some(ids) = to_send.recv().await {
        for ids in ids.chunks(PAGE_MAX as usize) {
            if session.failure().is_some() {
                return Ok(sent);
            }
            let messages = read(context, ids).await?;
            if messages.is_empty() {
                continue;
            }
            let stream = match &mut stream {
                Some(stream) => stream,
                None => stream.insert(open(context, peer).await?),
            };
            sent += messages.len();
            context.counts.sent(messages.len());
            let written = timeout(context.bounds.turn, write(context, stream, messages)).await;
            let written = written.map_err(|_| SyncFailure::TimedOut {
                what: "reading messages",
                timeout_s: context.bounds.turn.as_secs(),
            })?;
            written.map_err(|error| SyncFailure::of_stream(&error))?;
        }
    }
    if let Some(mut stream) = stream {
        // The peer may have closed it already.
        let _ = timeout(context.bounds.turn, stream.close()).await;
    }
    Ok(sent)
}

async fn open(context: &SyncContext, peer: PeerId) -> Result<Stream, SyncFailure> {
    let protocol = StreamProtocol::new(TRANSFER_PROTOCOL_ID);
    let opened = timeout(context.bounds.turn, context.streams.open(peer, protocol)).await;
    let opened = opened.map_err(|_| SyncFailure::TimedOut {
        what: "opening a stream",
        timeout_s: context.bounds.turn.as_secs(),
    })?;
    opened.map_err(|error| SyncFailure::Unreachable {
        reason: error.to_string(),
    })
}

/// Reads messages from the archive; those that retention has deleted meanwhile are left out.
async fn read(context: &SyncContext, ids: &[SyncId]) -> Result<Vec<HistoryData>, SyncFailure> {
    let hashes: Vec<MessageHash> = ids.iter().map(|id| id.hash).collect();
    let query = HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Hashes(hashes),
        cursor: None,
        direction: PageDirection::Forward,
        limit: PAGE_MAX,
    };
    match context.archive.query(query).await {
        Ok(page) => Ok(page
            .entries
            .into_iter()
            .filter_map(|one| one.data)
            .collect()),
        Err(QueryError::Archive(error)) => Err(error.into()),
        // The query has no cursor, so the cursor cannot be unknown.
        Err(_) => Ok(Vec::new()),
    }
}

async fn write(
    context: &SyncContext,
    stream: &mut Stream,
    messages: Vec<HistoryData>,
) -> std::io::Result<()> {
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    for HistoryData {
        pubsub_topic,
        message,
    } in messages
    {
        let frame = TransferMessage {
            pubsub_topic,
            message,
        };
        let frame = frame.encode();
        context.counts.bytes(TRANSFER, "sent", frame.len());
        put_varint(&mut chunk, frame.len() as u64);
        chunk.extend_from_slice(&frame);
        if chunk.len() >= CHUNK_BYTES {
            stream.write_all(&chunk).await?;
            chunk.clear();
        }
    }
    stream.write_all(&chunk).await?;
    stream.flush().await
}
