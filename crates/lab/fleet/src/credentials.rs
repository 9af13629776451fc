//! Membership of one member, and the state for making its proofs.

use std::sync::Arc;

use parking_lot::Mutex;
use undertone_membership::{MemberIndex, View};
use undertone_node::driver::MemberProofs;
use undertone_rln::{Generation, Identity, Member, MerklePath, ProveError, Prover};

/// Identity and membership of one member, with the prover and the tree used for its proofs.
#[derive(Clone)]
pub(crate) struct Credentials {
    pub(crate) identity: Identity,
    pub(crate) index: MemberIndex,
    /// Registered limit of the member, messages per epoch.
    pub(crate) limit: u32,
    pub(crate) generation: Generation,
    pub(crate) prover: Arc<Prover>,
    pub(crate) view: Arc<Mutex<dyn View>>,
}

impl Credentials {
    /// Returns the path of the member's leaf; `None` while it is not known.
    pub(crate) fn path(&self) -> Option<MerklePath> {
        let view = self.view.lock();
        view.path(self.index)
    }

    /// Makes the member's tables for proofs in the current tree; `None` while its path is not known.
    pub(crate) fn member(&self) -> Result<Option<Member>, ProveError> {
        let path = self.path();
        path.map(|path| self.prover.member(&self.identity, self.limit, &path))
            .transpose()
    }
}

impl From<MemberProofs> for Credentials {
    fn from(member: MemberProofs) -> Self {
        Self {
            identity: member.identity,
            index: member.index,
            limit: member.limit,
            generation: member.generation,
            prover: member.prover,
            view: member.view,
        }
    }
}

/// Makes a new identity from the system's random numbers.
pub(crate) fn random_identity() -> Result<Identity, getrandom::Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    Ok(Identity::from_seed(&seed))
}
