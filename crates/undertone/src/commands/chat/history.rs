//! The room's past, from a store.
//!
//! This program has no store client yet: [`open`] returns `None`, and the chat says so. A client implements [`History`]
//! and is returned by [`open`]; everything behind it, from asking to showing, is in place.

use std::future::Future;
use std::pin::Pin;

use thiserror::Error;
use tokio::sync::mpsc;
use undertone_message::{MessageHash, PubsubTopic, WakuMessage};
use undertone_node::config::NodeConfig;
use undertone_node::handle::NodeHandle;

/// Messages of the past that are asked for when the chat begins.
const RECENT: usize = 100;

/// Questions that may wait for the store.
const QUEUE: usize = 8;

/// Answer of a store that is still to come.
pub(super) type Pending<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, HistoryFailure>> + Send + 'a>>;

/// Reason why a store gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{reason}")]
pub(super) struct HistoryFailure {
    /// Reason, in plain words.
    pub(super) reason: String,
}

/// Place of a room in the network.
#[derive(Debug, Clone)]
#[cfg_attr(not(test), expect(dead_code, reason = "for the client of a store"))]
pub(super) struct Place {
    /// Shard that carries the room.
    pub(super) pubsub_topic: PubsubTopic,
    /// Content topic of the room.
    pub(super) content_topic: String,
}

/// Client of a store.
pub(super) trait History: Send {
    /// Returns the last messages of a room, at most `count`, oldest first.
    fn recent<'a>(&'a mut self, place: &'a Place, count: usize) -> Pending<'a, Vec<WakuMessage>>;

    /// Returns which of these messages the store keeps.
    fn stored<'a>(&'a mut self, hashes: &'a [MessageHash]) -> Pending<'a, Vec<MessageHash>>;
}

/// Question to the store.
#[derive(Debug)]
pub(super) enum Question {
    /// Asks for the last messages of the room.
    Recent(Place),
    /// Asks which of these messages are stored.
    Stored(Vec<MessageHash>),
}

/// Answer of the store.
#[derive(Debug)]
pub(super) enum Answer {
    /// The last messages of the room, oldest first.
    Recent(Result<Vec<WakuMessage>, HistoryFailure>),
    /// Those of the messages that are stored; none if the store gave no answer.
    Stored(Vec<MessageHash>),
}

/// Opens the client of the configured store; `None` if there is none.
pub(super) fn open(_config: &NodeConfig, _node: &NodeHandle) -> Option<Box<dyn History>> {
    None
}

/// Starts asking a store, one question at a time. Questions that find the queue full are dropped.
pub(super) fn start(
    mut history: Box<dyn History>,
) -> (mpsc::Sender<Question>, mpsc::Receiver<Answer>) {
    let (questions, mut asked) = mpsc::channel(QUEUE);
    let (answers, answered) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        while let Some(question) = asked.recv().await {
            let answer = match question {
                Question::Recent(place) => Answer::Recent(history.recent(&place, RECENT).await),
                Question::Stored(hashes) => {
                    Answer::Stored(history.stored(&hashes).await.unwrap_or_default())
                }
            };
            if answers.send(answer).await.is_err() {
                return;
            }
        }
    });
    (questions, answered)
}
