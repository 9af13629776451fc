//! The room's history, from a store.
//!
//! The store is the node's own archive, one named in the configuration, or one of a connected peer.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::mpsc;
use tokio::time::Instant;
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_node::services::{ServiceFailure, ServicesHandle};
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryQuery, PAGE_MAX, PageDirection,
};

/// Number of past messages requested when the chat starts.
const RECENT: usize = 100;

/// Maximum number of queries waiting for the store.
const QUEUE: usize = 8;

/// Time to look for a store when the chat starts. On a busy machine it takes a while until peers are connected and
/// have announced their services.
const LOOK_FOR: Duration = Duration::from_secs(60);

/// Pause between two queries.
const PAUSE: Duration = Duration::from_millis(500);

/// Pending answer of a store.
pub(crate) type PendingStoreReply<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, HistoryFailure>> + Send + 'a>>;

/// Reason why a store gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub(crate) struct HistoryFailure {
    /// Reason, in plain words.
    pub(crate) reason: String,
}

/// Place of a room in the network.
#[derive(Debug, Clone)]
pub(crate) struct RoomPlace {
    /// Shard that carries the room.
    pub(crate) pubsub_topic: PubsubTopic,
    /// Content topic of the room.
    pub(crate) content_topic: String,
}

/// Client of a store.
pub(crate) trait RoomHistory: Send {
    /// Returns the last messages of a room, at most `count`, oldest first.
    fn recent<'a>(
        &'a mut self,
        place: &'a RoomPlace,
        count: usize,
    ) -> PendingStoreReply<'a, Vec<WakuMessage>>;
}

/// Query to the store.
#[derive(Debug)]
pub(crate) enum HistoryQuestion {
    /// Asks for the last messages of the room.
    Recent(RoomPlace),
}

/// Answer of the store.
#[derive(Debug)]
pub(crate) enum StoreReply {
    /// The last messages of the room, oldest first.
    Recent(Result<Vec<WakuMessage>, HistoryFailure>),
}

/// History by the node's services.
struct StoreHistory(ServicesHandle);

impl RoomHistory for StoreHistory {
    fn recent<'a>(
        &'a mut self,
        place: &'a RoomPlace,
        count: usize,
    ) -> PendingStoreReply<'a, Vec<WakuMessage>> {
        let query = HistoryQuery {
            include_data: true,
            criteria: HistoryCriteria::Content(ContentCriteria {
                pubsub_topic: Some(place.pubsub_topic.to_string().into()),
                content_topics: vec![place.content_topic.as_str().into()],
                ..ContentCriteria::default()
            }),
            cursor: None,
            direction: PageDirection::Backward,
            limit: u32::try_from(count).unwrap_or(PAGE_MAX).min(PAGE_MAX),
        };
        Box::pin(async move {
            let give_up = Instant::now() + LOOK_FOR;
            let answer = loop {
                match self.0.query_store(None, query.clone()).await {
                    Err(failure) if may_pass(&failure) && Instant::now() < give_up => {
                        tokio::time::sleep(PAUSE).await;
                    }
                    answer => break answer?,
                }
            };
            let data = answer.page.entries.into_iter().filter_map(|one| one.data);
            Ok(data.map(|data| data.message).collect())
        })
    }
}

/// Whether another attempt may succeed, perhaps with another store.
fn may_pass(failure: &ServiceFailure) -> bool {
    match failure {
        // The node has just started, and its peers may not have announced their services yet.
        ServiceFailure::NoPeer { .. } => true,
        // The connection may be new, or the store busy starting.
        ServiceFailure::Dial { .. }
        | ServiceFailure::Refused { .. }
        | ServiceFailure::BadAnswer { .. }
        | ServiceFailure::TimedOut { .. } => true,
        _ => false,
    }
}

impl From<ServiceFailure> for HistoryFailure {
    fn from(failure: ServiceFailure) -> Self {
        Self {
            reason: failure.to_string(),
        }
    }
}

/// Returns a client of the stores that a node's services know.
pub(crate) fn open(services: ServicesHandle) -> Box<dyn RoomHistory> {
    Box::new(StoreHistory(services))
}

/// Starts to query a store, one query at a time. Queries are dropped if the queue is full.
pub(crate) fn start(
    mut history: Box<dyn RoomHistory>,
) -> (mpsc::Sender<HistoryQuestion>, mpsc::Receiver<StoreReply>) {
    let (questions, mut asked) = mpsc::channel(QUEUE);
    let (answers, answered) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        while let Some(question) = asked.recv().await {
            let answer = match question {
                HistoryQuestion::Recent(place) => {
                    StoreReply::Recent(history.recent(&place, RECENT).await)
                }
            };
            if answers.send(answer).await.is_err() {
                return;
            }
        }
    });
    (questions, answered)
}
