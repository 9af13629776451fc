//! Changes to the send queue that are written together.

use std::collections::BTreeSet;

use undertone_services::sending::{Output, SendId};

use super::handle::AcceptReply;
use super::queue::QueueWrite;
use super::report::SendReport;

/// Changes that are written together, and the actions that follow once they are on disk.
#[derive(Default)]
pub(super) struct SenderStep {
    pub(super) writes: Vec<QueueWrite>,
    /// Callers whose messages this write accepts.
    pub(super) accepted: Vec<(AcceptReply, SendId)>,
    pub(super) reports: Vec<SendReport>,
    pub(super) begun: Vec<Output>,
}

impl SenderStep {
    /// Removes a message that could not be stored, given the numbers of all its fragments; returns its reports. Its
    /// last number is still to be written, which shows when the disk accepts writes again.
    pub(super) fn withdraw(&mut self, ids: &BTreeSet<SendId>) -> Vec<SendReport> {
        self.writes.retain(|write| match write {
            QueueWrite::Put(id, _) | QueueWrite::Erase(id) => !ids.contains(id),
            QueueWrite::Note(report) => !ids.contains(&report.id),
            QueueWrite::Skip(_) | QueueWrite::Forget(_) => true,
        });
        self.writes
            .extend(ids.last().copied().map(QueueWrite::Skip));
        let is_other = |id: SendId| !ids.contains(&id);
        self.begun
            .retain(|output| output.message_id().is_none_or(is_other));
        self.reports
            .extract_if(.., |report| ids.contains(&report.id))
            .collect()
    }
}
