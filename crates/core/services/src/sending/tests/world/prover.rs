//! Simulated prover, with its rate limit, and the network's check of its proofs.

use bytes::Bytes;
use undertone_gossip::Time;
use undertone_message::WakuMessage;

use super::super::super::{Input, ProveFailure, SendId};
use super::{UNIX_AT_ZERO, World};

/// Simulated proof: the epoch and root for which it was made.
#[derive(Clone, Debug)]
pub(super) struct Proof {
    bytes: Bytes,
    epoch: u64,
    root: u64,
    made_ns: u64,
}

impl World {
    pub(super) fn schedule_budget(&mut self) {
        let epoch_ends = Time::from_millis((self.epoch() + 1) * self.epoch_s * 1000);
        self.tell(Input::Budget {
            remaining: self.limit.saturating_sub(self.spent),
            epoch_ends,
        });
    }

    fn epoch(&self) -> u64 {
        self.now.as_nanos() / 1_000_000_000 / self.epoch_s
    }

    /// Whether the network accepts a proof: of this or the former epoch, and of a recent root.
    pub(super) fn is_good(&self, proof: &Proof) -> bool {
        proof.epoch + 1 >= self.epoch() && proof.root + 2 >= self.root
    }

    pub(super) fn proof_of(&self, id: SendId) -> Option<&Proof> {
        let of_id = self.proofs.range((id, 0)..=(id, u32::MAX));
        of_id.map(|(_, proof)| proof).next_back()
    }

    /// Makes a proof, or returns the one already made under the same number. Asserts that no proof
    /// is made for a message whose previous proof is still good.
    pub(super) fn make_proof(&mut self, id: SendId, attempt: u32) -> Result<Bytes, ProveFailure> {
        if let Some(proof) = self.proofs.get(&(id, attempt)) {
            return Ok(proof.bytes.clone());
        }
        if let Some(former) = self.proof_of(id) {
            assert!(
                !self.is_good(former) || self.is_too_old(former.made_ns),
                "a second proof of {id:?} while the first is good"
            );
        }
        if self.spent >= self.limit {
            return Err(ProveFailure::LimitUsedUp);
        }
        self.spent += 1;
        self.proofs_made += 1;
        let (epoch, root) = (self.epoch(), self.root);
        let bytes =
            Bytes::from([self.proofs_made.to_be_bytes(), (epoch as u32).to_be_bytes()].concat());
        let proof = Proof {
            bytes: bytes.clone(),
            epoch,
            root,
            made_ns: UNIX_AT_ZERO + self.now.as_nanos(),
        };
        self.proofs.insert((id, attempt), proof);
        Ok(bytes)
    }

    /// Whether the network refuses a timestamp.
    pub(super) fn is_too_old(&self, unix_ns: u64) -> bool {
        let age_ns = (UNIX_AT_ZERO + self.now.as_nanos()).saturating_sub(unix_ns);
        let max_age = self.config.max_age;
        max_age.is_some_and(|max| u128::from(age_ns) > max.as_nanos())
    }

    pub(super) fn accepts(&self, message: &WakuMessage) -> bool {
        if !self.config.has_proofs {
            return true;
        }
        let carried = message.rate_limit_proof.as_ref();
        let is_young = !self.is_too_old(message.timestamp_ns() as u64);
        let found = self
            .proofs
            .values()
            .find(|proof| Some(&proof.bytes) == carried);
        is_young && found.is_some_and(|proof| self.is_good(proof))
    }
}
