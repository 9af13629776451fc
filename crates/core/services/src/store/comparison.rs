//! Comparison of a page of history with what a second store has of the same span.
//!
//! One store leads a page. A second one lists the hashes of the same span, and gives the messages that the first lacks.
//! The union is answered, so that a store that leaves messages out hides nothing that the other one has.

use std::collections::BTreeSet;

use undertone_message::MessageHash;

use crate::history::{HistoryCriteria, HistoryEntry, HistoryPage, HistoryQuery, PageDirection};

#[cfg(test)]
#[path = "tests/comparison.rs"]
mod tests;

/// Page of the leading store, which is compared with what a second one has.
#[derive(Clone, Debug)]
pub struct PageComparison {
    query: HistoryQuery,
    page: HistoryPage,
}

impl PageComparison {
    /// Compares `page`, the leader's answer to `query` with data.
    pub fn new(query: HistoryQuery, page: HistoryPage) -> Self {
        Self { query, page }
    }

    /// Returns the query by which the second store lists the span.
    pub fn listing(&self) -> HistoryQuery {
        HistoryQuery {
            include_data: false,
            ..self.query.clone()
        }
    }

    /// Returns the query by which a second store lists the span that does not have the cursor's message: by time, from
    /// the leader's first message on; `None` if there is no cursor, or no message.
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

    /// Returns the query for what the leader lacks of a listing; `None` if it lacks nothing.
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

    /// Whether both stores have the same messages, and some.
    pub fn agrees(&self, listed: &HistoryPage) -> bool {
        let hashes = |page: &HistoryPage| -> BTreeSet<MessageHash> {
            page.entries.iter().map(|entry| entry.hash).collect()
        };
        !listed.entries.is_empty() && hashes(listed) == hashes(&self.page)
    }

    /// Returns the page of both stores, with `found`, which the second one gave of what the leader lacks.
    ///
    /// The cursor is the leader's, unless the page would be longer than was asked for, or the leader has no further page
    /// and the second store does.
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
        // What lies beyond the end of the page belongs to the next one.
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

/// Place of a message in the order of history; `None` without its data.
fn place(entry: &HistoryEntry) -> Option<(i64, MessageHash)> {
    let data = entry.data.as_ref()?;
    Some((data.message.timestamp_ns(), entry.hash))
}
