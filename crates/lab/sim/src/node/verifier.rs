//! Model of the time that verifying proofs takes.

use undertone_relay::ProofTicket;
use undertone_rln::batch::{BatchPolicy, Batcher, Job, VerifyCosts};

/// Peer to which all proofs are attributed. Every proof here is valid, so the sender does not matter.
const EVERYBODY: u32 = 0;

/// One worker that verifies waiting proofs by the policy of real nodes.
#[derive(Debug)]
pub(crate) struct VerifierModel {
    costs: VerifyCosts,
    waiting: Batcher<ProofTicket, u32>,
    busy: bool,
}

impl VerifierModel {
    /// Creates an idle worker.
    pub(super) fn new(costs: VerifyCosts) -> Self {
        let mut waiting = Batcher::new(BatchPolicy::default(), costs);
        waiting.good_proof(EVERYBODY);
        Self {
            costs,
            waiting,
            busy: false,
        }
    }

    /// Whether the worker is free and no proof waits. It then equals a new one: with one sender for all proofs, nothing
    /// that it remembers affects the order.
    pub(super) fn is_idle(&self) -> bool {
        !self.busy && self.waiting.waiting() == 0
    }

    /// Adds a proof to the waiting ones.
    pub(super) fn push(&mut self, ticket: ProofTicket) {
        self.waiting.push(ticket, EVERYBODY);
    }

    /// Ends the worker's current job.
    pub(super) fn job_done(&mut self) {
        self.busy = false;
    }

    /// Starts the worker's next job if it is free; returns its proofs and how long it takes.
    pub(super) fn next(&mut self, now_ns: u64) -> Option<(Vec<ProofTicket>, u64)> {
        if self.busy {
            return None;
        }
        let (tickets, takes_ns) = match self.waiting.next_job(now_ns)? {
            Job::Single(ticket) => (vec![ticket], self.costs.single_ns),
            Job::Batch(tickets) => {
                let takes_ns = self.costs.batch_ns(tickets.len());
                (tickets, takes_ns)
            }
        };
        self.busy = true;
        Some((tickets, takes_ns))
    }
}
