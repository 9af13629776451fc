//! Proofs that a node verifies, and the time that it takes.

use undertone_relay::{Input, ProofTicket};

use crate::node::Node;
use crate::node::event::{Event, Step};
use crate::scenario::{Rln, Verification};

impl Node {
    pub(super) fn verify(&mut self, step: &mut Step<'_>, ticket: ProofTicket) {
        if let Some(verifier) = &mut self.verifier {
            verifier.push(ticket);
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
            verifier.job_done();
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
