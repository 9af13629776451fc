//! Walk through the history of other stores, page by page, until a named store or two unrelated ones have given all of
//! it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use libp2p::Multiaddr;
use undertone_services::history::{HistoryCriteria, HistoryEntry, HistoryQuery, StoredMessage};
use undertone_services::store::resume::ResumePlan;
use undertone_services::store::{HistoryReadError, HistoryReader, ReadPage, ReaderLimits};
use undertone_services::sync::SyncScope;
use undertone_services::trust::{Witness, is_believed};

use super::ResumeParts;
use crate::services::sync::{HistoryCheck, SessionTerms};
use crate::services::{ServiceFailure, query_client, request_id};
use undertone_network::handle::Stopped;

/// Pause before the stores are asked again; doubled each time that none answers.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// Maximum pause.
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// Interval at which progress is logged.
const PROGRESS: Duration = Duration::from_secs(10);

/// Maximum number of messages taken per query, because a store could invent messages without end.
const MESSAGES_MAX: usize = 1_000_000;

/// Result of a walk.
#[derive(Clone, Debug, Default)]
pub(super) struct WalkedHistory {
    /// Number of messages that stores returned.
    pub(super) messages: usize,
    /// Number of messages that are new in the archive.
    pub(super) new: usize,
    /// Number of messages that failed a check.
    pub(super) refused: usize,
    /// Stores whose answers no unrelated store could confirm.
    pub(super) alone: Vec<Witness>,
}

/// Reason why a store is not asked for the next page.
enum WalkEnd {
    /// All pages have been read, or the maximum number of messages.
    Done,
    /// The store does not answer at present.
    Silent,
    /// The store's answer cannot be true.
    Liar,
}

