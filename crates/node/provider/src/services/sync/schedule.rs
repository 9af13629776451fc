//! Schedule of the sessions that this node begins: which peer, and when.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use undertone_network::handle::Stopped;

use libp2p::PeerId;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore as _;
use undertone_services::sync::RECONCILIATION_PROTOCOL_ID;

use super::SyncFailure;
use super::context::SyncContext;
use super::outcome::SyncOutcome;
use super::session::initiate;
use super::settings::nanos;
use crate::services::keeper::unix_now_ns;
use crate::services::service_peers::ServicePeers;

/// First pause before a retry until the first session succeeds; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Pause before another attempt to read the archive.
const REPEAT_AFTER: Duration = Duration::from_secs(10);

/// Maximum number of peers tried per interval.
const TRIES: usize = 3;

/// Time for which the index keeps messages beyond the synchronised period, because peers' clocks and intervals differ.
const SLACK: Duration = Duration::from_secs(120);

/// Fills the index from the archive, then begins a session per interval until the node stops.
pub(super) async fn run(context: Arc<SyncContext>, peers: ServicePeers, mut rng: ChaCha8Rng) {
    fill(&context).await;
    if context.times.interval.is_zero() {
        return only_prune(&context).await;
    }
    let mut pause = FIRST_PAUSE.min(context.times.interval);
    let mut failed = BTreeSet::new();
    loop {
        tokio::time::sleep(pause).await;
        prune(&context);
        context.check.remember_roots();
        match round(&context, &peers, &mut failed, &mut rng).await {
            Ok(_) => pause = context.times.interval,
            Err(SyncFailure::Stopped(Stopped)) => return,
            // After the first success, the interval stays as configured.
            Err(_) => pause = (pause * 2).min(context.times.interval),
        }
    }
}

/// Prunes the index until the node stops.
async fn only_prune(context: &SyncContext) {
    while context.node.info().await.is_ok() {
        prune(context);
        context.check.remember_roots();
        tokio::time::sleep(SLACK).await;
    }
}

/// Fills the index, with retries until that succeeds.
async fn fill(context: &SyncContext) {
    loop {
        let now_ns = unix_now_ns();
        let (start_ns, _) = context.times.window_ns(now_ns);
        let start_ns = start_ns.saturating_sub(nanos(SLACK));
        let end_ns = now_ns.saturating_add(nanos(SLACK));
        let filled = context.index.fill(&context.archive, start_ns, end_ns).await;
        match filled {
            Ok(messages) => {
                tracing::info!(messages, "messages of the archive can be synchronised");
                let complete_ns = context.index.complete_from_ns();
                if complete_ns > start_ns {
                    let max = context.bounds.limits.max_set;
                    tracing::warn!(
                        max,
                        "store-sync-range has more messages than can be compared; the oldest are left out"
                    );
                }
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "the archive cannot be read for synchronisation; will keep trying");
                tokio::time::sleep(REPEAT_AFTER).await;
            }
        }
    }
}

/// Removes messages that no session covers any more.
fn prune(context: &SyncContext) {
    let (start_ns, _) = context.times.window_ns(unix_now_ns());
    context.index.prune(start_ns.saturating_sub(nanos(SLACK)));
}

/// Synchronises with one peer: the first of a few that succeeds.
async fn round(
    context: &Arc<SyncContext>,
    peers: &ServicePeers,
    failed: &mut BTreeSet<PeerId>,
    rng: &mut ChaCha8Rng,
) -> Result<SyncOutcome, SyncFailure> {
    let mut last = SyncFailure::Unreachable {
        reason: "no connected peer synchronises its store".to_owned(),
    };
    if candidates(context, peers, failed, rng)?.is_empty() {
        peers.reach_again(RECONCILIATION_PROTOCOL_ID).await;
    }
    let peers = candidates(context, peers, failed, rng)?;
    failed.retain(|peer| peers.contains(peer));
    for peer in peers.into_iter().take(TRIES) {
        match initiate(context, peer).await {
            Ok(outcome) => {
                failed.remove(&peer);
                return Ok(outcome);
            }
            // A session with the peer is in progress.
            Err(SyncFailure::Busy) => last = SyncFailure::Busy,
            Err(failure) => {
                failed.insert(peer);
                last = failure;
            }
        }
    }
    Err(last)
}

/// Returns the peers that announce the protocol. Those that failed last time come last. Within each group, stores named
/// by the operator come first, then peers of better standing.
fn candidates(
    context: &SyncContext,
    peers: &ServicePeers,
    failed: &BTreeSet<PeerId>,
    rng: &mut ChaCha8Rng,
) -> Result<Vec<PeerId>, SyncFailure> {
    let offers = peers.offering(RECONCILIATION_PROTOCOL_ID);
    let offers = offers.ok_or(Stopped)?;
    let mut ranked: Vec<_> = offers
        .into_iter()
        .filter(|(peer, _)| !context.sessions.is_banned(*peer))
        .map(|(peer, standing)| {
            let is_named = context.trusted.contains(&peer);
            let rank = (failed.contains(&peer), !is_named, Reverse(standing));
            (rank, rng.next_u64(), peer)
        })
        .collect();
    ranked.sort_unstable_by_key(|(rank, random, _)| (*rank, *random));
    Ok(ranked.into_iter().map(|(.., peer)| peer).collect())
}
