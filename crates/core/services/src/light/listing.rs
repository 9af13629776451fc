//! Listing by one store of its messages on some content topics, and fetching of the missing ones.

use std::collections::BTreeMap;

use undertone_message::{MessageHash, message_hash};

use super::config::{LightConfig, nanos};
use super::context::{CheckContext, FoundMessage};
use super::io::Output;
use super::memory::DeliveryMemory;
use super::peers::PeerService;
use super::wanted::{Chunk, ListingDepth, WantedTopics};
use crate::PeerNo;
use crate::history::{
    ContentCriteria, HistoryCriteria, HistoryPage, HistoryQuery, PAGE_MAX, PageDirection,
};

/// Next step of a listing.
#[derive(Debug)]
pub(crate) enum ListingStep {
    /// Send a query.
    Ask(PeerNo, HistoryQuery),
    /// Wait for a connection.
    Wait,
    /// Nothing is left.
    Done,
}

/// Fault of a page that does not answer the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageError {
    /// More entries than asked for, entries not asked for, or a cursor that does not move.
    Wrong,
    /// The store listed a message but does not return it.
    Hollow,
}

/// Query that was sent last.
#[derive(Debug)]
enum SentQuery {
    Nothing,
    Page,
    Messages {
        store: PeerNo,
        hashes: Vec<MessageHash>,
    },
}

/// Position in the store's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListPosition {
    /// The next page begins after this message.
    Behind(Option<MessageHash>),
    /// The last page was read, or the store failed.
    End,
}

/// Listing by one store.
#[derive(Debug)]
pub(crate) struct StoreListing {
    chunk: Chunk,
    lister: PeerNo,
    depth: ListingDepth,
    from_ns: i64,
    /// Wall time at which the listing began. Once it is done, the store has been asked up to this
    /// time.
    started_ns: i64,
    to_ns: i64,
    position: ListPosition,
    pages: u32,
    /// Messages to fetch, with the stores already asked for each.
    missing: BTreeMap<MessageHash, Vec<PeerNo>>,
    /// Hashes of the current page.
    page: Vec<MessageHash>,
    asked: SentQuery,
    /// Whether the query in flight is a retry after a missing answer.
    pub(crate) is_repeated: bool,
    /// Whether something could not be fetched, so that the store has to list it again.
    pub(crate) has_gaps: bool,
    /// Timestamp up to which everything listed has been obtained.
    progress_ns: Option<i64>,
}

impl StoreListing {
    /// Begins a listing; `None` if nothing of the chunk is wanted any more.
    pub(crate) fn begin(
        chunk: Chunk,
        lister: PeerNo,
        context: &mut CheckContext<'_>,
    ) -> Option<Self> {
        let now_ns = context.now_ns;
        let (depth, asked) = context
            .wanted
            .ask_from(&chunk, lister, context.config, now_ns)?;
        let oldest = now_ns.saturating_sub(nanos(context.config.max_lookback));
        let mut from_ns = asked.max(oldest);
        // Forgotten messages cannot be compared: one listed from that time might be delivered
        // twice.
        if let Some(forgotten) = context.memory.forgotten_until()
            && from_ns <= forgotten
        {
            let confirmed = context.wanted.confirmed_until(&chunk);
            if confirmed < forgotten {
                context.out.push_back(Output::Unchecked {
                    pubsub_topic: chunk.pubsub_topic.clone(),
                    from_ns: confirmed.max(from_ns),
                    until_ns: forgotten,
                });
            }
            from_ns = forgotten.saturating_add(1);
        }
        let to_ns = now_ns.saturating_add(nanos(context.config.clock_tolerance));
        Some(Self {
            chunk,
            lister,
            depth,
            from_ns,
            started_ns: now_ns,
            to_ns: to_ns.max(from_ns),
            position: ListPosition::Behind(None),
            pages: 0,
            missing: BTreeMap::new(),
            page: Vec::new(),
            asked: SentQuery::Nothing,
            is_repeated: false,
            has_gaps: false,
            progress_ns: None,
        })
    }

