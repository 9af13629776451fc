//! The life of a membership in the registry file.

use std::collections::BTreeSet;

use undertone_rln::{Epoch, RlnIdentifier};

use super::*;
use undertone_membership::MemberIndex;

const LIMIT: u32 = 3;

#[test]
fn a_member_registers_once_and_spends_each_epoch_once() {
    let world = FileWorld::new();
    let scope = &world.scope;
    let module = world.start(NOW);
    assert_eq!(status(&module, scope, NOW), MembershipStatus::Unknown);
    let submitted = register(&module, scope, LIMIT, NOW);
    assert_eq!(
        submitted.leaf_index, None,
        "the registry says the place later"
    );

    let report = module.membership_state(scope, NOW).unwrap();
    assert_eq!(report.status, MembershipStatus::Active);
    let active = report.membership.unwrap();
    assert_eq!((active.rate_limit, active.leaf_index), (LIMIT, Some(0)));
    assert_eq!(active.membership_hash, submitted.membership_hash);
    let again = register(&module, scope, LIMIT + 1, NOW);
    assert_eq!(again, active, "the same, whatever limit is asked for");
    assert_eq!(world.file.members().unwrap().len(), 1);

    let mut nullifiers = BTreeSet::new();
    let mut prove = |module: &RlnModule, now| {
        let proof = module.generate_proof(scope, b"hello", now)?;
        assert!(module.verify_proof(scope, b"hello", &proof, now).unwrap());
        assert!(
            nullifiers.insert(proof.nullifier),
            "a message id was used twice"
        );
        Ok::<_, ModuleError>(proof)
    };
    let left = |module: &RlnModule, now| {
        let quota = module.epoch_quota(scope, now).unwrap();
        assert_eq!((quota.epoch, quota.rate_limit), (Epoch(now / EPOCH), LIMIT));
        quota.remaining
    };
    assert_eq!(left(&module, NOW), LIMIT);
    prove(&module, NOW).unwrap();
    assert_eq!(left(&module, NOW + EPOCH - 1), LIMIT - 1);

    // A crash: nothing is stopped.
    drop(module);
    let module = world.start(NOW + 1);
    assert_eq!(register(&module, scope, LIMIT, NOW + 1), active);
    assert_eq!(left(&module, NOW + 1), LIMIT - 1);
    prove(&module, NOW + 1).unwrap();
    prove(&module, NOW + EPOCH - 1).unwrap();
    let spent = prove(&module, NOW + EPOCH - 1).unwrap_err();
    assert!(
        matches!(spent, ModuleError::BudgetExhausted(_)),
        "{spent:?}"
    );
    assert_eq!(left(&module, NOW + EPOCH - 1), 0);

    module.stop();
    module.start(PASSWORD, NOW + EPOCH - 1).unwrap();
    let spent = prove(&module, NOW + EPOCH - 1).unwrap_err();
    assert!(
        matches!(spent, ModuleError::BudgetExhausted(_)),
        "{spent:?}"
    );
    assert_eq!(left(&module, NOW + EPOCH), LIMIT);
    prove(&module, NOW + EPOCH).unwrap();
    // The clock is set back: the ids of that epoch are used up, whatever the clock says.
    let spent = prove(&module, NOW).unwrap_err();
    assert!(
        matches!(spent, ModuleError::BudgetExhausted(_)),
        "{spent:?}"
    );
    assert_eq!(left(&module, NOW), 0);
}

#[test]
fn each_application_has_a_budget_of_its_own() {
    let world = FileWorld::new();
    let module = world.start(NOW);
    let first = &world.scope;
    let second = &MembershipScope {
        identifier: RlnIdentifier([7; 32]),
        ..first.clone()
    };
    let member = register(&module, first, 1, NOW);
    assert_eq!(status(&module, first, NOW), MembershipStatus::Active);
    let other = register(&module, second, 1, NOW);
    assert_eq!(
        other.membership_hash, member.membership_hash,
        "one membership"
    );

    let proof = module.generate_proof(first, b"x", NOW).unwrap();
    assert_eq!(module.epoch_quota(first, NOW).unwrap().remaining, 0);
    assert_eq!(module.epoch_quota(second, NOW).unwrap().remaining, 1);
    let elsewhere = module.generate_proof(second, b"x", NOW).unwrap();
    assert_ne!(proof.nullifier, elsewhere.nullifier);
    let crossed = module.verify_proof(second, b"x", &proof, NOW).unwrap();
    assert!(!crossed, "a proof counts in its application");
}

#[test]
fn an_erased_member_stops_and_may_register_anew() {
    let world = FileWorld::new();
    let module = world.start(NOW);
    let scope = &world.scope;
    let first = register(&module, scope, LIMIT, NOW);
    assert_eq!(status(&module, scope, NOW), MembershipStatus::Active);
    world.file.remove(MemberIndex::new(0).unwrap()).unwrap();

    assert_eq!(status(&module, scope, NOW), MembershipStatus::Erased);
    let refused = module.generate_proof(scope, b"x", NOW).unwrap_err();
    assert!(
        matches!(
            refused,
            ModuleError::Permanent(PermanentFault::NotUsable {
                status: MembershipStatus::Erased,
                ..
            })
        ),
        "{refused:?}"
    );
    drop(module);
    let module = world.start(NOW);
    assert_eq!(
        status(&module, scope, NOW),
        MembershipStatus::Erased,
        "not forgotten over a restart"
    );
    let second = register(&module, scope, LIMIT, NOW);
    assert_ne!(second.membership_hash, first.membership_hash);
    assert_eq!(status(&module, scope, NOW), MembershipStatus::Active);
    drop(module);
    let module = world.start(NOW);
    let kept = module.membership_state(scope, NOW).unwrap().membership;
    assert_eq!(kept.unwrap().membership_hash, second.membership_hash);
}
