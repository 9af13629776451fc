//! Positions in history, and the range of positions from which a page is taken.

use undertone_message::MessageHash;
use undertone_services::history::{
    ContentCriteria, HistoryEntry, HistoryPage, HistoryQuery, PageDirection,
};

/// Bytes greater than every hash.
const ABOVE_HASHES: [u8; 33] = [0xff; 33];

/// Position of a message in history, or before or after all messages of a timestamp.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PagePosition {
    pub(crate) timestamp_ns: i64,
    /// Hash; or empty (before every message of the timestamp), or [`ABOVE_HASHES`] (after every one).
    pub(crate) hash: Vec<u8>,
}

impl PagePosition {
    /// Returns the position of a message.
    pub(crate) fn of(timestamp_ns: i64, hash: &MessageHash) -> Self {
        Self {
            timestamp_ns,
            hash: hash.0.to_vec(),
        }
    }
}

/// Positions that enclose the messages of a page, both excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageBounds {
    pub(crate) after: PagePosition,
    pub(crate) before: PagePosition,
}

impl PageBounds {
    /// Returns the bounds of all history between two timestamps, both included.
    pub(crate) fn between(start_ns: i64, end_ns: i64) -> Self {
        Self {
            after: PagePosition {
                timestamp_ns: start_ns,
                hash: Vec::new(),
            },
            before: PagePosition {
                timestamp_ns: end_ns,
                hash: ABOVE_HASHES.to_vec(),
            },
        }
    }

    /// Returns the bounds of a query by content.
    pub(crate) fn of(criteria: &ContentCriteria) -> Self {
        Self::between(
            criteria.start_ns.unwrap_or(i64::MIN),
            criteria.end_ns.unwrap_or(i64::MAX),
        )
    }

    /// Excludes everything that does not come after a cursor in page order.
    pub(crate) fn behind(&mut self, cursor: PagePosition, direction: PageDirection) {
        match direction {
            PageDirection::Forward if cursor > self.after => self.after = cursor,
            PageDirection::Backward if cursor < self.before => self.before = cursor,
            _ => {}
        }
    }

    /// Excludes a message and everything that comes after it in page order.
    pub(crate) fn end_at(&mut self, last: PagePosition, direction: PageDirection) {
        match direction {
            PageDirection::Forward => self.before = self.before.clone().min(last),
            PageDirection::Backward => self.after = self.after.clone().max(last),
        }
    }

    /// Whether a position is between the bounds.
    pub(crate) fn contain(&self, position: &PagePosition) -> bool {
        self.after < *position && *position < self.before
    }
}

/// Sorts keys in page order, and keeps only the first ones.
pub(crate) fn cut<T>(
    keys: &mut Vec<T>,
    direction: PageDirection,
    most: usize,
    order: impl Fn(&T) -> (i64, MessageHash),
) {
    match direction {
        PageDirection::Forward => keys.sort_unstable_by_key(&order),
        PageDirection::Backward => keys.sort_unstable_by_key(|key| std::cmp::Reverse(order(key))),
    }
    keys.truncate(most);
}

/// Returns the number of entries to fetch for a page: one more than requested, which shows whether there is a next
/// page.
pub(crate) fn fetch_count(query: &HistoryQuery) -> usize {
    page_limit(query).saturating_add(1)
}

/// Returns the maximum number of entries of a page, at least one.
fn page_limit(query: &HistoryQuery) -> usize {
    usize::try_from(query.limit.clamp(1, undertone_services::history::PAGE_MAX)).unwrap_or(1)
}

/// Builds a page from up to [`fetch_count`] entries in page order.
pub(crate) fn make(query: &HistoryQuery, mut entries: Vec<HistoryEntry>) -> HistoryPage {
    let limit = page_limit(query);
    let more = entries.len() > limit;
    entries.truncate(limit);
    let next = entries.last().filter(|_| more).map(|entry| entry.hash);
    if query.direction == PageDirection::Backward {
        entries.reverse();
    }
    HistoryPage { entries, next }
}
