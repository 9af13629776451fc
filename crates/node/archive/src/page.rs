//! Positions in history, and the range of positions that a page is cut from.

use undertone_message::MessageHash;
use undertone_services::history::{
    ContentCriteria, HistoryEntry, HistoryPage, HistoryQuery, PageDirection,
};

/// Bytes above every hash.
const ABOVE_HASHES: [u8; 33] = [0xff; 33];

/// Place of a message in history, or an end of history at a timestamp.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PagePosition {
    pub(crate) timestamp_ns: i64,
    /// Hash, or no bytes (before every message of the timestamp), or [`ABOVE_HASHES`].
    pub(crate) hash: Vec<u8>,
}

impl PagePosition {
    /// Position of a message.
    pub(crate) fn of(timestamp_ns: i64, hash: &MessageHash) -> Self {
        Self {
            timestamp_ns,
            hash: hash.0.to_vec(),
        }
    }
}

/// Positions between which the messages of a page are, both excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageBounds {
    pub(crate) after: PagePosition,
    pub(crate) before: PagePosition,
}

impl PageBounds {
    /// Bounds of all history between two timestamps, both included.
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

    /// Bounds of a query by content.
    pub(crate) fn of(criteria: &ContentCriteria) -> Self {
        Self::between(
            criteria.start_ns.unwrap_or(i64::MIN),
            criteria.end_ns.unwrap_or(i64::MAX),
        )
    }

    /// Excludes what is not behind a cursor.
    pub(crate) fn behind(&mut self, cursor: PagePosition, direction: PageDirection) {
        match direction {
            PageDirection::Forward if cursor > self.after => self.after = cursor,
            PageDirection::Backward if cursor < self.before => self.before = cursor,
            _ => {}
        }
    }

    /// Excludes what comes after a message of the page, and the message itself.
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

/// Orders keys from the first of a page on, and leaves only the first ones.
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

/// Number of entries that a page is made of: one more than asked for tells whether there is a next page.
pub(crate) fn fetch_count(query: &HistoryQuery) -> usize {
    page_limit(query).saturating_add(1)
}

/// Most entries of a page, at least one.
fn page_limit(query: &HistoryQuery) -> usize {
    usize::try_from(query.limit.clamp(1, undertone_services::history::PAGE_MAX)).unwrap_or(1)
}

/// Makes a page of up to [`fetch_count`] entries, ordered from the first of the page on.
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
