//! The program's handle to the accountable sender.

use thiserror::Error;
use tokio::sync::{broadcast, mpsc, oneshot};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_network::handle::Stopped;
use undertone_services::sending::{SendError, SendId};

use super::repair_share::RepairShare;
use super::report::{SendReport, WaitingMessage};
use super::state::{SendQueueState, SendQueueWatch};
use undertone_network::command::{PublishFailure, Unsent};

/// Maximum number of calls waiting for the sender; further callers wait.
const CALLS_MAX: usize = 256;

/// Number of reports that a slow reader may fall behind before it misses some.
const NEWS_MAX: usize = 1_024;

/// Reason why a message was not accepted for sending.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SendFailure {
    /// The queue is full, or already contains the message.
    #[error(transparent)]
    Queue(#[from] SendError),
    /// Other nodes would refuse the message.
    #[error(transparent)]
    Message(#[from] PublishFailure),
    /// The topic of the message is missing and cannot be derived, or does not belong to the network.
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

/// Channel for the answer to a caller, sent once its message is in the queue.
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
    /// Queues a message that no peer has received, to wait for a peer.
    WaitForPeer {
        /// Topic of the message.
        pubsub_topic: PubsubTopic,
        /// Message, and how far it has got.
        unsent: Unsent,
        /// Whether the message gets the time of sending as its timestamp.
        restamp: bool,
        /// Answer once the message is in the queue.
        reply: AcceptReply,
    },
    /// Asks for the reports of one message or of all.
    Reports {
        /// Message of interest; `None` for all.
        id: Option<SendId>,
        /// Whether the reports are dropped afterwards.
        is_fetched: bool,
        /// Answer.
        reply: oneshot::Sender<Vec<SendReport>>,
    },
    /// Asks for the messages that are not in a final state.
    Messages {
        /// Answer.
        reply: oneshot::Sender<Vec<WaitingMessage>>,
    },
    /// Asks for the number of messages that are not in a final state.
    Waiting {
        /// Answer.
        reply: oneshot::Sender<usize>,
    },
}

/// The sender's end of its channel.
pub struct SenderEndpoint {
    /// Calls of the program.
    pub calls: mpsc::Receiver<SenderCall>,
    /// New reports, for readers that follow them.
    pub news: broadcast::Sender<SendReport>,
    pub(crate) state: SendQueueWatch,
}

/// The program's handle to the accountable sender; clones talk to the same one.
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
    /// Reports that came faster than they were read; this reader does not get them. [`SenderHandle::reports`] has them.
    Missed {
        /// Number of missed reports.
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
    /// Returns a handle that behaves as if its node had stopped.
    #[must_use]
    pub fn of_stopped_node() -> Self {
        sender_channel().0
    }

    /// Accepts a message for sending. When this method returns the message's number, the message is in the queue, on
    /// disk if the node has a data directory. It will reach a final state: see
    /// [`SendStep::is_end`](super::SendStep::is_end).
    ///
    /// Without `pubsub_topic`, the content topic's shard carries the message. Without a timestamp, the message gets one
    /// when it is sent, so that waiting does not age it. A proof that comes with the message is replaced.
    ///
    /// # Errors
    /// [`SendFailure`] if the message is invalid or the queue is full. A caller that stops waiting does not learn
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

    /// Queues a message that no peer has received, to wait for a peer; its outcome is not reported. With `restamp`, the
    /// node chose the timestamp and may choose a new one.
    ///
    /// # Errors
    /// [`PublishFailure::NoPeers`] if the message cannot be queued, for example because too many are waiting;
    /// [`PublishFailure::Duplicate`] if it is queued already; [`PublishFailure::Stopped`] if the node has stopped.
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

    /// Returns the current state of the queue, without waiting for the sender.
    #[must_use]
    pub fn state(&self) -> SendQueueState {
        self.state.now()
    }

    /// Returns the stream of later reports.
    #[must_use]
    pub fn news(&self) -> SendNewsStream {
        SendNewsStream(self.news.upgrade().map(|news| news.subscribe()))
    }

    /// Returns the reports not yet fetched, of one message or of all, oldest first.
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

    /// Like [`Self::reports`], but drops the returned reports.
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

    /// Returns the messages in the queue that are not in a final state, oldest first.
    ///
    /// # Errors
    /// [`SendFailure::Stopped`] if the node has stopped.
    pub async fn messages(&self) -> Result<Vec<WaitingMessage>, SendFailure> {
        self.ask(|reply| SenderCall::Messages { reply }).await
    }

    /// Returns the number of messages in the queue that are not in a final state.
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
