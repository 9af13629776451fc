//! Limits of Store v3 on messages and on the server's load.

use std::time::Duration;

use undertone_message::MessageLimits;

use crate::history::PAGE_MAX;

/// Limits on the content of one request or response, checked before allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreLimits {
    /// Maximum length of a request, in bytes.
    pub max_request_bytes: usize,
    /// Maximum length of a request id, in bytes.
    pub max_request_id_bytes: usize,
    /// Maximum number of hashes of a request.
    pub max_hashes: usize,
    /// Maximum number of content topics of a request.
    pub max_content_topics: usize,
    /// Maximum length of a topic, in bytes.
    pub max_topic_bytes: usize,
    /// Maximum length of a response that a client reads, in bytes.
    pub max_response_bytes: usize,
    /// Maximum number of messages of a response that a client reads.
    pub max_response_messages: usize,
    /// Maximum length of a status description that a client reads, in bytes.
    pub max_description_bytes: usize,
    /// Limits on each message of a response.
    pub message: MessageLimits,
}

impl Default for StoreLimits {
    /// Returns 20 MiB for a response, which holds a full page of the largest messages of The Waku Network (100
    /// of 150 KiB), and limits for requests above what any known client sends. Where messages are larger, a
    /// client must request smaller pages, because nwaku does not limit the bytes of a page.
    fn default() -> Self {
        Self {
            max_request_bytes: 128 * 1024,
            max_request_id_bytes: 256,
            max_hashes: 1000,
            max_content_topics: 100,
            max_topic_bytes: 1024,
            max_response_bytes: 20 * 1024 * 1024,
            max_response_messages: PAGE_MAX as usize,
            max_description_bytes: 4096,
            message: MessageLimits::default(),
        }
    }
}

/// Limits on a server's load and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Limits on one request.
    pub request: StoreLimits,
    /// Maximum number of unanswered queries of one peer; more are answered 429.
    pub max_queries_per_peer: usize,
    /// Maximum number of unanswered queries in all. Beyond, the last one of the peer with the most is answered
    /// 503.
    pub max_queries: usize,
    /// Maximum number of queries at the archive at once, including those that nobody waits for any more. The
    /// others wait for their turns, one query of each peer after another.
    pub max_asked: usize,
    /// Maximum length of a response, in bytes. A longer page is cut, and the cursor points to the cut.
    pub max_response_bytes: usize,
    /// Time after which a query that the archive has not answered is answered 503.
    pub query_timeout: Duration,
}

impl Default for ServerLimits {
    /// Returns 4 MiB for a response, the most that js-waku reads (`it-length-prefixed`); nwaku has no limit.
    fn default() -> Self {
        Self {
            request: StoreLimits::default(),
            max_queries_per_peer: 8,
            max_queries: 64,
            max_asked: 2,
            max_response_bytes: 4 * 1024 * 1024,
            query_timeout: Duration::from_secs(10),
        }
    }
}

/// Limits on one walk through history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderLimits {
    /// Limits on one response.
    pub response: StoreLimits,
    /// Maximum number of messages of the walk.
    pub max_messages: usize,
    /// Maximum number of pages of the walk.
    pub max_pages: usize,
}

impl Default for ReaderLimits {
    fn default() -> Self {
        Self {
            response: StoreLimits::default(),
            max_messages: 100_000,
            max_pages: 10_000,
        }
    }
}
