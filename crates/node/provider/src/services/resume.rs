//! Resume: after a time offline, the node asks other stores for the messages published meanwhile.
//!
//! The node records the time every minute while it is connected. After a start, or after a time without connections, it
//! requests everything since the recorded time, and stores the messages that pass the checks.

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

/// File in the data directory with the time up to which the archive is complete.
const MARKER_FILE: &str = "store-online";

/// Time after which messages published while the node was finding its peers are requested again.
const SETTLING: Duration = Duration::from_secs(30);

/// Interval at which the time is recorded (as in nwaku).
const NOTING: Duration = Duration::from_secs(60);

/// Maximum pause before other stores are asked to confirm what only one store has given.
const LAST_PAUSE: Duration = Duration::from_secs(3_600);

/// Time between two records above which the machine must have been asleep.
const SLEPT_NS: i64 = 180_000_000_000;

/// Parts of the node that resume uses.
pub(super) struct ResumeParts {
    pub(super) node: NodeHandle,
    pub(super) client: PeerClient,
    pub(super) archive: Archive,
    /// Index of the synchronised messages.
    pub(super) index: Option<SyncIndex>,
    pub(super) check: HistoryCheck,
    /// Topics that the node stores.
    pub(super) topics: Vec<Arc<str>>,
    /// Stores named by the operator.
    pub(super) store_peers: Arc<[Multiaddr]>,
    pub(super) data_dir: PathBuf,
}

/// Asks other stores after the start and after each time without connections, until the node stops.
pub(super) async fn run(parts: ResumeParts) {
    let node = parts.node.clone();
    tokio::select! {
        () = resume_again_and_again(parts) => {}
        // A pause must not keep the archive open.
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
            // A stranger that reports nothing must not shorten what is requested after the next start.
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

/// Whether a stranger gave a result that nobody has confirmed.
fn is_strange(alone: &[Witness]) -> bool {
    let mut alone = alone.iter();
    alone.any(|one| one.standing == Standing::Stranger)
}

/// Wait for a second store, while one store alone has given the result.
struct Waiting {
    alone: Vec<Witness>,
    /// Time after which others are asked; doubles each time.
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

/// Result of one attempt to resume.
struct Resumed {
    /// Time up to which stores were asked, Unix nanoseconds.
    until_ns: i64,
    /// Stores whose answers no unrelated store could confirm; empty if the archive is complete up to that time.
    alone: Vec<Witness>,
}

/// Requests the messages published since a time.
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

/// Records the time while the node is connected. Returns the last recorded time once the node is connected again after
/// a time without connections, or once a store is available that can confirm what one store alone has given.
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

/// Whether a store is available that is unrelated to one that alone has given a result.
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
