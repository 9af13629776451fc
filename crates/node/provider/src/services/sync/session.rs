//! A session with a peer: its streams, from the first payload to the last message.

use std::sync::Arc;
use std::time::Instant;

use futures::AsyncWriteExt as _;
use libp2p::swarm::Stream;
use libp2p::{PeerId, StreamProtocol};
use tokio::sync::mpsc;
use tokio::time::timeout;
use undertone_services::sync::{RECONCILIATION_PROTOCOL_ID, Reconciler};

use super::SyncFailure;
use super::context::SyncContext;
use super::outbound;
use super::outcome::SyncOutcome;
use super::reconcile::reconcile;
use super::sessions::{OpenSession, SessionSide};
use undertone_network::swarm::InboundStream;

/// Begins a session with a peer and runs it to its end.
///
/// # Errors
/// [`SyncFailure`]; messages that arrived before the failure are kept.
pub(super) async fn initiate(
    context: &Arc<SyncContext>,
    peer: PeerId,
) -> Result<SyncOutcome, SyncFailure> {
    let ended = async {
        let terms = context.terms().await?;
        let session = context.sessions.open(peer, SessionSide::Ours, terms)?;
        let turn = context.bounds.turn;
        let protocol = StreamProtocol::new(RECONCILIATION_PROTOCOL_ID);
        let opened = timeout(turn, context.streams.open(peer, protocol)).await;
        let opened = opened.map_err(|_| SyncFailure::TimedOut {
            what: "opening a stream",
            timeout_s: turn.as_secs(),
        })?;
        let stream = opened.map_err(|error| SyncFailure::Unreachable {
            reason: error.to_string(),
        })?;
        let terms = &session.expected.terms;
        let (reconciler, first) =
            context
                .index
                .initiate(terms.scope.clone(), terms.earliest_ns, context.end_ns());
        carry_out(context, &session, stream, (reconciler, Some(first))).await
    };
    let ended = ended.await.map_err(|failure| match failure {
        // The peer continues its own session, which began at the same time.
        SyncFailure::Ended { .. } if context.sessions.has_theirs(peer) => SyncFailure::Busy,
        failure => failure,
    });
    finish(context, peer, SessionSide::Ours, ended)
}

/// Runs a session that a peer begins.
pub(super) async fn respond(context: &Arc<SyncContext>, inbound: InboundStream) {
    let InboundStream { peer, stream, .. } = inbound;
    let ended = async {
        // Getting the terms involves the event loop, which a peer without a session must not keep busy.
        if context.sessions.is_banned(peer) {
            return Err(SyncFailure::Banned);
        }
        let terms = context.terms().await?;
        let session = context.sessions.open(peer, SessionSide::Theirs, terms)?;
        let terms = &session.expected.terms;
        let limits = context.bounds.limits;
        let reconciler = Reconciler::respond(terms.scope.clone(), terms.earliest_ns, limits);
        carry_out(context, &session, stream, (reconciler, None)).await
    };
    // Counted and logged; the peer sees that its stream ends.
    let _ = finish(context, peer, SessionSide::Theirs, ended.await);
}

async fn carry_out(
    context: &Arc<SyncContext>,
    session: &OpenSession,
    mut stream: Stream,
    first: (Reconciler, Option<Vec<u8>>),
) -> Result<SyncOutcome, SyncFailure> {
    let (peer, expected) = (session.peer, &session.expected);
    let (began, bounds) = (Instant::now(), &context.bounds);
    let (to_send, sending) = mpsc::unbounded_channel();
    let receiving = async {
        let done = reconcile(context, (peer, &mut stream), first, expected, &to_send);
        let done = timeout(bounds.reconciling, done).await;
        let done = done.unwrap_or(Err(SyncFailure::TimedOut {
            what: "comparing sets",
            timeout_s: bounds.reconciling.as_secs(),
        }));
        // A failed session sends nothing more.
        let done = done.inspect_err(|failure| expected.fail(failure.clone()))?;
        // The peer may have closed it already.
        let _ = timeout(bounds.turn, stream.close()).await;
        drop(to_send);
        expected.finish_naming();
        let took = began.elapsed();
        Ok::<_, SyncFailure>((done, took, expected.settled(bounds.idle).await?))
    };
    let sending = outbound::send(context, peer, expected, sending);
    // A peer that reads nothing may still send.
    let whole = timeout(bounds.session, async { tokio::join!(receiving, sending) }).await;
    let (received, sent) = whole.map_err(|_| SyncFailure::TimedOut {
        what: "a session",
        timeout_s: bounds.session.as_secs(),
    })?;
    let ((done, reconciling, withheld), sent) = (received?, sent?);
    Ok(SyncOutcome {
        roundtrips: done.roundtrips,
        differences: done.differences,
        reconciliation_bytes: done.bytes,
        sent,
        kept: expected.kept(),
        withheld,
        reconciling,
        whole: began.elapsed(),
    })
}

/// Counts and logs the end of a session, and bans a peer at fault.
fn finish(
    context: &SyncContext,
    peer: PeerId,
    side: SessionSide,
    ended: Result<SyncOutcome, SyncFailure>,
) -> Result<SyncOutcome, SyncFailure> {
    context.counts.session(&ended);
    let began_here = side == SessionSide::Ours;
    match &ended {
        Ok(outcome) => {
            let (sent, kept) = (outcome.sent, outcome.kept);
            let (rounds, took_ms) = (outcome.roundtrips, outcome.whole.as_millis());
            match outcome.differences {
                0 => {
                    tracing::debug!(%peer, began_here, rounds, "the peer's store has what ours has");
                }
                _ => {
                    tracing::info!(%peer, began_here, sent, kept, rounds, took_ms, "stores synchronised");
                }
            }
        }
        Err(failure) if failure.is_peers_fault() => {
            context.sessions.ban(peer);
            tracing::warn!(%peer, began_here, %failure, "the peer gets no more sessions for a while");
        }
        Err(failure) => tracing::debug!(%peer, began_here, %failure, "a session failed"),
    }
    ended
}
