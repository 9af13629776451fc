//! Transfer from a peer: messages that this node lacks, each checked before it is stored.

use std::pin::pin;
use std::sync::Arc;

use futures::AsyncWriteExt as _;
use libp2p::PeerId;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::timeout;
use undertone_services::history::StoredMessage;
use undertone_services::sync::{TransferError, TransferMessage};

use super::SyncFailure;
use super::check::{HistoryCheck, KeepRefusal};
use super::context::SyncContext;
use super::counts::TRANSFER;
use super::expected::{Expectation, ExpectedMessages};
use super::sessions::TransferClaim;
use crate::services::framing::read_frame;
use undertone_network::swarm::InboundStream;

/// Maximum bytes of a frame beside the message: the topic and overhead.
const TOPIC_BYTES_MAX: usize = 1024 + 32;

/// Maximum number of messages of one stream that wait for the archive.
const WAITING_MAX: usize = 1_024;

/// Maximum number of messages that are checked and written together.
const BATCH_MAX: usize = 256;

/// An expected message that has passed the cheap checks.
struct ArrivedMessage {
    message: StoredMessage,
    session: Arc<ExpectedMessages>,
    /// Share of the memory for waiting messages.
    _memory: OwnedSemaphorePermit,
}

/// Receives the messages of one stream. A failure ends the peer's sessions.
pub(super) async fn receive(context: &SyncContext, inbound: InboundStream) {
    let peer = inbound.peer;
    let Some(open) = context.sessions.open_transfer(peer) else {
        context.counts.refused("no_session");
        tracing::debug!(%peer, "refusing a transfer: the peer has no session, or too many transfers");
        return;
    };
    let (queue, waiting) = mpsc::channel(WAITING_MAX);
    let reading = read(context, inbound, queue);
    let taken = tokio::try_join!(reading, write(context, peer, waiting));
    let failure = match taken {
        Ok((lost, ())) => lost,
        Err(failure) => Some(failure),
    };
    if let Some(failure) = failure {
        for session in context.sessions.of(peer) {
            session.fail(failure.clone());
        }
    }
    drop(open);
}

/// Reads messages until the stream or the peer's last session ends; returns the reason if the stream was lost. Messages
/// that arrived before that are still stored.
async fn read(
    context: &SyncContext,
    inbound: InboundStream,
    queue: mpsc::Sender<ArrivedMessage>,
) -> Result<Option<SyncFailure>, SyncFailure> {
    let InboundStream {
        peer, mut stream, ..
    } = inbound;
    let max = context.check.limits.max_message_bytes + TOPIC_BYTES_MAX;
    loop {
        let read = read_while_sessions_last(context, peer, read_frame(&mut stream, max)).await;
        let frame = match read {
            Some(Ok(Some(frame))) => frame,
            None | Some(Ok(None)) => break,
            Some(Err(error)) => match SyncFailure::of_stream(&error) {
                fault @ SyncFailure::Frame { .. } => return Err(fault),
                lost => return Ok(Some(lost)),
            },
        };
        context.counts.bytes(TRANSFER, "receive", frame.len());
        context.counts.received();
        let kib = u32::try_from(frame.len() / 1024 + 1).unwrap_or(u32::MAX);
        let memory = Arc::clone(&context.waiting_kib).acquire_many_owned(kib);
        let Ok(memory) = memory.await else { break };
        let message = match TransferMessage::decode(&frame, &context.check.limits) {
            Ok(message) => message.into_stored(),
            // The peer may have received the message from others that could read it.
            Err(TransferError::Message(error)) if error.forwarder_may_be_honest() => {
                context.counts.refused("unreadable");
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        match context.sessions.claim(peer, &message.hash).await {
            TransferClaim::Wanted(session) => {
                if let Err(refusal) = HistoryCheck::cheap(&message, &session.terms) {
                    context.counts.refused(refusal.name());
                    session.dealt_with(1, 0);
                    continue;
                }
                let arrived = ArrivedMessage {
                    message,
                    session,
                    _memory: memory,
                };
                if queue.send(arrived).await.is_err() {
                    break;
                }
            }
            TransferClaim::Unwanted(_, Expectation::Declined) => {
                context.counts.refused(KeepRefusal::OtherTime.name());
            }
            TransferClaim::Unwanted(session, _) => {
                context.counts.refused("repeated");
                check_unexpected(context, &session)?;
            }
            TransferClaim::Unasked(session) => {
                context.counts.refused("unasked");
                check_unexpected(context, &session)?;
            }
            TransferClaim::NoSession => {
                context.counts.refused("no_session");
                break;
            }
        }
    }
    drop(queue);
    // The peer may have closed or reset the stream.
    let _ = timeout(context.bounds.turn, stream.close()).await;
    Ok(None)
}

/// Waits for a frame while the peer has a session, and a little longer: other implementations leave their streams open
/// between messages. A partly received frame is kept meanwhile; otherwise its rest would be taken for the next frame.
async fn read_while_sessions_last<T>(
    context: &SyncContext,
    peer: PeerId,
    reading: impl Future<Output = T>,
) -> Option<T> {
    let mut reading = pin!(reading);
    loop {
        match timeout(context.bounds.idle, &mut reading).await {
            Ok(read) => return Some(read),
            Err(_) if context.sessions.of(peer).is_empty() => return None,
            Err(_) => {}
        }
    }
}

fn check_unexpected(context: &SyncContext, session: &ExpectedMessages) -> Result<(), SyncFailure> {
    let count = session.count_unexpected();
    match count > context.bounds.unexpected {
        true => Err(SyncFailure::Unasked { count }),
        false => Ok(()),
    }
}

/// Checks the proofs of messages and writes them to the archive, until the reader ends.
async fn write(
    context: &SyncContext,
    peer: PeerId,
    mut waiting: mpsc::Receiver<ArrivedMessage>,
) -> Result<(), SyncFailure> {
    let is_trusted = context.trusted.contains(&peer);
    let mut batch = Vec::new();
    while waiting.recv_many(&mut batch, BATCH_MAX).await > 0 {
        let sessions: Vec<_> = batch.iter().map(|one| Arc::clone(&one.session)).collect();
        let (messages, memory): (Vec<_>, Vec<_>) = batch
            .drain(..)
            .map(|one| (one.message, one._memory))
            .unzip();
        let checked = context.check.proven(messages, is_trusted).await;
        let count = checked.kept.len();
        let mut kept = 0;
        if count > 0 {
            kept = context.archive.insert(checked.kept.clone()).await?.inserted;
            context.index.add(&checked.kept);
            context.counts.kept(kept);
        }
        drop(memory);
        for refusal in &checked.refused {
            context.counts.refused(refusal.name());
        }
        for (at, session) in sessions.iter().enumerate() {
            session.dealt_with(1, usize::from(at < kept));
        }
        if checked.refused.contains(&KeepRefusal::InvalidProof) {
            return Err(SyncFailure::InvalidProof);
        }
    }
    Ok(())
}
