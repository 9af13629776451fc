//! Archive of a simulated service node, in memory.

use std::collections::BTreeMap;

use undertone_message::MessageHash;
use undertone_services::history::{
    HistoryCriteria, HistoryData, HistoryEntry, HistoryError, HistoryPage, HistoryQuery,
    PageDirection, StoredMessage,
};

/// Position of a message in history: timestamp, then hash.
type HistoryPlace = (i64, MessageHash);

/// Messages in the order of history.
#[derive(Debug, Default)]
pub(crate) struct MemoryArchive {
    messages: BTreeMap<HistoryPlace, ArchivedMessage>,
    timestamps: BTreeMap<MessageHash, i64>,
}

/// Message, and the time since which the archive has it.
#[derive(Debug)]
pub(crate) struct ArchivedMessage {
    pub(crate) stored: StoredMessage,
    pub(crate) since_ns: u64,
}

impl MemoryArchive {
    /// Stores a message, unless it is ephemeral or already stored.
    pub(crate) fn keep(&mut self, now_ns: u64, stored: StoredMessage) {
        if stored.message.is_ephemeral() {
            return;
        }
        let place = (stored.message.timestamp_ns(), stored.hash);
        self.timestamps.insert(stored.hash, place.0);
        self.messages.entry(place).or_insert(ArchivedMessage {
            stored,
            since_ns: now_ns,
        });
    }

    /// Message with a hash, if it is stored.
    pub(crate) fn get(&self, hash: MessageHash) -> Option<&StoredMessage> {
        let timestamp = *self.timestamps.get(&hash)?;
        let kept = self.messages.get(&(timestamp, hash))?;
        Some(&kept.stored)
    }

    /// All messages, the oldest first.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &ArchivedMessage> {
        self.messages.values()
    }

    /// Answers a query.
    pub(crate) fn page(&self, query: &HistoryQuery) -> Result<HistoryPage, HistoryError> {
        let cursor = match query.cursor {
            None => None,
            Some(hash) => {
                let timestamp = self.timestamps.get(&hash);
                Some((*timestamp.ok_or(HistoryError::UnknownCursor)?, hash))
            }
        };
        let Some((first, last)) = self.bounds(query) else {
            return Ok(HistoryPage::default());
        };
        let range = self.messages.range(first..=last);
        let limit = query.limit as usize;
        let wanted = |(_, kept): &(&HistoryPlace, &ArchivedMessage)| meets(&kept.stored, query);
        let behind = |place: &HistoryPlace| match (cursor, query.direction) {
            (None, _) => true,
            (Some(cursor), PageDirection::Forward) => *place > cursor,
            (Some(cursor), PageDirection::Backward) => *place < cursor,
        };
        let entry = |(_, kept): (&HistoryPlace, &ArchivedMessage)| HistoryEntry {
            hash: kept.stored.hash,
            data: query.include_data.then(|| HistoryData {
                pubsub_topic: kept.stored.pubsub_topic.clone(),
                message: kept.stored.message.clone(),
            }),
        };
        let found = range.filter(|(place, _)| behind(place)).filter(wanted);
        let mut entries: Vec<HistoryEntry> = match query.direction {
            PageDirection::Forward => found.map(entry).take(limit + 1).collect(),
            PageDirection::Backward => found.rev().map(entry).take(limit + 1).collect(),
        };
        let is_more = entries.len() > limit;
        entries.truncate(limit);
        let next = entries.last().map(|entry| entry.hash).filter(|_| is_more);
        if query.direction == PageDirection::Backward {
            entries.reverse();
        }
        Ok(HistoryPage { entries, next })
    }

    /// Positions between which all messages of a query lie; `None` if there are none.
    fn bounds(&self, query: &HistoryQuery) -> Option<(HistoryPlace, HistoryPlace)> {
        match &query.criteria {
            HistoryCriteria::Hashes(hashes) => {
                let place = |hash: &MessageHash| Some((*self.timestamps.get(hash)?, *hash));
                let mut places = hashes.iter().filter_map(place);
                let first = places.next()?;
                Some(places.fold((first, first), |(low, high), place| {
                    (low.min(place), high.max(place))
                }))
            }
            HistoryCriteria::Content(content) => {
                let first = (content.start_ns.unwrap_or(i64::MIN), MessageHash([0; 32]));
                let last = (
                    content.end_ns.unwrap_or(i64::MAX),
                    MessageHash([u8::MAX; 32]),
                );
                (first <= last).then_some((first, last))
            }
        }
    }
}

