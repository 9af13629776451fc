//! Rate-limit proofs of past messages, as far as this node can verify them.

use parking_lot::Mutex;
use undertone_rln::check::check;
use undertone_rln::prover::os_rng;
use undertone_rln::{
    Fr, Policy, ProofStatement, RateLimitProof, RootWindow, Verifier, fr_from_le, signal_hash,
};
use undertone_services::history::StoredMessage;

use undertone_network::driver::SharedView;

/// Maximum number of remembered roots; the newest are kept.
const ROOTS_MAX: usize = 1_024;

/// Verdict on the proof of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::services) enum ProofVerdict {
    /// The proof is valid, and its root was one of the membership's.
    Valid,
    /// The message has no proof.
    Missing,
    /// The proof is valid for a root that this node has not seen.
    UnknownRoot,
    /// The proof is invalid; no honest publisher makes such a proof.
    Invalid,
}

/// Verifier of the proofs of past messages.
///
/// It checks everything that a relay checks, except the age of the message and whether the member exceeded its limit in
/// that epoch: nullifiers of past epochs are not kept.
pub struct PastProofs {
    verifier: Verifier,
    policy: Policy,
    view: SharedView,
    /// Roots that this node has seen, including those that the relay no longer accepts.
    seen: Mutex<RootWindow>,
}

impl PastProofs {
    /// Creates a verifier for a network's policy and the membership that `view` follows.
    pub fn new(verifier: Verifier, policy: Policy, view: SharedView) -> Self {
        let policy = Policy {
            max_clock_gap_ns: u64::MAX,
            ..policy
        };
        Self {
            verifier,
            policy,
            view,
            seen: Mutex::new(RootWindow::new(ROOTS_MAX)),
        }
    }

    /// Remembers the currently accepted roots. To be called from time to time, because the membership drops old ones.
    pub(in crate::services) fn remember_roots(&self) {
        let accepted = self.view.lock().roots().clone();
        let mut seen = self.seen.lock();
        for root in accepted.iter() {
            if !seen.contains(root) {
                seen.push(*root);
            }
        }
    }

    /// Judges messages and returns the verdicts in their order. Takes some milliseconds of processor time per message.
    pub(in crate::services) fn judge(&self, messages: &[StoredMessage]) -> Vec<ProofVerdict> {
        self.remember_roots();
        let mut verdicts = vec![ProofVerdict::Missing; messages.len()];
        let (mut waiting, mut statements) = (Vec::new(), Vec::new());
        for (at, (message, verdict)) in messages.iter().zip(&mut verdicts).enumerate() {
            let proof = message.message.rate_limit_proof.as_ref();
            let Some(proof) = proof.filter(|proof| !proof.is_empty()) else {
                continue;
            };
            match self.statement(message, proof) {
                Some(statement) => {
                    waiting.push(at);
                    statements.push(statement);
                }
                None => *verdict = ProofVerdict::Invalid,
            }
        }
        let Ok(mut rng) = os_rng() else {
            // Batch verification needs random numbers; without them, the proofs are verified singly.
            for (at, statement) in waiting.into_iter().zip(&statements) {
                let holds = self.verifier.verify(statement).is_ok();
                verdicts[at] = self.verdict(holds, &statement.root);
            }
            return verdicts;
        };
        let results = self.verifier.verify_batch(&statements, &mut rng);
        for ((at, statement), result) in waiting.into_iter().zip(&statements).zip(results) {
            verdicts[at] = self.verdict(result.is_ok(), &statement.root);
        }
        verdicts
    }

    fn verdict(&self, holds: bool, root: &Fr) -> ProofVerdict {
        match holds {
            true if self.seen.lock().contains(root) => ProofVerdict::Valid,
            true => ProofVerdict::UnknownRoot,
            false => ProofVerdict::Invalid,
        }
    }

    /// Returns the statement that a proof proves about a message, for the root that it names; `None` if the proof does
    /// not fit the message.
    fn statement(&self, message: &StoredMessage, proof: &[u8]) -> Option<ProofStatement> {
        let message = &message.message;
        let proof = RateLimitProof::decode(proof).ok()?;
        let time_ns = message.timestamp_ns();
        let x = signal_hash(&message.payload, &message.content_topic, time_ns);
        // The message's own timestamp serves as the current time.
        let now_ns = u64::try_from(time_ns).ok()?;
        let mut named = RootWindow::new(1);
        named.push(fr_from_le(&proof.merkle_root).ok()?);
        let checked = check(&self.policy, &named, now_ns, time_ns, x, &proof);
        checked.ok().map(|checked| checked.statement)
    }
}

#[cfg(test)]
#[path = "tests/proofs.rs"]
mod tests;
