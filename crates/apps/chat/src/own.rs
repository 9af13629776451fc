//! Own messages and what has become of them.

use std::collections::{BTreeMap, VecDeque};

use undertone_message::MessageHash;
use undertone_node::services::{SendId, SendReport, SendStep};

#[cfg(test)]
#[path = "tests/own.rs"]
mod tests;

/// Own messages whose state is followed; the oldest are forgotten. The queue of a node has as many.
const KNOWN_MAX: usize = 1_000;

/// Messages at most of which something was reported before their number was told.
const EARLY_MAX: usize = 256;

/// State of an own message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OwnState {
    /// The message is on its way into the queue.
    Sending,
    /// The message is in the queue, on disk: it is sent, if need be after the next start.
    Queued,
    /// The message was given to a peer, with its proof.
    Sent {
        /// Hash by which others know the message; `None` for one in fragments.
        hash: Option<MessageHash>,
    },
    /// Another node has it.
    Propagated {
        /// Hash by which others know the message; `None` for one in fragments.
        hash: Option<MessageHash>,
        /// Reason why no more is to be known, at the end.
        unconfirmed: Option<&'static str>,
    },
    /// A store keeps it.
    Stored {
        /// Hash by which the store knows it; `None` for one in fragments.
        hash: Option<MessageHash>,
    },
    /// The message was not sent, or is lost.
    Failed {
        /// Reason, in plain words.
        reason: String,
    },
}

impl OwnState {
    /// The state at a step of the message.
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

    /// Whether nobody else has the message yet and somebody may.
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

    /// Reason of a failure, or why no store confirmed the message.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed { reason } => Some(reason),
            Self::Propagated { unconfirmed, .. } => *unconfirmed,
            Self::Sending | Self::Queued | Self::Sent { .. } | Self::Stored { .. } => None,
        }
    }

    /// The state in plain words.
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
    /// Number of the message in the node's queue, once it has one.
    id: Option<SendId>,
    state: OwnState,
}

/// The own messages of this chat, numbered from 1.
#[derive(Debug, Default)]
pub(crate) struct OwnMessages {
    messages: VecDeque<OwnMessage>,
    last: u64,
    /// States of messages whose number in the queue is still on its way here.
    early: BTreeMap<SendId, OwnState>,
}

impl OwnMessages {
    /// Begins a message and returns its number.
    pub(crate) fn begin(&mut self) -> u64 {
        self.add(None, OwnState::Sending)
    }

    /// Goes on with a message of the run before, and returns its number here.
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

    /// Number of messages that nobody else has yet.
    pub(crate) fn open(&self) -> usize {
        let open = self.messages.iter().filter(|own| own.state.is_open());
        open.count()
    }

    /// Numbers of the messages that nobody else has yet.
    pub(crate) fn open_numbers(&self) -> Vec<u64> {
        let open = self.messages.iter().filter(|own| own.state.is_open());
        open.map(|own| own.number).collect()
    }

    /// Numbers in the queue of the messages whose state may change.
    pub(crate) fn followed(&self) -> Vec<SendId> {
        let is_followed = |own: &&OwnMessage| own.state.is_open() || own.state.is_propagating();
        let followed = self.messages.iter().filter(is_followed);
        followed.filter_map(|own| own.id).collect()
    }

    /// Takes the node's answer to a message: its number in the queue, or why it is not there. Returns the new state.
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

    /// Takes a report; returns the message and its state if that is new.
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
