//! Reports on the progress of messages, including those not yet fetched.

use std::collections::VecDeque;

use undertone_message::{MessageHash, PubsubTopic, WakuMessage};
use undertone_services::sending::{
    self, FailReason, SendEvent, SendEventKind, SendId, Unconfirmed,
};

#[cfg(test)]
#[path = "tests/report.rs"]
mod tests;

/// Maximum number of unfetched reports; the oldest are dropped.
const KEPT_MAX: usize = 40_000;

/// Step in the progress of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendStep {
    /// The message is in the queue, on disk if the node has a data directory.
    Queued,
    /// The message and its proof have been passed to the relay or to a lightpush peer.
    Sent,
    /// Another node of the network has the message.
    Propagated,
    /// A trusted store has the message, or two unrelated ones do. Final.
    Stored,
    /// The message is propagated, but no store can confirm more. Final.
    PropagatedOnly(Unconfirmed),
    /// The message failed. Final.
    Failed(FailReason),
}

/// All steps; the position in this list is the number stored on disk.
const STEPS: [SendStep; 13] = [
    SendStep::Queued,
    SendStep::Sent,
    SendStep::Propagated,
    SendStep::Stored,
    SendStep::PropagatedOnly(Unconfirmed::Ephemeral),
    SendStep::PropagatedOnly(Unconfirmed::NoStore),
    SendStep::PropagatedOnly(Unconfirmed::StoresSilent),
    SendStep::Failed(FailReason::Deadline),
    SendStep::Failed(FailReason::NotStored),
    SendStep::Failed(FailReason::TooOld),
    SendStep::Failed(FailReason::Refused),
    SendStep::Failed(FailReason::NotMember),
    SendStep::PropagatedOnly(Unconfirmed::OneStore),
];

impl SendStep {
    /// Whether this step is final.
    #[must_use]
    pub fn is_end(self) -> bool {
        match self {
            Self::Queued | Self::Sent | Self::Propagated => false,
            Self::Stored | Self::PropagatedOnly(_) | Self::Failed(_) => true,
        }
    }

    /// Returns the reason in plain words why the message failed, or why no store confirmed it.
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Queued | Self::Sent | Self::Propagated | Self::Stored => None,
            Self::PropagatedOnly(reason) => Some(match reason {
                Unconfirmed::Ephemeral => "not confirmed by a store: the message is ephemeral",
                Unconfirmed::NoStore => "not confirmed by a store: none is known",
                Unconfirmed::StoresSilent => "not confirmed by a store: none answered",
                Unconfirmed::OneStore => {
                    "not confirmed by a second store: the one that has the message, or says so, is neither named in the configuration (storenode) nor known to have it from others"
                }
            }),
            Self::Failed(reason) => Some(match reason {
                FailReason::Deadline => "no peer took the message within 24 hours",
                FailReason::NotStored => "peers took the message, but stores do not have it",
                FailReason::TooOld => {
                    "the message is older than the network accepts, and it is not known whether a peer took it"
                }
                FailReason::Refused => "the message was refused as invalid or too large",
                FailReason::NotMember => {
                    "this node has no membership; register one with `undertone rln register`"
                }
                _ => "the message was given up",
            }),
        }
    }

    /// Returns the number under which the step is stored.
    pub(super) fn number(self) -> u8 {
        let place = STEPS.iter().position(|step| *step == self);
        // All steps of this version are in the list, which a test checks.
        place
            .and_then(|place| u8::try_from(place).ok())
            .unwrap_or(u8::MAX)
    }

    pub(super) fn from_number(number: u8) -> Option<Self> {
        STEPS.get(usize::from(number)).copied()
    }
}

impl From<SendEventKind> for SendStep {
    fn from(kind: SendEventKind) -> Self {
        match kind {
            SendEventKind::Queued => Self::Queued,
            SendEventKind::Sent => Self::Sent,
            SendEventKind::Propagated => Self::Propagated,
            SendEventKind::Stored => Self::Stored,
            SendEventKind::PropagatedOnly(reason) => Self::PropagatedOnly(reason),
            SendEventKind::Failed(reason) => Self::Failed(reason),
        }
    }
}

/// Report of one step of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendReport {
    /// Number of the report. Reports are numbered in their order, across restarts.
    pub number: u64,
    /// Number of the message, as [`SenderHandle::send`](super::SenderHandle::send) returned it.
    pub id: SendId,
    /// Step that the message has reached.
    pub step: SendStep,
    /// Hash of the message; `None` before it has a timestamp, and for a fragmented message, whose fragments have their
    /// own hashes.
    pub hash: Option<MessageHash>,
    /// Time of the step by the node's clock, Unix nanoseconds.
    pub at_ns: u64,
}

/// A message in the queue, not yet in a final state.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingMessage {
    /// Number of the message.
    pub id: SendId,
    /// Topic to publish on.
    pub pubsub_topic: PubsubTopic,
    /// The message, or its first fragment that is not in a final state.
    pub message: WakuMessage,
    /// Whether the message is sent in fragments.
    pub is_in_fragments: bool,
    /// Last step that the message has reached.
    pub step: SendStep,
    /// Hash of the message; `None` before it has a timestamp, and for a fragmented message.
    pub hash: Option<MessageHash>,
}

impl WaitingMessage {
    /// Converts a message of the machine's queue; `None` if its topic is invalid, which the sender does not accept.
    pub(super) fn of(waiting: sending::WaitingMessage) -> Option<Self> {
        Some(Self {
            id: waiting.id,
            pubsub_topic: PubsubTopic::parse_any(&waiting.pubsub_topic).ok()?,
            message: waiting.message,
            is_in_fragments: waiting.is_in_fragments,
            step: waiting.step.into(),
            hash: waiting.hash,
        })
    }
}

/// Reports not yet fetched, oldest first.
#[derive(Debug, Default)]
pub(super) struct SendReports {
    kept: VecDeque<SendReport>,
    last: u64,
}

impl SendReports {
    pub(super) fn restored(kept: Vec<SendReport>) -> Self {
        Self {
            last: kept.last().map_or(0, |report| report.number),
            kept: kept.into(),
        }
    }

    /// Adds the report of an event; returns it and the numbers of dropped reports.
    pub(super) fn note(&mut self, event: &SendEvent, at_ns: u64) -> (SendReport, Vec<u64>) {
        // A timestamp exceeds the numbers of all earlier runs, even of those whose reports are gone.
        self.last = at_ns.max(self.last + 1);
        let report = SendReport {
            number: self.last,
            id: event.id,
            step: event.kind.into(),
            hash: event.hash,
            at_ns,
        };
        self.kept.push_back(report);
        let surplus = self.kept.len().saturating_sub(KEPT_MAX);
        let old = self.kept.drain(..surplus).map(|old| old.number);
        (report, old.collect())
    }

    /// Returns the reports of one message or of all.
    pub(super) fn of(&self, id: Option<SendId>) -> Vec<SendReport> {
        let is_of = |report: &&SendReport| id.is_none_or(|id| id == report.id);
        self.kept.iter().filter(is_of).copied().collect()
    }

    /// Drops fetched reports; returns their numbers.
    pub(super) fn forget(&mut self, fetched: &[SendReport]) -> Vec<u64> {
        let numbers: Vec<u64> = fetched.iter().map(|report| report.number).collect();
        self.kept
            .retain(|report| numbers.binary_search(&report.number).is_err());
        numbers
    }
}
