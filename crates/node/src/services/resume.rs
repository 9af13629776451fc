//! Resume: after the node was away, other stores are asked for what was published meanwhile.
//!
//! The node notes the time every minute while it is connected. After a start, or after a time without connections, it
//! asks for everything from the noted time on, and keeps what passes the checks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use libp2p::Multiaddr;
use undertone_archive::Archive;
use undertone_services::store::resume::{ResumeLimits, ResumePlan};

use super::client::PeerClient;
use super::keeper::unix_now_ns;
use super::sync::{HistoryCheck, SyncIndex};
use crate::command::Connectedness;
use crate::handle::{NodeHandle, Stopped};

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
    let marker = OnlineMarker::new(parts.data_dir.join(MARKER_FILE));
    let mut since_ns = marker.read();
    loop {
        for pause in [Duration::ZERO, SETTLING] {
            tokio::time::sleep(pause).await;
            match catch_up(&parts, since_ns).await {
                Ok(until_ns) => {
                    marker.write(until_ns);
                    since_ns = Some(until_ns);
                }
                Err(Stopped) => return,
            }
        }
        match until_back(&parts.node, &marker).await {
            Ok(left_ns) => since_ns = Some(left_ns),
            Err(Stopped) => return,
        }
    }
}

/// Asks for what was published since a time; returns the time until which the archive is complete then.
async fn catch_up(parts: &ResumeParts, since_ns: Option<i64>) -> Result<i64, Stopped> {
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
    Ok(plan.end_ns)
}

/// Notes the time while the node is connected. Returns, once it is connected again after a time without connections, the
/// last time noted before.
async fn until_back(node: &NodeHandle, marker: &OnlineMarker) -> Result<i64, Stopped> {
    let mut noted_ns = unix_now_ns();
    let mut was_away = false;
    loop {
        tokio::time::sleep(NOTING).await;
        let peers = node.peers().await?;
        let is_connected = peers
            .iter()
            .any(|peer| peer.connected == Connectedness::Connected);
        let now_ns = unix_now_ns();
        was_away |= !is_connected || now_ns.saturating_sub(noted_ns) > SLEPT_NS;
        match (is_connected, was_away) {
            (true, true) => return Ok(noted_ns),
            (true, false) => {
                marker.write(now_ns);
                noted_ns = now_ns;
            }
            (false, _) => {}
        }
    }
}
