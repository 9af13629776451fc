//! Proofs that a node verifies, and the time this takes.

use undertone_relay::{Input, ProofTicket};
use undertone_rln::batch::VerifyCosts;

use crate::node::Node;
use crate::node::event::{Event, Step};
use crate::node::verifier::VerifierModel;
use crate::scenario::Verification;

impl Node {
    pub(super) fn verify(&mut self, step: &mut Step<'_>, ticket: ProofTicket) {
        let Some(rln) = &step.world.scenario.rln else {
            return;
        };
        match rln.verification {
            Verification::Wait { ns } => {
                self.schedule_own(step, step.now_ns + ns, Event::Verified(ticket));
            }
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
                let verifier = self
                    .verifier
                    .get_or_insert_with(|| Box::new(VerifierModel::new(costs)));
                verifier.push(ticket);
                self.work_verifier(step);
            }
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
            verifier.job_done();
        }
        self.work_verifier(step);
        if self.verifier.as_ref().is_some_and(|v| v.is_idle()) {
            self.verifier = None;
        }
        self.verified(step, tickets);
    }

    pub(super) fn verified(&mut self, step: &mut Step<'_>, tickets: &[ProofTicket]) {
        for ticket in tickets.iter().copied() {
            let valid = true;
            self.relay_input(step, Input::ProofVerified { ticket, valid });
        }
    }
}
