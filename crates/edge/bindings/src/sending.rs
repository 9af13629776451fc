//! Messages that the node answers for: each ends stored, propagated, or failed with a reason.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde::Serialize;
use undertone_node::services::{SendNews, SendNewsStream, SendReport, SendStep};

use crate::error::NodeError;
use crate::messages::hash_text;

/// Reports that wait at most; the oldest give way, and `send_reports` still has them.
const WAITING_MAX: usize = 4_096;

/// Step of a message on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, uniffi::Enum)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SendingStep {
    /// In the queue, on disk.
    Queued,
    /// Given to the relay or a lightpush peer, with its proof.
    Sent,
    /// Another node of the network has the message.
    Propagated,
    /// A store has the message whose word is enough, or two that are unrelated. An end.
    Stored,
    /// Propagated, and no store whose word is enough can tell more; the report has the reason. An end.
    PropagatedOnly,
    /// Given up for the reason of the report. An end.
    Failed,
}

/// Report of one step of a message that was given to `send`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, uniffi::Record)]
#[serde(rename_all = "camelCase")]
pub struct SendingReport {
    /// Number of the message, as `send` returned it.
    pub id: u64,
    /// Number of the report; they grow, also over restarts.
    pub number: u64,
    /// Step that the message has made.
    pub step: SendingStep,
    /// Whether no further step of the message follows.
    pub is_end: bool,
    /// Reason why the message failed, or why no store confirmed it.
    pub reason: Option<String>,
    /// Hash of the message; absent before it has a timestamp.
    pub hash: Option<String>,
    /// Time of the step by the node's clock, Unix time in nanoseconds.
    pub at_ns: u64,
}

impl From<SendStep> for SendingStep {
    fn from(step: SendStep) -> Self {
        match step {
            SendStep::Queued => Self::Queued,
            SendStep::Sent => Self::Sent,
            SendStep::Propagated => Self::Propagated,
            SendStep::Stored => Self::Stored,
            SendStep::PropagatedOnly(_) => Self::PropagatedOnly,
            _ => Self::Failed,
        }
    }
}

impl From<SendReport> for SendingReport {
    fn from(report: SendReport) -> Self {
        Self {
            id: report.id.0,
            number: report.number,
            step: report.step.into(),
            is_end: report.step.is_end(),
            reason: report.step.reason().map(str::to_owned),
            hash: report.hash.as_ref().map(hash_text),
            at_ns: report.at_ns,
        }
    }
}

/// Reports that wait for the program.
#[derive(Default)]
pub(crate) struct ReportInbox {
    state: Mutex<ReportState>,
    changed: Condvar,
}

#[derive(Default)]
struct ReportState {
    waiting: VecDeque<SendReport>,
    closed: bool,
}

impl ReportInbox {
    /// Takes reports until the node has stopped.
    pub(crate) async fn follow(self: Arc<Self>, mut news: SendNewsStream) {
        while let Some(news) = news.next().await {
            if let SendNews::Report(report) = news {
                self.add(report);
            }
        }
    }

    fn add(&self, report: SendReport) {
        let mut state = self.state.lock();
        if state.waiting.len() >= WAITING_MAX {
            state.waiting.pop_front();
        }
        state.waiting.push_back(report);
        drop(state);
        self.changed.notify_one();
    }

    /// Ends the queue: what waits can still be taken.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    /// Waits for a report; `None` if none came in time.
    ///
    /// # Errors
    /// [`NodeError::Stopped`] if the queue is closed and empty.
    pub(crate) fn take(&self, timeout: Duration) -> Result<Option<SendReport>, NodeError> {
        let deadline = Instant::now().checked_add(timeout);
        let mut state = self.state.lock();
        loop {
            if let Some(report) = state.waiting.pop_front() {
                return Ok(Some(report));
            }
            if state.closed {
                return Err(NodeError::Stopped);
            }
            match deadline {
                Some(deadline) if Instant::now() >= deadline => return Ok(None),
                Some(deadline) => {
                    self.changed.wait_until(&mut state, deadline);
                }
                None => self.changed.wait(&mut state),
            }
        }
    }
}
