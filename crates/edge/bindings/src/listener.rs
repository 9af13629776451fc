//! Objects of other languages that are called with each message.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use thiserror::Error;

use crate::inbox::MessageInbox;
use crate::messages::IncomingMessage;

/// Object of the program that is called with each message.
#[uniffi::export(rust, foreign)]
pub trait MessageListener: Send + Sync {
    /// Takes a message. The calls come from a thread of the node, one after the other.
    ///
    /// # Errors
    /// A failure is logged, and the next message is delivered all the same.
    fn on_message(&self, message: IncomingMessage) -> Result<(), ListenerError>;
}

/// Failure of a listener.
#[derive(Debug, Clone, PartialEq, Eq, Error, uniffi::Error)]
#[non_exhaustive]
pub enum ListenerError {
    /// The listener did not do its work.
    #[error("{reason}")]
    Failed {
        /// Reason that the listener gave, or its exception.
        reason: String,
    },
}

impl From<uniffi::UnexpectedUniFFICallbackError> for ListenerError {
    fn from(error: uniffi::UnexpectedUniFFICallbackError) -> Self {
        Self::Failed {
            reason: error.reason,
        }
    }
}

/// Starts the thread that calls a listener until the inbox is closed and empty.
pub(crate) fn start(
    inbox: Arc<MessageInbox>,
    listener: Arc<dyn MessageListener>,
) -> std::io::Result<JoinHandle<()>> {
    let run = move || {
        // Only a closed inbox ends the loop: the timeout is none.
        while let Ok(delivery) = inbox.take(Duration::MAX) {
            let Some(delivery) = delivery else { continue };
            if let Err(error) = listener.on_message((&delivery).into()) {
                tracing::warn!(%error, "the program's listener failed for a message");
            }
        }
    };
    thread::Builder::new().name("listener".into()).spawn(run)
}
