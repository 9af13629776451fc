//! Members who are removed: what their proofs are still good for.

use undertone_contracts::{ChainError, Refusal};
use undertone_membership::evm::EvmRegistry;
use undertone_membership::{MemberIndex, MemberLookup as _};
use undertone_rln::{
    Epoch, Generation, Identity, Key, MerklePath, Policy, ProofRejection, ProofRequest, Prover,
    RateLimitProof, RlnIdentifier, Verifier, check::check,
};

use crate::chain::rig::{LIMIT, Rig};

const WINDOW: usize = 5;
const TIMESTAMP_S: u64 = 1_700_000_000;
const POLICY: Policy = Policy {
    generation: Generation::Hashed,
    identifier: RlnIdentifier::WAKU,
    epoch_size_s: 600,
    max_clock_gap_ns: 20_000_000_000,
};

/// A member whose proofs are judged by the roots of a registry that follows the chain.
struct Member {
    rig: Rig,
    registry: EvmRegistry,
    identity: Identity,
    index: MemberIndex,
    prover: Prover,
    verifier: Verifier,
}

impl Member {
    fn join() -> Self {
        let rig = Rig::start();
        let identity = Identity::from_seed(b"to be removed");
        rig.join(&identity.commitment());
        (1..=WINDOW as u64).for_each(|other| rig.register(other));
        let mut config = rig.config(&[rig.chain.endpoint()]);
        config.window = WINDOW;
        let registry = EvmRegistry::start(config).unwrap();
        rig.check(&registry);
        let member = registry.find(identity.commitment()).unwrap().unwrap();
        let key = Key::load().unwrap();
        Self {
            rig,
            registry,
            identity,
            index: member.index,
            verifier: Verifier::new(&key),
            prover: Prover::new(key),
        }
    }

    /// The path in the tree now, whatever is at its end.
    fn path(&self) -> MerklePath {
        self.registry.view().lock().path(self.index)
    }

    fn prove(&self, path: &MerklePath) -> RateLimitProof {
        self.prove_as(&self.identity, path)
    }

    fn prove_as(&self, identity: &Identity, path: &MerklePath) -> RateLimitProof {
        let request = ProofRequest {
            identity,
            limit: LIMIT,
            path,
            generation: POLICY.generation,
            epoch: Epoch(TIMESTAMP_S / POLICY.epoch_size_s),
            identifier: &POLICY.identifier,
            message_id: 1,
            x: 7.into(),
        };
        self.prover.prove(&request).unwrap()
    }

    /// Every check that a relay makes.
    fn judge(&self, proof: &RateLimitProof) -> Result<(), ProofRejection> {
        let view = self.registry.view();
        let now_ns = TIMESTAMP_S * 1_000_000_000;
        let timestamp_ns = i64::try_from(now_ns).unwrap();
        let roots = view.lock().roots().clone();
        let checked = check(&POLICY, &roots, now_ns, timestamp_ns, 7.into(), proof)?;
        self.verifier.verify(&checked.statement).unwrap();
        Ok(())
    }

    /// A newcomer takes the place.
    fn replace(&self) -> Identity {
        let heir = Identity::from_seed(b"who comes after");
        self.rig.join(&heir.commitment());
        self.rig.check(&self.registry);
        let found = self.registry.find(heir.commitment()).unwrap().unwrap();
        assert_eq!(
            found.index, self.index,
            "an index that is free is used first"
        );
        heir
    }

    fn others_register(&self, numbers: std::ops::Range<u64>) {
        numbers.for_each(|other| self.rig.register(other));
        self.rig.check(&self.registry);
    }
}

const REFUSED: Result<(), ProofRejection> = Err(ProofRejection::UnknownRoot { window_len: WINDOW });

/// When the leaf is empty, what was proved before is good until that root is too old, and no more.
fn is_out_with_its_last_root(remove: impl FnOnce(&Member)) {
    let member = Member::join();
    let before = member.prove(&member.path());
    assert_eq!(member.judge(&before), Ok(()));
    remove(&member);
    member.rig.check(&member.registry);
    assert_eq!(member.judge(&before), Ok(()), "publishers may lag");
    // Accepted: its last root, the one without it, and those of the registrations. The last of them
    // changed its path, which now leads to no root that ever was.
    member.others_register(100..100 + WINDOW as u64 - 2);
    assert_eq!(member.judge(&before), Ok(()));
    assert_eq!(member.judge(&member.prove(&member.path())), REFUSED);
    member.others_register(200..201);
    assert_eq!(member.judge(&before), REFUSED);
    assert_eq!(member.judge(&member.prove(&member.path())), REFUSED);
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn a_slashed_member_is_out_with_its_last_root() {
    is_out_with_its_last_root(|member| member.rig.slash(member.identity.secret()));
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn an_erased_member_is_out_with_its_last_root() {
    is_out_with_its_last_root(|member| {
        member.rig.let_expire();
        member.rig.erase_all(&[member.identity.commitment()], true);
    });
}

/// The contract leaves the leaf, so the member may publish until somebody else takes its place.
#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn a_lazily_erased_member_stays_until_its_index_is_used() {
    is_out_with_its_last_root(|member| {
        member.rig.let_expire();
        member.rig.erase_all(&[member.identity.commitment()], false);
        member.rig.check(&member.registry);
        assert_eq!(member.judge(&member.prove(&member.path())), Ok(()));
        member.rig.register(50);
    });
}

/// At an index that is used again only the new secret proves anything, whatever path the old one
/// takes. Gives the member, long after its removal.
fn index_reuse_does_not_revive(remove: impl FnOnce(&Member)) -> Member {
    let member = Member::join();
    let before = member.path();
    remove(&member);
    member.rig.check(&member.registry);
    let between = member.path();
    let heir = member.replace();
    member.others_register(100..100 + WINDOW as u64);
    for path in [&before, &between, &member.path()] {
        assert_eq!(member.judge(&member.prove(path)), REFUSED);
    }
    assert_eq!(
        member.judge(&member.prove_as(&heir, &member.path())),
        Ok(())
    );
    let gone = member.registry.find(member.identity.commitment());
    assert_eq!(gone.unwrap(), None);
    member
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn index_reuse_does_not_revive_an_old_secret() {
    for clear in [true, false] {
        let member = index_reuse_does_not_revive(|member| {
            member.rig.let_expire();
            member.rig.erase_all(&[member.identity.commitment()], clear);
        });
        // Whoever was only erased may come back, at an index of its own.
        member.rig.join(&member.identity.commitment());
        member.rig.check(&member.registry);
        let again = member.registry.find(member.identity.commitment()).unwrap();
        let again = again.unwrap().index;
        assert_ne!(again, member.index);
        assert_eq!(member.judge(&member.prove(&member.path())), REFUSED);
        let path = member.registry.view().lock().path(again);
        assert_eq!(member.judge(&member.prove(&path)), Ok(()));
    }
}

#[test]
#[ignore = "needs anvil; cargo xtask test --only contracts"]
fn index_reuse_does_not_revive_a_slashed_secret() {
    let member = index_reuse_does_not_revive(|member| member.rig.slash(member.identity.secret()));
    let commitment = member.identity.commitment();
    let refused = member.rig.try_join(&commitment).unwrap_err();
    assert!(
        matches!(refused, ChainError::Refused(Refusal::Slashed(_))),
        "{refused}"
    );
}
