//! Walk through the history of other stores, page by page, until one of them has told all of it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use libp2p::Multiaddr;
use undertone_services::history::{HistoryCriteria, HistoryEntry, HistoryQuery, StoredMessage};
use undertone_services::store::resume::ResumePlan;
use undertone_services::store::{HistoryReadError, HistoryReader, ReadPage, ReaderLimits};
use undertone_services::sync::SyncScope;

use super::ResumeParts;
use crate::handle::Stopped;
use crate::services::sync::{HistoryCheck, SessionTerms};
use crate::services::{ServiceFailure, query_client};

/// Pause before the stores are asked again, doubled each time that none answers.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Longest such pause.
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// Interval at which progress is logged.
const PROGRESS: Duration = Duration::from_secs(10);

/// Most messages that are taken in one walk; a store could invent more without end.
const MESSAGES_MAX: usize = 1_000_000;

/// Result of a walk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WalkedHistory {
    /// Messages that stores gave.
    pub(super) messages: usize,
    /// Messages that are new in the archive.
    pub(super) new: usize,
    /// Messages that failed a check.
    pub(super) refused: usize,
}

/// Reason why a store is not asked for the next page.
enum WalkEnd {
    /// All pages have been read, or as many as are taken.
    Done,
    /// The store does not answer now.
    Silent,
    /// The store gave what cannot be true.
    Liar,
}

/// Walk through the history of other stores.
pub(super) struct HistoryWalk<'a> {
    parts: &'a ResumeParts,
    terms: SessionTerms,
    walked: WalkedHistory,
    liars: BTreeSet<Multiaddr>,
    requests: u64,
    logged: Instant,
    /// Timestamp of the newest message so far.
    edge_ns: i64,
}

impl<'a> HistoryWalk<'a> {
    pub(super) fn new(parts: &'a ResumeParts, plan: &ResumePlan) -> Self {
        let mut scope = SyncScope::default();
        scope.pubsub_topics.extend(parts.topics.iter().cloned());
        Self {
            parts,
            terms: SessionTerms {
                scope,
                earliest_ns: plan.start_ns,
                latest_ns: plan.end_ns,
            },
            walked: WalkedHistory::default(),
            liars: BTreeSet::new(),
            requests: 0,
            logged: Instant::now(),
            edge_ns: plan.start_ns,
        }
    }

    /// Asks for all pages of the queries, as often as it takes.
    pub(super) async fn run(
        mut self,
        queries: Vec<HistoryQuery>,
    ) -> Result<WalkedHistory, Stopped> {
        for query in queries {
            self.edge_ns = self.terms.earliest_ns;
            let mut reader = HistoryReader::new(query, ReaderLimits::default());
            self.ask_all(&mut reader).await?;
        }
        Ok(self.walked)
    }

