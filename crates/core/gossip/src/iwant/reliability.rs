//! Reliability of peers by their answers to IWANT.

/// Reliability of a peer by its answers to earlier requests; the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reliability {
    /// The peer has answered a request, and no later one is overdue.
    Trusted,
    /// The peer has answered no request yet, and none is overdue.
    Untried,
    /// A request is overdue, and the peer has answered none since.
    Dubious,
}

/// Record of a peer's answers to requests for messages it announced.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AnswerRecord {
    /// Whether the peer ever answered a request.
    has_answered: bool,
    /// Number of requests that became overdue since the last answer.
    overdue_in_a_row: u32,
}

impl AnswerRecord {
    /// Counts an answer.
    pub(crate) fn on_answer(&mut self) {
        self.has_answered = true;
        self.overdue_in_a_row = 0;
    }

    /// Counts requests that became overdue.
    pub(crate) fn on_overdue(&mut self, count: u32) {
        self.overdue_in_a_row = self.overdue_in_a_row.saturating_add(count);
    }

    /// Number of requests that became overdue since the last answer.
    pub(crate) fn overdue_in_a_row(self) -> u32 {
        self.overdue_in_a_row
    }

    /// Returns the peer's reliability by this record.
    pub(crate) fn reliability(self) -> Reliability {
        match (self.overdue_in_a_row, self.has_answered) {
            (0, true) => Reliability::Trusted,
            (0, false) => Reliability::Untried,
            _ => Reliability::Dubious,
        }
    }
}
