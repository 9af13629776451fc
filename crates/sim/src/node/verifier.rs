//! Model of the time that verifying proofs takes.

use undertone_relay::{Input, ProofTicket};
use undertone_rln::batch::{BatchPolicy, Batcher, Job, VerifyCosts};

use crate::node::Node;
use crate::node::event::{Event, Step};
use crate::scenario::{Rln, Verification};

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
    /// Creates a worker, if the scenario has one.
    pub(crate) fn new(rln: &Rln) -> Option<Self> {
        match rln.verification {
            Verification::Wait { .. } => None,
            Verification::Batches {
                single_ns,
                batch_base_ns,
                batch_per_proof_ns,
            } => {
                let costs = VerifyCosts {
                    single_ns,
                    batch_base_ns,
                    batch_per_proof_ns,
                };
                let mut waiting = Batcher::new(BatchPolicy::default(), costs);
                waiting.good_proof(EVERYBODY);
                Some(Self {
                    costs,
                    waiting,
                    busy: false,
                })
            }
        }
    }

    /// Starts the worker's next job if it is free; returns its proofs and how long it takes.
    fn next(&mut self, now_ns: u64) -> Option<(Vec<ProofTicket>, u64)> {
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

impl Node {
    pub(super) fn verify(&mut self, step: &mut Step<'_>, ticket: ProofTicket) {
        if let Some(verifier) = &mut self.verifier {
            verifier.waiting.push(ticket, EVERYBODY);
            self.work_verifier(step);
        } else if let Some(Rln {
            verification: Verification::Wait { ns },
            ..
        }) = step.world.scenario.rln
        {
            self.schedule_own(step, step.now_ns + ns, Event::Verified(ticket));
        }
    }

    fn work_verifier(&mut self, step: &mut Step<'_>) {
        let next = self.verifier.as_mut().and_then(|v| v.next(step.now_ns));
        if let Some((tickets, takes_ns)) = next {
            let at_ns = step.now_ns + takes_ns;
            self.schedule_own(step, at_ns, Event::VerifierDone(tickets));
        }
    }

    pub(super) fn verifier_done(&mut self, step: &mut Step<'_>, tickets: &[ProofTicket]) {
        if let Some(verifier) = &mut self.verifier {
            verifier.busy = false;
        }
        self.work_verifier(step);
        self.verified(step, tickets);
    }

    pub(super) fn verified(&mut self, step: &mut Step<'_>, tickets: &[ProofTicket]) {
        for ticket in tickets.iter().copied() {
            let valid = true;
            self.relay_input(step, Input::ProofVerified { ticket, valid });
        }
    }
}