fn meets(stored: &StoredMessage, query: &HistoryQuery) -> bool {
    match &query.criteria {
        HistoryCriteria::Hashes(hashes) => hashes.contains(&stored.hash),
        HistoryCriteria::Content(content) => {
            let topic = content.pubsub_topic.as_ref();
            let topics = &content.content_topics;
            topic.is_none_or(|topic| *topic == stored.pubsub_topic)
                && (topics.is_empty() || topics.contains(&stored.message.content_topic))
        }
    }
}

#[cfg(test)]
mod tests {
    use undertone_message::WakuMessage;
    use undertone_services::history::ContentCriteria;
    use undertone_services::store::{HistoryReader, ReaderLimits, StoreResponse, StoreStatus};

    use super::*;

    fn archive(messages: i64) -> MemoryArchive {
        let mut archive = MemoryArchive::default();
        for number in 0..messages {
            keep(&mut archive, number);
        }
        archive
    }

    fn keep(archive: &mut MemoryArchive, number: i64) {
        let topic = ["/a/1/a/proto", "/b/1/b/proto"][number as usize % 2];
        let mut message = WakuMessage::new(number.to_le_bytes().to_vec(), topic);
        // Two messages share each timestamp.
        message.timestamp = Some(number / 2);
        archive.keep(0, StoredMessage::new("/waku/2/rs/1/0", message));
    }

    fn query(direction: PageDirection, limit: u32) -> HistoryQuery {
        HistoryQuery {
            include_data: true,
            criteria: HistoryCriteria::Content(ContentCriteria::default()),
            cursor: None,
            direction,
            limit,
        }
    }

    /// Reads every page with the reader that clients use, which trusts no server.
    fn read(archive: &mut MemoryArchive, query: HistoryQuery, arrive: bool) -> usize {
        let mut reader = HistoryReader::new(query, ReaderLimits::default());
        let (mut read, mut arrives) = (0, 100);
        while let Some(request) = reader.request("1") {
            let response = StoreResponse {
                request_id: "1".into(),
                status: StoreStatus::Ok,
                description: "OK".into(),
                page: archive.page(&request.query).unwrap(),
            };
            let page = reader.take("1", &response.encode().into()).unwrap();
            read += page.entries.len();
            if arrive && arrives < 120 {
                keep(archive, arrives);
                arrives += 1;
            }
        }
        read
    }

    #[test]
    fn every_message_is_read_once_in_both_directions() {
        for limit in [1, 7, 100] {
            for direction in [PageDirection::Forward, PageDirection::Backward] {
                let mut archive = archive(30);
                assert_eq!(read(&mut archive, query(direction, limit), false), 30);
            }
        }
        // Messages that arrive during the reading come at the end, and do not move the pages.
        let forward = query(PageDirection::Forward, 2);
        assert_eq!(read(&mut archive(30), forward, true), 30 + 20);
        let backward = query(PageDirection::Backward, 2);
        assert_eq!(read(&mut archive(30), backward, true), 30);
    }

    #[test]
    fn conditions_and_cursors_are_kept() {
        let archive = archive(30);
        let mut by_topic = query(PageDirection::Forward, 100);
        by_topic.criteria = HistoryCriteria::Content(ContentCriteria {
            content_topics: vec!["/b/1/b/proto".into()],
            start_ns: Some(5),
            end_ns: Some(9),
            ..ContentCriteria::default()
        });
        let page = archive.page(&by_topic).unwrap();
        assert_eq!((page.entries.len(), page.next), (5, None));
        let mut by_hash = query(PageDirection::Forward, 100);
        let hashes: Vec<_> = page.entries.iter().map(|entry| entry.hash).collect();
        by_hash.criteria = HistoryCriteria::Hashes(hashes);
        assert_eq!(archive.page(&by_hash).unwrap().entries.len(), 5);
        by_hash.cursor = Some(MessageHash([9; 32]));
        assert_eq!(archive.page(&by_hash), Err(HistoryError::UnknownCursor));
    }
}
