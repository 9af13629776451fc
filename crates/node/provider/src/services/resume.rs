//! Resume: after the node was away, other stores are asked for what was published meanwhile.
//!
//! The node notes the time every minute while it is connected. After a start, or after a time without connections, it
//! asks for everything from the noted time on, and keeps what passes the checks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use libp2p::Multiaddr;
use tokio::time::Instant;
use undertone_archive::Archive;
use undertone_services::store::resume::{ResumeLimits, ResumePlan};
use undertone_services::trust::{Standing, Witness};

use super::client::PeerClient;
use super::keeper::unix_now_ns;
use super::sync::{HistoryCheck, SyncIndex};
use super::{ServiceFailure, query_client};
use undertone_network::command::Connectedness;
use undertone_network::handle::{NodeHandle, Stopped};

mod marker;
mod walk;

use marker::OnlineMarker;
use walk::HistoryWalk;

/// File in the data directory with the time until which the archive is complete.
const MARKER_FILE: &str = "store-online";

/// Time after which messages are asked for again that were published while the node was finding its peers.
const SETTLING: Duration = Duration::from_secs(30);

/// Interval at which the time is noted (nwaku).
const NOTING: Duration = Duration::from_secs(60);

/// Longest pause before others are asked to confirm what one store told alone.
const LAST_PAUSE: Duration = Duration::from_secs(3_600);

/// Time between two notes above which the machine must have slept.
const SLEPT_NS: i64 = 180_000_000_000;

/// Parts of the node that resume uses.
pub(super) struct ResumeParts {
    pub(super) node: NodeHandle,
    pub(super) client: PeerClient,
    pub(super) archive: Archive,
    /// Index of messages that are synchronised.
    pub(super) index: Option<SyncIndex>,
    pub(super) check: HistoryCheck,
    /// Topics that the node keeps.
    pub(super) topics: Vec<Arc<str>>,
    /// Stores that the operator has named.
    pub(super) store_peers: Arc<[Multiaddr]>,
    pub(super) data_dir: PathBuf,
}

/// Asks other stores after a start and after each time without connections, until the node stops.
pub(super) async fn run(parts: ResumeParts) {
    let node = parts.node.clone();
    tokio::select! {
        () = resume_again_and_again(parts) => {}
        // The archive is not held open by a pause.
        () = node.stopped() => {}
    }
}

async fn resume_again_and_again(parts: ResumeParts) {
    let marker = OnlineMarker::new(parts.data_dir.join(MARKER_FILE));
    let mut since_ns = marker.read();
    let mut waiting = Waiting::default();
    loop {
        for pause in [Duration::ZERO, SETTLING] {
            tokio::time::sleep(pause).await;
            let Ok(resumed) = catch_up(&parts, since_ns).await else {
                return;
            };
            if resumed.alone.is_empty() {
                since_ns = Some(resumed.until_ns);
            }
            // A stranger that tells nothing must not end what is asked for after the next start.
            if !is_strange(&resumed.alone) {
                marker.write(resumed.until_ns);
            }
            waiting.alone = resumed.alone;
        }
        match until_back(&parts, &marker, &mut waiting).await {
            Ok(left_ns) if waiting.alone.is_empty() => since_ns = Some(left_ns),
            Ok(_) => {}
            Err(Stopped) => return,
        }
    }
}

/// Whether a stranger told what nobody confirmed.
fn is_strange(alone: &[Witness]) -> bool {
    let mut alone = alone.iter();
    alone.any(|one| one.standing == Standing::Stranger)
}

/// Wait for a second store, while one told everything alone.
struct Waiting {
    alone: Vec<Witness>,
    /// Time after which others are asked; it doubles.
    pause: Duration,
}

impl Default for Waiting {
    fn default() -> Self {
        Self {
            alone: Vec::new(),
            pause: NOTING,
        }
    }
}

/// End of one attempt to resume.
struct Resumed {
    /// Time until which stores were asked, Unix nanoseconds.
    until_ns: i64,
    /// Stores whose word no unrelated store could confirm; none if the archive is complete until then.
    alone: Vec<Witness>,
}

/// Asks for what was published since a time.
async fn catch_up(parts: &ResumeParts, since_ns: Option<i64>) -> Result<Resumed, Stopped> {
    let limits = ResumeLimits::default();
    let topics = parts.topics.iter().cloned();
    let plan = ResumePlan::new(since_ns, unix_now_ns(), topics, &limits);
    let away_s = since_ns.map(|since_ns| plan.end_ns.saturating_sub(since_ns) / 1_000_000_000);
    if plan.is_incomplete {
        let max_s = limits.max_back.as_secs();
        tracing::info!(away_s, max_s, "older messages are not asked for");
    }
    let walk = HistoryWalk::new(parts, &plan);
    let walked = walk.run(plan.queries).await?;
    let (asked, new) = (walked.messages, walked.new);
    match walked.new {
        0 => tracing::debug!(
            away_s,
            asked,
            "other stores have nothing that was published meanwhile"
        ),
        _ => tracing::info!(
            away_s,
            asked,
            new,
            "resumed: messages of other stores are in the archive"
        ),
    }
    if walked.refused > 0 {
        let refused = walked.refused;
        tracing::warn!(
            refused,
            "messages of other stores were not kept, because they failed a check"
        );
    }
    for store in &walked.alone {
        let store = parts
            .client
            .identity(store.peer)
            .map(|peer| peer.to_string());
        tracing::warn!(
            store,
            "resumed by the word of one store alone: messages that it leaves out are missing; another one is asked once it is connected"
        );
    }
    Ok(Resumed {
        until_ns: plan.end_ns,
        alone: walked.alone,
    })
}

/// Notes the time while the node is connected. Returns, once it is connected again after a time without connections, the
/// last time noted before; also once a store is there that can confirm what one told alone.
async fn until_back(
    parts: &ResumeParts,
    marker: &OnlineMarker,
    waiting: &mut Waiting,
) -> Result<i64, Stopped> {
    let mut noted_ns = unix_now_ns();
    let mut was_away = false;
    let another_at = Instant::now() + waiting.pause;
    loop {
        tokio::time::sleep(NOTING).await;
        let peers = parts.node.peers().await?;
        let is_connected = peers
            .iter()
            .any(|peer| peer.connected == Connectedness::Connected);
        let now_ns = unix_now_ns();
        was_away |= !is_connected || now_ns.saturating_sub(noted_ns) > SLEPT_NS;
        if Instant::now() >= another_at && has_another(parts, &waiting.alone)? {
            waiting.pause = (waiting.pause * 2).min(LAST_PAUSE);
            return Ok(noted_ns);
        }
        match (is_connected, was_away) {
            (true, true) => return Ok(noted_ns),
            (true, false) => {
                if !is_strange(&waiting.alone) {
                    marker.write(now_ns);
                }
                noted_ns = now_ns;
            }
            (false, _) => {}
        }
    }
}

/// Whether a store is there that is unrelated to one that told everything alone.
fn has_another(parts: &ResumeParts, alone: &[Witness]) -> Result<bool, Stopped> {
    let service = query_client::service();
    let stores = match parts.client.candidates(service, &parts.store_peers) {
        Ok(stores) => stores,
        Err(ServiceFailure::Stopped(Stopped)) => return Err(Stopped),
        Err(_) => Vec::new(),
    };
    let confirms = |one: &Witness| stores.iter().any(|store| store.witness.is_unrelated(one));
    Ok(alone.iter().any(confirms))
}