    /// Returns the next query: for missing messages of the page if there are any, else for the next
    /// page.
    pub(crate) fn next(&mut self, context: &mut CheckContext<'_>) -> ListingStep {
        self.missing
            .retain(|hash, _| context.memory.timestamp(hash).is_none());
        while let Some((hash, tried)) = self.missing.first_key_value() {
            match self.source(tried, context) {
                Some(store) if !context.pool.is_up(store) => {
                    context.pool.connect(context.now, store);
                    return ListingStep::Wait;
                }
                Some(store) => {
                    let untried = self
                        .missing
                        .iter()
                        .filter(|(_, tried)| !tried.contains(&store));
                    let max = context.config.limits.hashes_per_query;
                    let hashes: Vec<MessageHash> =
                        untried.map(|(hash, _)| *hash).take(max).collect();
                    self.asked = SentQuery::Messages {
                        store,
                        hashes: hashes.clone(),
                    };
                    let limit = u32::try_from(hashes.len())
                        .unwrap_or(PAGE_MAX)
                        .min(PAGE_MAX);
                    let criteria = HistoryCriteria::Hashes(hashes);
                    return ListingStep::Ask(store, query(true, criteria, None, limit));
                }
                None => {
                    let hash = *hash;
                    self.missing.remove(&hash);
                    self.has_gaps = true;
                }
            }
        }
        self.page_done(context.memory, context.wanted);
        let ListPosition::Behind(cursor) = self.position else {
            return ListingStep::Done;
        };
        if !context
            .pool
            .usable(context.now, self.lister, PeerService::Store, None)
        {
            self.position = ListPosition::End;
            self.has_gaps = true;
            return ListingStep::Done;
        }
        if !context.pool.is_up(self.lister) {
            context.pool.connect(context.now, self.lister);
            return ListingStep::Wait;
        }
        self.asked = SentQuery::Page;
        let criteria = HistoryCriteria::Content(ContentCriteria {
            pubsub_topic: Some(self.chunk.pubsub_topic.clone()),
            content_topics: self.chunk.content_topics.clone(),
            start_ns: Some(self.from_ns),
            end_ns: Some(self.to_ns),
        });
        ListingStep::Ask(self.lister, query(false, criteria, cursor, PAGE_MAX))
    }

    /// Returns the store to ask for a message: the one that listed it, then others.
    fn source(&self, tried: &[PeerNo], context: &CheckContext<'_>) -> Option<PeerNo> {
        let (now, pool) = (context.now, &*context.pool);
        if tried.len() >= context.config.limits.stores_per_message {
            return None;
        }
        let is_fresh = !tried.contains(&self.lister);
        if is_fresh && pool.usable(now, self.lister, PeerService::Store, None) {
            return Some(self.lister);
        }
        pool.pick(now, PeerService::Store, None, |peer| tried.contains(&peer))
    }

    /// Handles a page; returns the requested messages in it, and its fault if it has one.
    pub(crate) fn page(
        &mut self,
        store: PeerNo,
        page: HistoryPage,
        memory: &DeliveryMemory,
        config: &LightConfig,
    ) -> (Vec<FoundMessage>, Result<(), PageError>) {
        self.is_repeated = false;
        match std::mem::replace(&mut self.asked, SentQuery::Nothing) {
            SentQuery::Nothing => (Vec::new(), Ok(())),
            SentQuery::Page => (Vec::new(), self.listed(page, memory, config)),
            SentQuery::Messages { hashes, .. } => self.fetched(store, page, &hashes),
        }
    }

    fn listed(
        &mut self,
        page: HistoryPage,
        memory: &DeliveryMemory,
        config: &LightConfig,
    ) -> Result<(), PageError> {
        self.pages += 1;
        let is_stuck = page.next.is_some() && ListPosition::Behind(page.next) == self.position;
        let is_empty_link = page.next.is_some() && page.entries.is_empty();
        if page.entries.len() > PAGE_MAX as usize || is_stuck || is_empty_link {
            return Err(PageError::Wrong);
        }
        self.position = match page.next {
            Some(_) if self.pages >= config.limits.max_pages => {
                self.has_gaps = true;
                ListPosition::End
            }
            Some(next) => ListPosition::Behind(Some(next)),
            None => ListPosition::End,
        };
        self.page = page.entries.iter().map(|entry| entry.hash).collect();
        for hash in &self.page {
            if memory.timestamp(hash).is_none() {
                self.missing.insert(*hash, Vec::new());
            }
        }
        Ok(())
    }

