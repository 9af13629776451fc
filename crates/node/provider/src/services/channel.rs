//! Reliable channels (SDS) on top of accountable sending. The members of a channel deliver each other's messages in
//! causal order, learn which of their own have arrived, and repair missing ones.

mod driver;
mod events;
mod options;

use tokio::sync::{mpsc, oneshot};
use undertone_network::handle::Stopped;
use undertone_sds::Id;

pub use events::{ChannelEvent, ChannelFailure};
pub use options::ChannelOptions;

use super::handle::ServicesHandle;
use undertone_network::handle::NodeHandle;

/// Maximum number of calls waiting for a channel; further callers wait.
const CALLS_MAX: usize = 64;

/// Maximum number of events waiting for the program. Then the channel waits, and messages missed meanwhile are repaired
/// later.
const EVENTS_MAX: usize = 1_024;

/// Request of the program to a channel.
#[derive(Debug)]
struct ChannelSend {
    payload: Vec<u8>,
    is_ephemeral: bool,
    reply: oneshot::Sender<Result<Id, ChannelFailure>>,
}

/// Sending half of a [`ReliableChannel`]; clones send on the same channel.
#[derive(Clone, Debug)]
pub struct ChannelSender(mpsc::Sender<ChannelSend>);

impl ChannelSender {
    /// Sends a message, and repeats it until a member acknowledges it. Returns its id in the channel.
    ///
    /// # Errors
    /// [`ChannelFailure`] if the message cannot be sent.
    pub async fn send(&self, payload: impl Into<Vec<u8>>) -> Result<Id, ChannelFailure> {
        self.ask(payload.into(), false).await
    }

    /// Sends a message that is not ordered, acknowledged or repeated. Returns its id in the channel.
    ///
    /// # Errors
    /// [`ChannelFailure`] if the message cannot be sent.
    pub async fn send_ephemeral(&self, payload: impl Into<Vec<u8>>) -> Result<Id, ChannelFailure> {
        self.ask(payload.into(), true).await
    }

    async fn ask(&self, payload: Vec<u8>, is_ephemeral: bool) -> Result<Id, ChannelFailure> {
        let (reply, answer) = oneshot::channel();
        let call = ChannelSend {
            payload,
            is_ephemeral,
            reply,
        };
        let sent = self.0.send(call).await;
        sent.map_err(|_| Stopped)?;
        answer.await.map_err(|_| Stopped)?
    }
}

/// Member of a channel whose members send reliably to each other. It leaves when this value and all its senders are
/// dropped.
///
/// The node must receive the messages of the channel's content topic: by relay, subscribed to the pubsub topic, or by a
/// subscription at a filter peer.
#[derive(Debug)]
pub struct ReliableChannel {
    sender: ChannelSender,
    events: mpsc::Receiver<ChannelEvent>,
}

impl ReliableChannel {
    /// Joins a channel. A saved state continues where the last run left it.
    ///
    /// # Errors
    /// [`ChannelFailure`] if the saved state cannot be used.
    pub async fn join(
        node: &NodeHandle,
        services: &ServicesHandle,
        options: ChannelOptions,
    ) -> Result<Self, ChannelFailure> {
        let (calls_in, calls) = mpsc::channel(CALLS_MAX);
        let (events_in, events) = mpsc::channel(EVENTS_MAX);
        let driver =
            driver::ChannelDriver::open(options, node.clone(), services.clone(), events_in)?;
        let received = driver::received(&driver);
        node.add_sink(received.sink.clone());
        services.add_sink(received.sink);
        tokio::spawn(driver.run(calls, received.queue));
        Ok(Self {
            sender: ChannelSender(calls_in),
            events,
        })
    }

    /// Returns a sending half for use by other tasks.
    #[must_use]
    pub fn sender(&self) -> ChannelSender {
        self.sender.clone()
    }

    /// Sends a message, as [`ChannelSender::send`].
    ///
    /// # Errors
    /// [`ChannelFailure`] if the message cannot be sent.
    pub async fn send(&self, payload: impl Into<Vec<u8>>) -> Result<Id, ChannelFailure> {
        self.sender.send(payload).await
    }

    /// Waits for the next event; `None` when the node has stopped.
    pub async fn next(&mut self) -> Option<ChannelEvent> {
        self.events.recv().await
    }
}
