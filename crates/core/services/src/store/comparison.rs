//! Comparison of a page of history with a second store's messages of the same span.
//!
//! One store provides the page. A second one lists the hashes of the same span, and returns the messages that the first
//! lacks. The result is the union, so a store that omits messages hides nothing that the other one has.

use std::collections::BTreeSet;

use undertone_message::MessageHash;

use crate::history::{HistoryCriteria, HistoryEntry, HistoryPage, HistoryQuery, PageDirection};

#[cfg(test)]
#[path = "tests/comparison.rs"]
mod tests;

/// Page of the leading store, to be compared with a second store.
#[derive(Clone, Debug)]
pub struct PageComparison {
    query: HistoryQuery,
    page: HistoryPage,
}

impl PageComparison {
    /// Creates a comparison for `page`, the leader's answer to `query` with data.
    pub fn new(query: HistoryQuery, page: HistoryPage) -> Self {
        Self { query, page }
    }

    /// Returns the query with which the second store lists the span.
    pub fn listing(&self) -> HistoryQuery {
        HistoryQuery {
            include_data: false,
            ..self.query.clone()
        }
    }

    /// Returns a query that lists the span by time, from the leader's first message on, for a second store that lacks
    /// the cursor's message; `None` if there is no cursor, or no message.
    pub fn listing_by_time(&self) -> Option<HistoryQuery> {
        let mut listing = self.listing();
        listing.cursor.take()?;
        let near_end = match listing.direction {
            PageDirection::Forward => self.page.entries.first(),
            PageDirection::Backward => self.page.entries.last(),
        };
        let (time_ns, _) = place(near_end?)?;
        if let HistoryCriteria::Content(content) = &mut listing.criteria {
            match listing.direction {
                PageDirection::Forward => content.start_ns = Some(time_ns),
                PageDirection::Backward => content.end_ns = Some(time_ns),
            }
        }
        Some(listing)
    }

    /// Returns the query for the listed messages that the leader lacks; `None` if it lacks none.
    pub fn missing(&self, listed: &HistoryPage) -> Option<HistoryQuery> {
        let own: BTreeSet<_> = self.page.entries.iter().map(|entry| entry.hash).collect();
        let hashes = listed.entries.iter().map(|entry| entry.hash);
        let hashes: Vec<_> = hashes.filter(|hash| !own.contains(hash)).collect();
        let limit = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
        (!hashes.is_empty()).then_some(HistoryQuery {
            include_data: true,
            criteria: HistoryCriteria::Hashes(hashes),
            cursor: None,
            direction: self.query.direction,
            limit,
        })
    }

    /// Whether both stores have the same messages, at least one.
    pub fn agrees(&self, listed: &HistoryPage) -> bool {
        let hashes = |page: &HistoryPage| -> BTreeSet<MessageHash> {
            page.entries.iter().map(|entry| entry.hash).collect()
        };
        !listed.entries.is_empty() && hashes(listed) == hashes(&self.page)
    }

    /// Returns the merged page. `found` holds the messages that the leader lacked, as returned by the second store.
    ///
    /// The cursor is the leader's, unless the page would be longer than requested, or only the second store has a
    /// further page.
    pub fn union(self, listed: &HistoryPage, found: Vec<HistoryEntry>) -> HistoryPage {
        let Self { query, page } = self;
        let is_asked = |entry: &HistoryEntry| match (&query.criteria, &entry.data) {
            (HistoryCriteria::Content(content), Some(data)) => content.is_met_by(data),
            (HistoryCriteria::Hashes(_), Some(_)) => true,
            (_, None) => false,
        };
        let leader_ends = match query.direction {
            PageDirection::Forward => page.entries.last(),
            PageDirection::Backward => page.entries.first(),
        };
        let leader_ends = leader_ends.filter(|_| page.next.is_some()).and_then(place);
        let mut entries: Vec<_> = page.entries;
        entries.extend(found.into_iter().filter(is_asked));
        entries.sort_by_key(place);
        // Messages beyond the end of the page belong to the next one.
        let listed_ends = listed.next.filter(|_| page.next.is_none());
        let listed_ends = entries.iter().find(|entry| Some(entry.hash) == listed_ends);
        let ends = leader_ends.or_else(|| listed_ends.and_then(place));
        if let Some(end) = ends {
            entries.retain(|entry| match query.direction {
                PageDirection::Forward => place(entry) <= Some(end),
                PageDirection::Backward => place(entry) >= Some(end),
            });
        }
        let limit = query.limit as usize;
        let is_cut = entries.len() > limit;
        let far_end = match query.direction {
            PageDirection::Forward => {
                entries.truncate(limit);
                entries.last()
            }
            PageDirection::Backward => {
                entries.drain(..entries.len().saturating_sub(limit));
                entries.first()
            }
        };
        let next = match is_cut || ends.is_some() {
            true => far_end.map(|entry| entry.hash),
            false => page.next,
        };
        if !query.include_data {
            for entry in &mut entries {
                entry.data = None;
            }
        }
        HistoryPage { entries, next }
    }
}

/// Returns a message's position in the order of history; `None` without its data.
fn place(entry: &HistoryEntry) -> Option<(i64, MessageHash)> {
    let data = entry.data.as_ref()?;
    Some((data.message.timestamp_ns(), entry.hash))
}
