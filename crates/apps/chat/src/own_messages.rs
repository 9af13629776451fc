//! Own messages and their delivery states.

use std::collections::{BTreeMap, VecDeque};

use undertone_message::MessageHash;
use undertone_node::services::{SendId, SendReport, SendStep};

#[cfg(test)]
#[path = "tests/own_messages.rs"]
mod tests;

/// Own messages whose state is tracked; the oldest are forgotten. A node's queue holds as many.
const KNOWN_MAX: usize = 1_000;

/// Maximum number of messages with reports that arrive before the message's id in the queue is known.
const EARLY_MAX: usize = 256;

/// State of an own message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OwnState {
    /// The message is being put into the queue.
    Sending,
    /// The message is in the queue, on disk. It will be sent, if necessary after a restart.
    Queued,
    /// The message was passed to a peer, with its proof.
    Sent {
        /// Hash of the message; `None` for a fragmented one.
        hash: Option<MessageHash>,
    },
    /// Another node has it.
    Propagated {
        /// Hash of the message; `None` for a fragmented one.
        hash: Option<MessageHash>,
        /// Final reason why the state cannot be confirmed; `None` if it may still change.
        unconfirmed: Option<&'static str>,
    },
    /// A store keeps it.
    Stored {
        /// Hash of the message; `None` for a fragmented one.
        hash: Option<MessageHash>,
    },
    /// The message was not sent, or is lost.
    Failed {
        /// Reason, in plain words.
        reason: String,
    },
}

impl OwnState {
    /// Returns the state for a step that the sender reports.
    pub(crate) fn at(step: SendStep, hash: Option<MessageHash>) -> Self {
        match step {
            SendStep::Queued => Self::Queued,
            SendStep::Sent => Self::Sent { hash },
            SendStep::Propagated | SendStep::PropagatedOnly(_) => Self::Propagated {
                hash,
                unconfirmed: step.reason(),
            },
            SendStep::Stored => Self::Stored { hash },
            SendStep::Failed(_) => Self::Failed {
                reason: step.reason().unwrap_or_default().to_owned(),
            },
        }
    }

    /// Whether nobody else has the message yet, but somebody may get it.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Sending | Self::Queued | Self::Sent { .. })
    }

    /// Whether the user should look at it.
    pub(crate) fn is_warning(&self) -> bool {
        matches!(self, Self::Failed { .. })
    }

    /// Name of the state in JSON.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Sending => "sending",
            Self::Queued => "queued",
            Self::Sent { .. } => "sent",
            Self::Propagated { .. } => "propagated",
            Self::Stored { .. } => "stored",
            Self::Failed { .. } => "failed",
        }
    }

    /// Hash by which others know the message, if they do.
    pub(crate) fn hash(&self) -> Option<MessageHash> {
        match self {
            Self::Sent { hash } | Self::Propagated { hash, .. } | Self::Stored { hash } => *hash,
            Self::Sending | Self::Queued | Self::Failed { .. } => None,
        }
    }

    /// Returns the reason of a failure, or why no store confirmed the message.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed { reason } => Some(reason),
            Self::Propagated { unconfirmed, .. } => *unconfirmed,
            Self::Sending | Self::Queued | Self::Sent { .. } | Self::Stored { .. } => None,
        }
    }

    /// Returns the state in plain words.
    pub(crate) fn words(&self) -> String {
        match self.reason() {
            Some(reason) => format!("{}: {reason}", self.name()),
            None => self.name().to_owned(),
        }
    }
}

#[derive(Debug)]
struct OwnMessage {
    number: u64,
    /// Id of the message in the node's queue, once it has one.
    id: Option<SendId>,
    state: OwnState,
}

/// The own messages of this chat, numbered from 1.
#[derive(Debug, Default)]
pub(crate) struct OwnMessages {
    messages: VecDeque<OwnMessage>,
    last: u64,
    /// States of messages whose id in the queue is not known here yet.
    early: BTreeMap<SendId, OwnState>,
}

impl OwnMessages {
    /// Adds a new message and returns its number.
    pub(crate) fn begin(&mut self) -> u64 {
        self.add(None, OwnState::Sending)
    }

    /// Adds a message of the previous run and returns its number in this one.
    pub(crate) fn resume(&mut self, id: SendId, state: OwnState) -> u64 {
        self.add(Some(id), state)
    }

    fn add(&mut self, id: Option<SendId>, state: OwnState) -> u64 {
        self.last += 1;
        if self.messages.len() == KNOWN_MAX {
            self.messages.pop_front();
        }
        let number = self.last;
        self.messages.push_back(OwnMessage { number, id, state });
        number
    }

    /// Returns the number of messages that nobody else has yet.
    pub(crate) fn open(&self) -> usize {
        let open = self.messages.iter().filter(|own| own.state.is_open());
        open.count()
    }

    /// Returns the numbers of the messages that nobody else has yet.
    pub(crate) fn open_numbers(&self) -> Vec<u64> {
        let open = self.messages.iter().filter(|own| own.state.is_open());
        open.map(|own| own.number).collect()
    }

    /// Returns the queue ids of the messages whose state may still change.
    pub(crate) fn followed(&self) -> Vec<SendId> {
        let is_followed = |own: &&OwnMessage| own.state.is_open() || own.state.is_propagating();
        let followed = self.messages.iter().filter(is_followed);
        followed.filter_map(|own| own.id).collect()
    }

    /// Records the node's answer to a message: its id in the queue, or why it was not queued. Returns the new state.
    pub(crate) fn answered(
        &mut self,
        number: u64,
        answer: Result<SendId, String>,
    ) -> Option<OwnState> {
        let own = self.messages.iter_mut().find(|own| own.number == number)?;
        let state = match answer {
            Ok(id) => {
                own.id = Some(id);
                self.early.remove(&id).unwrap_or(OwnState::Queued)
            }
            Err(reason) => OwnState::Failed { reason },
        };
        own.change(state)
    }

    /// Records a report; returns the message's number and state if the state is new.
    pub(crate) fn reported(&mut self, report: &SendReport) -> Option<(u64, OwnState)> {
        let state = OwnState::at(report.step, report.hash);
        let is_it = |own: &&mut OwnMessage| own.id == Some(report.id);
        let Some(own) = self.messages.iter_mut().find(is_it) else {
            self.early.insert(report.id, state);
            if self.early.len() > EARLY_MAX {
                self.early.pop_first();
            }
            return None;
        };
        let number = own.number;
        Some((number, own.change(state)?))
    }
}

impl OwnState {
    /// Whether others have the message and a store may still confirm it.
    fn is_propagating(&self) -> bool {
        matches!(
            self,
            Self::Propagated {
                unconfirmed: None,
                ..
            }
        )
    }
}

impl OwnMessage {
    fn change(&mut self, state: OwnState) -> Option<OwnState> {
        if self.state == state {
            return None;
        }
        self.state = state.clone();
        Some(state)
    }
}
