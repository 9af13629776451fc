//! Everything that sessions and transfers share.

use std::collections::BTreeSet;
use std::sync::Arc;

use libp2p::PeerId;
use tokio::sync::Semaphore;
use undertone_archive::Archive;
use undertone_services::history::CLOCK_TOLERANCE_NS;
use undertone_services::sync::SyncScope;

use super::SyncFailure;
use super::check::HistoryCheck;
use super::counts::SyncCounts;
use super::index::SyncIndex;
use super::sessions::Sessions;
use super::settings::{SyncBounds, SyncTimes};
use super::terms::SessionTerms;
use crate::services::held_bytes::HeldBytes;
use crate::services::keeper::unix_now_ns;
use undertone_network::handle::NodeHandle;
use undertone_network::swarm::StreamOpener;

/// Synchronisation state shared by sessions and transfers.
pub(super) struct SyncContext {
    pub(super) node: NodeHandle,
    pub(super) streams: StreamOpener,
    pub(super) archive: Archive,
    pub(super) index: SyncIndex,
    pub(super) check: HistoryCheck,
    pub(super) times: SyncTimes,
    pub(super) bounds: SyncBounds,
    pub(super) counts: SyncCounts,
    pub(super) sessions: Arc<Sessions>,
    /// Topics that the node stores whether it is subscribed to them or not.
    pub(super) topics: BTreeSet<Arc<str>>,
    /// Stores named by the operator.
    pub(super) trusted: BTreeSet<PeerId>,
    /// Bytes of the reconciliation payloads that are being read.
    pub(super) payloads: Arc<HeldBytes>,
    /// Memory, in kibibytes, for received messages that wait for the archive.
    pub(super) waiting_kib: Arc<Semaphore>,
}

impl SyncContext {
    /// Returns the terms of a session that begins now.
    ///
    /// # Errors
    /// [`SyncFailure::Stopped`] if the node has stopped.
    pub(super) async fn terms(&self) -> Result<SessionTerms, SyncFailure> {
        let info = self.node.info().await?;
        let mut scope = SyncScope::default();
        scope.pubsub_topics.extend(self.topics.iter().cloned());
        let subscribed = info.subscriptions.iter().map(|topic| topic.to_string());
        scope.pubsub_topics.extend(subscribed.map(Arc::from));
        let now_ns = unix_now_ns();
        let (start_ns, _) = self.times.window_ns(now_ns);
        let tolerance_ns = i64::try_from(CLOCK_TOLERANCE_NS).unwrap_or(i64::MAX);
        Ok(SessionTerms {
            scope,
            earliest_ns: start_ns.max(self.index.complete_from_ns()),
            latest_ns: now_ns.saturating_add(tolerance_ns),
        })
    }

    /// Returns the end of the period that a session beginning now covers.
    pub(super) fn end_ns(&self) -> i64 {
        self.times.window_ns(unix_now_ns()).1
    }
}
