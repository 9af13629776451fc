//! Program's end of the accountable sender.

use thiserror::Error;
use tokio::sync::{broadcast, mpsc, oneshot};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_network::handle::Stopped;
use undertone_services::sending::{SendError, SendId};

use super::repair_share::RepairShare;
use super::report::{SendReport, WaitingMessage};
use super::state::{SendQueueState, SendQueueWatch};
use undertone_network::command::{PublishFailure, Unsent};

/// Calls that wait for the sender at most; further callers wait.
const CALLS_MAX: usize = 256;

/// Reports that a slow reader may be behind before it misses some.
const NEWS_MAX: usize = 1_024;

/// Reason why a message was not accepted for sending.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SendFailure {
    /// The queue is full, or holds the message already.
    #[error(transparent)]
    Queue(#[from] SendError),
    /// Other nodes would refuse the message.
    #[error(transparent)]
    Message(#[from] PublishFailure),
    /// The topic of the message is missing and cannot be derived, or is not the network's.
    #[error("{0}")]
    Topic(String),
    /// The queue cannot be written.
    #[error("the send queue cannot be written: {reason}")]
    Unwritable {
        /// Reason, with the path and the remedy.
        reason: String,
    },
    /// The node is stopping or has stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Channel on which a caller waits until its message is in the queue.
pub(super) type AcceptReply = oneshot::Sender<Result<SendId, SendFailure>>;

/// Request of the program to the sender.
#[derive(Debug)]
pub enum SenderCall {
    /// Accepts a message for sending.
    Send {
        /// Topic of the message; `None` derives it from the content topic.
        pubsub_topic: Option<PubsubTopic>,
        /// Message to send.
        message: WakuMessage,
        /// Answer once the message is in the queue.
        reply: AcceptReply,
    },
    /// Lets a message wait that no peer has.
    WaitForPeer {
        /// Topic of the message.
        pubsub_topic: PubsubTopic,
        /// Message, and how far it came.
        unsent: Unsent,
        /// Whether the message gets the time of its sending as its timestamp.
        restamp: bool,
        /// Answer once the message is in the queue.
        reply: AcceptReply,
    },
    /// Reports of one message or of all; fetched ones are forgotten.
    Reports {
        /// Message that is asked for; `None` for all.
        id: Option<SendId>,
        /// Whether the reports are forgotten afterwards.
        is_fetched: bool,
        /// Answer.
        reply: oneshot::Sender<Vec<SendReport>>,
    },
    /// Messages that have no end yet.
    Messages {
        /// Answer.
        reply: oneshot::Sender<Vec<WaitingMessage>>,
    },
    /// Number of messages that have no end yet.
    Waiting {
        /// Answer.
        reply: oneshot::Sender<usize>,
    },
}

/// The sender's end of its channel.
pub struct SenderEndpoint {
    /// Calls of the program.
    pub calls: mpsc::Receiver<SenderCall>,
    /// New reports, for those who follow them.
    pub news: broadcast::Sender<SendReport>,
    pub(crate) state: SendQueueWatch,
}

/// Program's end of the accountable sender; clones talk to the same one.
#[derive(Clone, Debug)]
pub struct SenderHandle {
    /// Share of the rate limit for answers to repair requests.
    pub(in crate::services) repairs: RepairShare,
    calls: mpsc::Sender<SenderCall>,
    news: broadcast::WeakSender<SendReport>,
    state: SendQueueWatch,
}

/// Creates both ends of the sender's channel.
pub fn sender_channel() -> (SenderHandle, SenderEndpoint) {
    let (calls, receiver) = mpsc::channel(CALLS_MAX);
    let (news, _) = broadcast::channel(NEWS_MAX);
    let state = SendQueueWatch::default();
    let handle = SenderHandle {
        repairs: RepairShare::default(),
        calls,
        news: news.downgrade(),
        state: state.clone(),
    };
    let endpoint = SenderEndpoint {
        calls: receiver,
        news,
        state,
    };
    (handle, endpoint)
}

/// News for a reader of [`SenderHandle::news`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendNews {
    /// Report of a message.
    Report(SendReport),
    /// Reports that came faster than they were read, and that this reader does not get any more.
    /// [`SenderHandle::reports`] has them.
    Missed {
        /// Number of the reports.
        reports: u64,
    },
}

/// Stream of the reports of all messages.
#[derive(Debug)]
pub struct SendNewsStream(Option<broadcast::Receiver<SendReport>>);

impl SendNewsStream {
    /// Waits for the next news; `None` when the node has stopped.
    pub async fn next(&mut self) -> Option<SendNews> {
        match self.0.as_mut()?.recv().await {
            Ok(report) => Some(SendNews::Report(report)),
            Err(broadcast::error::RecvError::Lagged(reports)) => Some(SendNews::Missed { reports }),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

impl SenderHandle {
    /// Returns a handle to a node that has stopped.
    #[must_use]
    pub fn of_stopped_node() -> Self {
        sender_channel().0
    }

    /// Accepts a message for sending. When this returns its number, the message is in the queue, on disk if the
    /// node has a data directory, and will have an end: see [`SendStep::is_end`](super::SendStep::is_end).
    ///
    /// Without `pubsub_topic`, the content topic's shard carries the message. Without a timestamp, the message gets one
    /// when it is sent, so that waiting does not age it. A proof that comes with the message is replaced.
    ///
    /// # Errors
    /// [`SendFailure`] if the message is not valid or the queue is full. A caller that gives up waiting does not know
    /// whether the message was accepted.
    pub async fn send(
        &self,
        pubsub_topic: Option<PubsubTopic>,
        message: WakuMessage,
    ) -> Result<SendId, SendFailure> {
        let asked = self.ask(|reply| SenderCall::Send {
            pubsub_topic,
            message,
            reply,
        });
        asked.await?
    }

    /// Whether a message of this length may wait for a peer.
    pub fn may_wait_for_peer(&self, size_bytes: usize) -> bool {
        size_bytes <= self.state.peer_wait_room()
    }

    /// Lets a message wait that no peer has; nobody is told what becomes of it. With `restamp`, the node chose the timestamp,
    /// and may choose another.
    ///
    /// # Errors
    /// [`PublishFailure::NoPeers`] if too many messages wait.
    pub async fn wait_for_peer(
        &self,
        pubsub_topic: PubsubTopic,
        unsent: Unsent,
        restamp: bool,
    ) -> Result<(), PublishFailure> {
        let asked = self.ask(|reply| SenderCall::WaitForPeer {
            pubsub_topic,
            unsent,
            restamp,
            reply,
        });
        match asked.await.flatten() {
            Ok(_) => Ok(()),
            Err(SendFailure::Queue(SendError::Duplicate(_))) => Err(PublishFailure::Duplicate),
            Err(SendFailure::Stopped(Stopped)) => Err(PublishFailure::Stopped(Stopped)),
            Err(_) => Err(PublishFailure::NoPeers),
        }
    }

    /// Returns the present state of the queue, without waiting for the sender.
    #[must_use]
    pub fn state(&self) -> SendQueueState {
        self.state.now()
    }

    /// Returns the stream of later reports.
    #[must_use]
    pub fn news(&self) -> SendNewsStream {
        SendNewsStream(self.news.upgrade().map(|news| news.subscribe()))
    }

    /// Returns the reports that nobody has fetched, of one message or of all, the oldest first.
    ///
    /// # Errors
    /// [`SendFailure::Stopped`] if the node has stopped.
    pub async fn reports(&self, id: Option<SendId>) -> Result<Vec<SendReport>, SendFailure> {
        let is_fetched = false;
        let asked = self.ask(|reply| SenderCall::Reports {
            id,
            is_fetched,
            reply,
        });
        asked.await
    }

    /// As [`Self::reports`], and forgets them.
    ///
    /// # Errors
    /// [`SendFailure::Stopped`] if the node has stopped.
    pub async fn fetch_reports(&self, id: Option<SendId>) -> Result<Vec<SendReport>, SendFailure> {
        let is_fetched = true;
        let asked = self.ask(|reply| SenderCall::Reports {
            id,
            is_fetched,
            reply,
        });
        asked.await
    }

    /// Returns the messages in the queue, the oldest first: those without an end.
    ///
    /// # Errors
    /// [`SendFailure::Stopped`] if the node has stopped.
    pub async fn messages(&self) -> Result<Vec<WaitingMessage>, SendFailure> {
        self.ask(|reply| SenderCall::Messages { reply }).await
    }

    /// Returns the number of messages in the queue: those without an end.
    ///
    /// # Errors
    /// [`SendFailure::Stopped`] if the node has stopped.
    pub async fn waiting(&self) -> Result<usize, SendFailure> {
        self.ask(|reply| SenderCall::Waiting { reply }).await
    }

    async fn ask<T>(
        &self,
        call: impl FnOnce(oneshot::Sender<T>) -> SenderCall,
    ) -> Result<T, SendFailure> {
        let (reply, answer) = oneshot::channel();
        let sent = self.calls.send(call(reply)).await;
        sent.map_err(|_| Stopped)?;
        answer.await.map_err(|_| SendFailure::Stopped(Stopped))
    }
}
