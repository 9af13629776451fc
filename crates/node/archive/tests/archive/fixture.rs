//! Places for archives, and messages.

use std::sync::Arc;

use tempfile::TempDir;
use undertone_archive::{Archive, ArchiveOptions, ArchiveUrl};
use undertone_message::{MessageHash, WakuMessage};
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryEntry, HistoryPage, HistoryQuery, PageDirection,
    StoredMessage,
};

pub(crate) const HOUR_NS: i64 = 3_600_000_000_000;

/// Place of one test's archive; gone with the value.
pub(crate) struct Place {
    pub(crate) url: ArchiveUrl,
    /// Database in PostgreSQL.
    #[cfg_attr(not(feature = "postgres"), allow(dead_code))]
    pub(crate) database: Option<String>,
    pub(crate) directory: Option<TempDir>,
}

impl Place {
    pub(crate) fn sqlite() -> Option<Self> {
        // Most of the time of these tests would be waiting for a disk.
        let memory = std::path::Path::new("/dev/shm");
        let directory = match memory.exists() {
            true => tempfile::tempdir_in(memory).unwrap(),
            false => tempfile::tempdir().unwrap(),
        };
        Some(Self::in_directory(directory))
    }

    /// Place that waits for a disk, as real ones do.
    pub(crate) fn sqlite_on_disk() -> Self {
        Self::in_directory(tempfile::tempdir().unwrap())
    }

    fn in_directory(directory: TempDir) -> Self {
        Self {
            url: ArchiveUrl::sqlite(directory.path().join("archive")),
            database: None,
            directory: Some(directory),
        }
    }

    /// Makes a database in a server that all tests share; `None` if they are to be skipped.
    #[cfg(feature = "postgres")]
    pub(crate) fn postgres() -> Option<Self> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static DATABASES: AtomicU32 = AtomicU32::new(0);
        let server = server()?;
        let name = format!("archive_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        Some(Self {
            url: server.create_database(&name).parse().unwrap(),
            database: Some(name),
            directory: None,
        })
    }

    /// Opens the archive with a retention policy.
    pub(crate) async fn open(&self, retention: &str) -> Archive {
        let options = ArchiveOptions::default().with_retention(retention.parse().unwrap());
        self.open_with(options).await
    }

    pub(crate) async fn open_with(&self, options: ArchiveOptions) -> Archive {
        Archive::open(&self.url, options).await.unwrap()
    }
}

/// Server that the tests of this process share.
#[cfg(feature = "postgres")]
pub(crate) fn server() -> Option<&'static super::postgres_server::PostgresServer> {
    use std::sync::OnceLock;

    use super::postgres_server::PostgresServer;
    static SERVER: OnceLock<Option<PostgresServer>> = OnceLock::new();
    SERVER.get_or_init(|| PostgresServer::start(false)).as_ref()
}

/// Makes each function a test of SQLite and a test of PostgreSQL.
macro_rules! both {
    ($($(#[doc = $doc:literal])* async fn $name:ident($place:ident: Place) $body:block)*) => {
        mod cases {
            #[allow(unused_imports)]
            use super::*;
            $($(#[doc = $doc])* pub(super) async fn $name($place: $crate::fixture::Place) $body)*
        }
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::cases::$name($crate::fixture::Place::sqlite().unwrap()).await;
            })*
        }
        #[cfg(feature = "postgres")]
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let Some(place) = $crate::fixture::Place::postgres() else {
                    return;
                };
                super::cases::$name(place).await;
            })*
        }
    };
}
pub(crate) use both;

/// Message with a timestamp and a payload.
pub(crate) fn message(timestamp_ns: i64, payload: &str) -> StoredMessage {
    on("/waku/2/rs/1/0", "/test/1/a/proto", timestamp_ns, payload)
}

/// Message on given topics.
pub(crate) fn on(pubsub: &str, content: &str, timestamp_ns: i64, payload: &str) -> StoredMessage {
    let mut message = WakuMessage::new(payload.as_bytes().to_vec(), content);
    message.timestamp = Some(timestamp_ns);
    message.rate_limit_proof = Some(b"proof".to_vec().into());
    StoredMessage::new(pubsub, message)
}

/// Query for everything with data, the oldest first, 100 messages a page.
pub(crate) fn everything() -> HistoryQuery {
    by(ContentCriteria::default())
}

pub(crate) fn by(criteria: ContentCriteria) -> HistoryQuery {
    HistoryQuery {
        include_data: true,
        criteria: HistoryCriteria::Content(criteria),
        cursor: None,
        direction: PageDirection::Forward,
        limit: 100,
    }
}

pub(crate) fn by_hashes(hashes: Vec<MessageHash>) -> HistoryQuery {
    HistoryQuery {
        criteria: HistoryCriteria::Hashes(hashes),
        ..everything()
    }
}

/// Conditions on topics.
pub(crate) fn topics(pubsub: Option<&str>, content: &[&str]) -> ContentCriteria {
    ContentCriteria {
        pubsub_topic: pubsub.map(Arc::from),
        content_topics: content.iter().map(|topic| Arc::from(*topic)).collect(),
        ..ContentCriteria::default()
    }
}

/// Entry as a message of the archive.
pub(crate) fn stored(entry: HistoryEntry) -> StoredMessage {
    let data = entry.data.expect("the query asked for data");
    StoredMessage {
        hash: entry.hash,
        pubsub_topic: data.pubsub_topic,
        message: data.message,
    }
}

pub(crate) fn hashes(page: &HistoryPage) -> Vec<MessageHash> {
    page.entries.iter().map(|entry| entry.hash).collect()
}

/// Pages of a query to the end, in the order in which they come.
pub(crate) async fn pages(archive: &Archive, mut query: HistoryQuery) -> Vec<HistoryPage> {
    let mut pages = Vec::new();
    loop {
        let page = archive.query(query.clone()).await.unwrap();
        query.cursor = page.next;
        pages.push(page);
        if query.cursor.is_none() {
            return pages;
        }
        assert!(pages.len() < 10_000, "pages without end");
    }
}

/// Payloads of a query's messages, all pages.
pub(crate) async fn payloads(archive: &Archive, query: HistoryQuery) -> Vec<String> {
    let pages = pages(archive, query).await;
    let entries = pages.into_iter().flat_map(|page| page.entries);
    let text = |entry| String::from_utf8(stored(entry).message.payload.to_vec()).unwrap();
    entries.map(text).collect()
}
