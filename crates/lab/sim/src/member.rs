//! Members of the simulated network: real shares and nullifiers, but no zk-SNARK.

use undertone_rln::{
    Epoch, Fr, Generation, RateLimitProof, RlnIdentifier, RootWindow, external_nullifier, fr_to_le,
    poseidon::poseidon,
};

use crate::seeds::derive;

/// Number of the newest roots that a node accepts.
const ROOTS: u64 = 50;

/// A Merkle root by its number. The root in the proofs of honest nodes is number 0.
pub(crate) fn root(number: u64) -> Fr {
    Fr::from(1 + number)
}

/// The window of Merkle roots that a node accepts which knows the first `newest` changes of the membership. Number 0 is
/// always in it.
pub(crate) fn roots(newest: u64) -> RootWindow {
    let mut window = RootWindow::new(ROOTS as usize);
    for number in newest.saturating_sub(ROOTS - 2)..=newest {
        window.push(root(number));
    }
    window.push(root(0));
    window
}

/// RLN membership of one node.
#[derive(Debug)]
pub(crate) struct SimMember {
    secret: Fr,
    limit: u32,
    epoch: Epoch,
    used: u32,
}

impl SimMember {
    pub(crate) fn new(seed: u64, node: u32, limit: u32) -> Self {
        let bytes = derive(seed, "member", u64::from(node));
        let word = |at: usize| {
            let bytes: [u8; 8] = bytes[at..at + 8].try_into().expect("eight of 32 bytes");
            Fr::from(u64::from_le_bytes(bytes))
        };
        Self {
            secret: poseidon(&[word(0), word(8)]),
            limit,
            epoch: Epoch(0),
            used: 0,
        }
    }

    /// Makes the proof of a message, correct except for the zk-SNARK. Returns `None` when the message
    /// ids of the epoch are used up. A member that spams uses the last one again.
    pub(crate) fn prove(
        &mut self,
        generation: Generation,
        epoch: Epoch,
        x: Fr,
        spams: bool,
    ) -> Option<RateLimitProof> {
        let message_id = self.next_id(epoch, spams)?;
        Some(self.sign(generation, (epoch, message_id), x, root(0)))
    }

    /// Takes the next message id of an epoch, as [`Self::prove`] does.
    pub(crate) fn next_id(&mut self, epoch: Epoch, spams: bool) -> Option<u32> {
        if epoch > self.epoch {
            (self.epoch, self.used) = (epoch, 0);
        }
        if self.used >= self.limit && !spams {
            return None;
        }
        let message_id = self.used.min(self.limit - 1);
        self.used += 1;
        Some(message_id)
    }

    /// Makes a proof under a message id, used or not, correct except for the zk-SNARK.
    pub(crate) fn sign(
        &self,
        generation: Generation,
        (epoch, message_id): (Epoch, u32),
        x: Fr,
        root: Fr,
    ) -> RateLimitProof {
        let identifier = RlnIdentifier::WAKU;
        let external = external_nullifier(generation, epoch, &identifier);
        let slope = poseidon(&[self.secret, external, Fr::from(message_id)]);
        RateLimitProof {
            proof: [0; 128],
            merkle_root: fr_to_le(&root),
            epoch: epoch.to_bytes(),
            share_x: fr_to_le(&x),
            share_y: fr_to_le(&(self.secret + slope * x)),
            nullifier: fr_to_le(&poseidon(&[slope])),
            rln_identifier: identifier.0,
        }
    }

    /// Secret of the member, which two messages under one message id reveal.
    pub(crate) fn secret(&self) -> &Fr {
        &self.secret
    }
}

#[cfg(test)]
mod tests {
    use undertone_rln::{fr_from_le, recover_secret};

    use super::*;

    #[test]
    fn a_member_is_silent_at_its_limit_and_exposed_beyond() {
        let mut member = SimMember::new(1, 7, 2);
        let mut prove =
            |x: u64, spams| member.prove(Generation::Hashed, Epoch(5), Fr::from(x), spams);
        let proofs = [prove(10, false), prove(11, false)].map(Option::unwrap);
        assert!(prove(12, false).is_none());
        let spam = prove(12, true).unwrap();
        let share = |p: &RateLimitProof| {
            (
                fr_from_le(&p.share_x).unwrap(),
                fr_from_le(&p.share_y).unwrap(),
            )
        };
        assert_ne!(proofs[0].nullifier, proofs[1].nullifier);
        assert_eq!(spam.nullifier, proofs[1].nullifier);
        let recovered = recover_secret(share(&proofs[1]), share(&spam));
        assert_eq!(recovered, Some(member.secret));
        assert!(
            member
                .prove(Generation::Hashed, Epoch(6), Fr::from(1u64), false)
                .is_some()
        );
    }
}
