//! Index of the archive's newest messages, used to compare message sets.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use undertone_archive::{Archive, ArchiveError};
use undertone_message::MessageHash;
use undertone_services::history::StoredMessage;
use undertone_services::sync::{Reconciler, SyncError, SyncLimits, SyncScope, SyncSet, SyncStep};

/// Index of the archive's newest messages; clones share it.
#[derive(Clone, Debug)]
pub(in crate::services) struct SyncIndex(Arc<Mutex<IndexState>>);

#[derive(Debug)]
struct IndexState {
    set: SyncSet,
    /// Topics of the set's messages, each stored once.
    topics: BTreeSet<Arc<str>>,
    limits: SyncLimits,
}

impl SyncIndex {
    pub(in crate::services) fn new(limits: SyncLimits) -> Self {
        Self(Arc::new(Mutex::new(IndexState {
            set: SyncSet::new(&limits),
            topics: BTreeSet::new(),
            limits,
        })))
    }

    /// Adds messages that are in the archive.
    pub(in crate::services) fn add(&self, messages: &[StoredMessage]) {
        let mut state = self.0.lock();
        for one in messages.iter().filter(|one| !one.message.is_ephemeral()) {
            let time_ns = one.message.timestamp_ns();
            let topics = [&one.pubsub_topic, &one.message.content_topic];
            state.insert(time_ns, one.hash, topics);
        }
    }

    /// Adds the archive's messages between two timestamps. If there are more than the index holds, only the newest are
    /// added.
    pub(super) async fn fill(
        &self,
        archive: &Archive,
        start_ns: i64,
        end_ns: i64,
    ) -> Result<usize, ArchiveError> {
        // One more than there is room for shows whether the index is complete.
        let limit = self.0.lock().limits.max_set.saturating_add(1);
        let headers = archive.headers(start_ns, end_ns, limit).await?;
        let mut state = self.0.lock();
        for one in &headers {
            let topics = [&one.pubsub_topic, &one.content_topic];
            state.insert(one.timestamp_ns, one.hash, topics);
        }
        Ok(headers.len())
    }

    /// Removes the messages before a timestamp, Unix nanoseconds.
    pub(super) fn prune(&self, before_ns: i64) {
        let mut state = self.0.lock();
        state.set.prune(before_ns);
        state.topics.retain(|topic| Arc::strong_count(topic) > 1);
    }

    /// Returns the number of messages.
    pub(super) fn len(&self) -> usize {
        self.0.lock().set.len()
    }

    /// Returns the timestamp from which on the index contains every message of the archive, as far as its size allows.
    pub(super) fn complete_from_ns(&self) -> i64 {
        self.0.lock().set.complete_from_ns()
    }

    /// Begins a session for a given time, and returns it with its first payload.
    pub(super) fn initiate(
        &self,
        scope: SyncScope,
        start_ns: i64,
        end_ns: i64,
    ) -> (Reconciler, Vec<u8>) {
        let state = self.0.lock();
        Reconciler::initiate(&state.set, scope, start_ns, end_ns, state.limits)
    }

    /// Passes a payload to a session.
    pub(super) fn handle(
        &self,
        session: &mut Reconciler,
        payload: &[u8],
    ) -> Result<SyncStep, SyncError> {
        session.handle(&self.0.lock().set, payload)
    }
}

impl IndexState {
    fn insert(&mut self, time_ns: i64, hash: MessageHash, topics: [&Arc<str>; 2]) {
        let [pubsub_topic, content_topic] = topics.map(|topic| self.interned(topic));
        self.set.insert(time_ns, hash, pubsub_topic, content_topic);
    }

    fn interned(&mut self, topic: &Arc<str>) -> Arc<str> {
        if let Some(known) = self.topics.get(topic) {
            return Arc::clone(known);
        }
        self.topics.insert(Arc::clone(topic));
        Arc::clone(topic)
    }
}
