//! Reconciliation: exchange of a session's payloads on its stream.

use std::time::Duration;

use bytes::Bytes;
use libp2p::PeerId;
use libp2p::swarm::Stream;
use tokio::sync::mpsc;
use tokio::time::timeout;
use undertone_services::sync::{Reconciler, SyncId};

use super::SyncFailure;
use super::context::SyncContext;
use super::counts::RECONCILIATION;
use super::expected::ExpectedMessages;
use crate::services::framing::{read_body, read_length, write_frame};

/// Result of the exchange of payloads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reconciled {
    /// Payloads received from the peer, one per round trip.
    pub(super) roundtrips: u32,
    /// Messages that only one side has.
    pub(super) differences: usize,
    /// Bytes of all payloads.
    pub(super) bytes: usize,
}

/// Exchanges payloads until the session ends. Reports the messages that the peer will send to `expected`, and those
/// that the peer lacks to `to_send`.
pub(super) async fn reconcile(
    context: &SyncContext,
    (peer, stream): (PeerId, &mut Stream),
    (mut reconciler, mut reply): (Reconciler, Option<Vec<u8>>),
    expected: &ExpectedMessages,
    to_send: &mpsc::UnboundedSender<Vec<SyncId>>,
) -> Result<Reconciled, SyncFailure> {
    let turn = context.bounds.turn;
    let mut done = Reconciled::default();
    loop {
        if let Some(payload) = reply.take() {
            done.bytes += payload.len();
            context.counts.bytes(RECONCILIATION, "sent", payload.len());
            let written = timeout(turn, write_frame(stream, &payload)).await;
            let written = written.map_err(|_| too_long("reading a payload", turn))?;
            written.map_err(|error| SyncFailure::of_stream(&error))?;
        }
        if reconciler.is_over() {
            break;
        }
        let read = timeout(turn, read_payload(context, peer, stream)).await;
        let payload = read.map_err(|_| too_long("a payload", turn))??;
        let payload = payload.ok_or_else(|| SyncFailure::Ended {
            reason: "the stream ended before the session".to_owned(),
        })?;
        done.bytes += payload.len();
        context
            .counts
            .bytes(RECONCILIATION, "receive", payload.len());
        if let Some(failure) = expected.failure() {
            return Err(failure);
        }
        let step = context.index.handle(&mut reconciler, &payload)?;
        done.roundtrips = reconciler.rounds();
        done.differences += step.to_send.len() + step.to_receive.len();
        // Before the reply, because it lets the peer send them.
        expected.name(&step.to_receive);
        reply = step.reply;
        if !step.to_send.is_empty() {
            // The transfer may have failed, which does not affect the other direction.
            let _ = to_send.send(step.to_send);
        }
    }
    Ok(done)
}

/// Reads a payload; returns `None` if the stream ends before it. If all payloads being read exceed their memory limit,
/// the peer that holds the most loses its session, as if the node had too many sessions.
async fn read_payload(
    context: &SyncContext,
    peer: PeerId,
    stream: &mut Stream,
) -> Result<Option<Bytes>, SyncFailure> {
    let of_stream = |error: std::io::Error| SyncFailure::of_stream(&error);
    let max = context.bounds.limits.max_payload_bytes;
    let Some(length) = read_length(stream, max).await.map_err(of_stream)? else {
        return Ok(None);
    };
    let mut share = context.payloads.hold(peer, length);
    if context.trusted.contains(&peer) {
        // Strangers must not displace stores named by the operator.
        share.keep();
    }
    tokio::select! {
        body = read_body(stream, length) => body.map(Some).map_err(of_stream),
        () = share.gives_way() => Err(SyncFailure::Busy),
    }
}

fn too_long(what: &'static str, timeout: Duration) -> SyncFailure {
    SyncFailure::TimedOut {
        what,
        timeout_s: timeout.as_secs(),
    }
}