    async fn ask_all(&mut self, reader: &mut HistoryReader) -> Result<(), Stopped> {
        let mut pause = FIRST_PAUSE;
        let mut has_warned = false;
        loop {
            let service = query_client::service();
            let (client, named) = (&self.parts.client, &self.parts.store_peers);
            let stores = match client.candidates(service, named).await {
                Ok(stores) => stores,
                Err(ServiceFailure::Stopped) => return Err(Stopped),
                Err(_) => Vec::new(),
            };
            for store in stores {
                if self.liars.contains(&store) {
                    continue;
                }
                let before = self.walked.messages;
                match self.ask(&store, reader).await? {
                    WalkEnd::Done => return Ok(()),
                    WalkEnd::Silent => {}
                    WalkEnd::Liar => {
                        self.liars.insert(store);
                    }
                }
                if self.walked.messages > before {
                    pause = FIRST_PAUSE;
                }
            }
            if !std::mem::replace(&mut has_warned, true) {
                tracing::info!("no store answers yet to resume from; will keep asking");
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    /// Asks one store for pages.
    async fn ask(
        &mut self,
        store: &Multiaddr,
        reader: &mut HistoryReader,
    ) -> Result<WalkEnd, Stopped> {
        loop {
            self.requests += 1;
            let request_id = format!("undertone-resume-{}", self.requests);
            let Some(request) = reader.request(request_id.as_str()) else {
                return Ok(WalkEnd::Done);
            };
            let (service, client) = (query_client::service(), &self.parts.client);
            let answer = match client.ask(store, service, &request.encode()).await {
                Ok((_, answer)) => answer,
                Err(ServiceFailure::Stopped) => return Err(Stopped),
                Err(error) => {
                    tracing::debug!(%store, %error, "a store does not answer");
                    return Ok(WalkEnd::Silent);
                }
            };
            let page = match reader.take(&request_id, &answer) {
                Ok(page) => page,
                Err(HistoryReadError::Refused { .. }) if reader.cursor().is_some() => {
                    // The store may not have the message that another store's cursor names.
                    match reader.restart_by_time() {
                        true => continue,
                        false => return Ok(WalkEnd::Silent),
                    }
                }
                Err(error @ HistoryReadError::Server(_)) => {
                    tracing::warn!(%store, %error, "a store is not believed");
                    return Ok(WalkEnd::Liar);
                }
                Err(HistoryReadError::TooLong) => {
                    *reader = self.restarted(&request.query);
                    continue;
                }
                Err(error) => {
                    tracing::debug!(%store, %error, "a store does not answer");
                    return Ok(WalkEnd::Silent);
                }
            };
            self.keep(store, page).await?;
            if self.walked.messages >= MESSAGES_MAX {
                let max = MESSAGES_MAX;
                tracing::warn!(
                    max,
                    "other stores have more messages than are taken; the latest are missing"
                );
                return Ok(WalkEnd::Done);
            }
        }
    }

    /// Reader that goes on where one has read as much as a reader may.
    fn restarted(&self, query: &HistoryQuery) -> HistoryReader {
        let mut query = query.clone();
        query.cursor = None;
        if let HistoryCriteria::Content(content) = &mut query.criteria {
            content.start_ns = Some(self.edge_ns);
        }
        HistoryReader::new(query, ReaderLimits::default())
    }

    /// Checks a page and keeps its messages, as often as it takes.
    async fn keep(&mut self, store: &Multiaddr, page: ReadPage) -> Result<(), Stopped> {
        let count = page.entries.len();
        let messages = page.entries.into_iter().filter_map(stored);
        let (checked, terms): (Vec<_>, _) = (messages.collect(), &self.terms);
        self.walked.messages += count + page.unreadable.len();
        if let Some(last) = checked.last() {
            self.edge_ns = last.message.timestamp_ns();
        }
        let is_kept = |one: &StoredMessage| HistoryCheck::cheap(one, terms).is_ok();
        let checked: Vec<_> = checked.into_iter().filter(is_kept).collect();
        let is_trusted = self.parts.store_peers.contains(store);
        let checked = self.parts.check.proven(checked, is_trusted).await;
        self.walked.refused += count + page.unreadable.len() - checked.kept.len();
        let mut pause = FIRST_PAUSE;
        while !checked.kept.is_empty() {
            match self.parts.archive.insert(checked.kept.clone()).await {
                Ok(report) => {
                    self.walked.new += report.inserted;
                    break;
                }
                Err(error) => {
                    tracing::warn!(%error, "messages of other stores wait for the archive");
                    // A node that has stopped needs no more messages.
                    self.parts.node.info().await?;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LAST_PAUSE);
                }
            }
        }
        if let Some(index) = &self.parts.index {
            index.add(&checked.kept);
        }
        if self.logged.elapsed() >= PROGRESS {
            self.logged = Instant::now();
            let (messages, new) = (self.walked.messages, self.walked.new);
            let behind_s = self.terms.latest_ns.saturating_sub(self.edge_ns) / 1_000_000_000;
            tracing::info!(messages, new, behind_s, "resuming");
        }
        Ok(())
    }
}

/// Message of an entry, whose hash the reader has checked.
fn stored(entry: HistoryEntry) -> Option<StoredMessage> {
    let data = entry.data?;
    Some(StoredMessage {
        hash: entry.hash,
        pubsub_topic: data.pubsub_topic,
        message: data.message,
    })
}