/// Walk through the history of other stores.
pub(super) struct HistoryWalk<'a> {
    parts: &'a ResumeParts,
    terms: SessionTerms,
    walked: WalkedHistory,
    liars: BTreeSet<Multiaddr>,
    /// Messages taken in the current walk through one query.
    taken: usize,
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
            taken: 0,
            logged: Instant::now(),
            edge_ns: plan.start_ns,
        }
    }

    /// Requests all pages of the queries, with retries until they are complete.
    pub(super) async fn run(
        mut self,
        queries: Vec<HistoryQuery>,
    ) -> Result<WalkedHistory, Stopped> {
        for query in queries {
            (self.edge_ns, self.taken) = (self.terms.earliest_ns, 0);
            self.ask_all(&query).await?;
        }
        Ok(self.walked)
    }

    /// Requests all pages of a query until one store has given everything. If that store is not named, repeats this
    /// with a store that is unrelated to it.
    async fn ask_all(&mut self, query: &HistoryQuery) -> Result<(), Stopped> {
        let mut pause = FIRST_PAUSE;
        let mut has_warned = false;
        let mut reader = HistoryReader::new(query.clone(), ReaderLimits::default());
        loop {
            let before = self.walked.messages;
            if let Some(first) = self.ask_any(&mut reader, |_| true).await? {
                return self.ask_second(query, first).await;
            }
            if self.walked.messages > before {
                pause = FIRST_PAUSE;
            }
            if !std::mem::replace(&mut has_warned, true) {
                tracing::info!("no store answers yet to resume from; will keep asking");
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    /// Requests all pages a second time, from a store that is unrelated to the first. If there is none, only the first
    /// store vouches for the result.
    async fn ask_second(&mut self, query: &HistoryQuery, first: Witness) -> Result<(), Stopped> {
        let client = self.parts.client.clone();
        let service = query_client::service();
        if is_believed(&[first]) {
            client.note_word(service, &[first]);
            return Ok(());
        }
        let (messages, new) = (self.walked.messages, self.walked.new);
        (self.edge_ns, self.taken) = (self.terms.earliest_ns, 0);
        let mut reader = HistoryReader::new(query.clone(), ReaderLimits::default());
        let is_unrelated = |store: &Witness| store.is_unrelated(&first);
        match self.ask_any(&mut reader, is_unrelated).await? {
            Some(second) => {
                client.note_word(service, &[first, second]);
                // Messages that the first store left out would be new.
                if self.walked.messages > messages && self.walked.new == new {
                    client.agreed(&[first.peer, second.peer]);
                }
            }
            None => {
                client.note_word(service, &[first]);
                self.walked.alone.push(first);
            }
        }
        Ok(())
    }

    /// Asks stores in turn, each for the remaining pages. Returns the store that completed them; `None` if no store
    /// did.
    async fn ask_any(
        &mut self,
        reader: &mut HistoryReader,
        is_wanted: impl Fn(&Witness) -> bool,
    ) -> Result<Option<Witness>, Stopped> {
        let (client, named) = (&self.parts.client, &self.parts.store_peers);
        let stores = match client.candidates(query_client::service(), named) {
            Ok(stores) => stores,
            Err(ServiceFailure::Stopped(Stopped)) => return Err(Stopped),
            Err(_) => Vec::new(),
        };
        for store in stores {
            if self.liars.contains(&store.address) || !is_wanted(&store.witness) {
                continue;
            }
            match self.ask(&store.address, reader).await? {
                WalkEnd::Done => return Ok(Some(store.witness)),
                WalkEnd::Silent => {}
                WalkEnd::Liar => {
                    self.liars.insert(store.address);
                }
            }
        }
        Ok(None)
    }

    /// Requests pages from one store.
    async fn ask(
        &mut self,
        store: &Multiaddr,
        reader: &mut HistoryReader,
    ) -> Result<WalkEnd, Stopped> {
        loop {
            let request_id = request_id::random();
            let Some(request) = reader.request(request_id.as_str()) else {
                return Ok(WalkEnd::Done);
            };
            let (service, client) = (query_client::service(), &self.parts.client);
            let answer = match client.ask(store, service, &request.encode()).await {
                Ok((_, answer)) => answer,
                Err(ServiceFailure::Stopped(Stopped)) => return Err(Stopped),
                Err(error) => {
                    tracing::debug!(%store, %error, "a store does not answer");
                    return Ok(WalkEnd::Silent);
                }
            };
            let page = match reader.take(&request_id, &answer) {
                Ok(page) => page,
                Err(HistoryReadError::Refused { .. }) if reader.cursor().is_some() => {
                    // The store may not have the message that another store's cursor points to.
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
            if self.taken >= MESSAGES_MAX {
                let max = MESSAGES_MAX;
                tracing::warn!(
                    max,
                    "other stores have more messages than are taken; the latest are missing"
                );
                return Ok(WalkEnd::Done);
            }
        }
    }

    /// Returns a reader that continues after one that has reached its limit.
    fn restarted(&self, query: &HistoryQuery) -> HistoryReader {
        let mut query = query.clone();
        query.cursor = None;
        if let HistoryCriteria::Content(content) = &mut query.criteria {
            content.start_ns = Some(self.edge_ns);
        }
        HistoryReader::new(query, ReaderLimits::default())
    }

    /// Checks a page and stores its messages in the archive, with retries until that succeeds.
    async fn keep(&mut self, store: &Multiaddr, page: ReadPage) -> Result<(), Stopped> {
        let count = page.entries.len();
        let messages = page.entries.into_iter().filter_map(stored);
        let (checked, terms): (Vec<_>, _) = (messages.collect(), &self.terms);
        self.walked.messages += count + page.unreadable.len();
        self.taken += count + page.unreadable.len();
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

/// Returns the message of an entry, whose hash the reader has checked.
fn stored(entry: HistoryEntry) -> Option<StoredMessage> {
    let data = entry.data?;
    Some(StoredMessage {
        hash: entry.hash,
        pubsub_topic: data.pubsub_topic,
        message: data.message,
    })
}