    fn fetched(
        &mut self,
        store: PeerNo,
        page: HistoryPage,
        hashes: &[MessageHash],
    ) -> (Vec<FoundMessage>, Result<(), PageError>) {
        let mut found: Vec<FoundMessage> = Vec::new();
        let mut is_wrong = page.entries.len() > hashes.len();
        for entry in page.entries.into_iter().take(hashes.len()) {
            let Some(data) = entry.data else { continue };
            let hash = message_hash(&data.pubsub_topic, &data.message);
            let is_of_chunk = data.pubsub_topic == self.chunk.pubsub_topic
                && self
                    .chunk
                    .content_topics
                    .contains(&data.message.content_topic);
            if !hashes.contains(&hash) || !is_of_chunk {
                is_wrong = true;
                continue;
            }
            self.missing.remove(&hash);
            found.push(FoundMessage {
                store,
                hash,
                pubsub_topic: data.pubsub_topic,
                message: data.message,
            });
        }
        // A store may send only part of the messages to keep the answer short, but it must send at
        // least one.
        let is_partial = page.next.is_some() && !found.is_empty();
        let mut is_hollow = false;
        for hash in hashes {
            if let Some(tried) = self.missing.get_mut(hash)
                && !is_partial
            {
                tried.push(store);
                is_hollow |= store == self.lister;
            }
        }
        let verdict = match (is_wrong, is_hollow) {
            (true, _) => Err(PageError::Wrong),
            (false, true) => Err(PageError::Hollow),
            (false, false) => Ok(()),
        };
        (found, verdict)
    }

    /// Repeats the query in flight, which was not answered.
    pub(crate) fn repeat(&mut self) {
        self.asked = SentQuery::Nothing;
        self.is_repeated = true;
    }

    /// Handles a store that did not answer: it is not asked again for the messages requested from
    /// it.
    pub(crate) fn source_failed(&mut self, store: PeerNo, is_lister: bool) {
        self.is_repeated = false;
        match std::mem::replace(&mut self.asked, SentQuery::Nothing) {
            SentQuery::Messages { store, hashes } => {
                for hash in hashes {
                    if let Some(tried) = self.missing.get_mut(&hash)
                        && !tried.contains(&store)
                    {
                        tried.push(store);
                    }
                }
            }
            SentQuery::Nothing | SentQuery::Page => {
                for tried in self.missing.values_mut() {
                    if !tried.contains(&store) {
                        tried.push(store);
                    }
                }
            }
        }
        if is_lister {
            self.position = ListPosition::End;
            self.has_gaps = true;
        }
    }

    /// Records the progress of the listing, so that it resumes there after a failure.
    fn page_done(&mut self, memory: &DeliveryMemory, wanted: &mut WantedTopics) {
        if self.has_gaps {
            self.page.clear();
            return;
        }
        let latest = self
            .page
            .drain(..)
            .filter_map(|hash| memory.timestamp(&hash))
            .max();
        if let Some(latest) = latest.filter(|latest| Some(*latest) > self.progress_ns) {
            self.progress_ns = Some(latest);
            let until_ns = latest.min(self.started_ns);
            wanted.listed(&self.chunk, self.lister, self.depth, until_ns);
        }
    }

    /// Ends the listing; returns whether everything listed was obtained.
    pub(crate) fn finish(self, wanted: &mut WantedTopics) -> bool {
        if !self.has_gaps {
            wanted.listed(&self.chunk, self.lister, self.depth, self.started_ns);
        }
        !self.has_gaps
    }
}

fn query(
    include_data: bool,
    criteria: HistoryCriteria,
    cursor: Option<MessageHash>,
    limit: u32,
) -> HistoryQuery {
    HistoryQuery {
        include_data,
        criteria,
        cursor,
        direction: PageDirection::Forward,
        limit,
    }
}
