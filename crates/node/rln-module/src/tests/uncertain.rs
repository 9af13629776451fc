//! Registrations of which the registry says nothing yet, no, or nothing for sure.

use super::script::{Answer, ScriptedWorld};
use super::*;

/// The confirmation window.
const PATIENCE: u64 = 600_000_000_000;

#[test]
fn a_registration_is_pending_until_the_registry_has_it() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.start(NOW);
    world.a.script.lock().answer = Answer::Shelve;
    let first = register(&module, &scope, 5, NOW);
    assert_eq!(status(&module, &scope, NOW), MembershipStatus::Pending);
    assert_eq!(register(&module, &scope, 9, NOW), first);
    assert_eq!(world.a.script.lock().submissions, 1);
    let early = module.generate_proof(&scope, b"x", NOW).unwrap_err();
    assert!(
        matches!(early, ModuleError::NotReady(NotReadyReason::Pending { .. })),
        "{early:?}"
    );
    assert!(matches!(
        module.epoch_quota(&scope, NOW),
        Err(ModuleError::NotReady(_))
    ));
    // A restart does not lose it.
    drop(module);
    let module = world.start(NOW);
    assert_eq!(register(&module, &scope, 9, NOW), first);
    world.a.catch_up();
    assert_eq!(status(&module, &scope, NOW), MembershipStatus::Active);
    module.generate_proof(&scope, b"x", NOW).unwrap();
}

#[test]
fn it_fails_only_by_a_reading_after_the_window() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.start(NOW);
    world.a.script.lock().answer = Answer::Shelve;
    let first = register(&module, &scope, 5, NOW);
    let end = NOW + PATIENCE;
    assert_eq!(status(&module, &scope, end - 1), MembershipStatus::Pending);
    world.a.script.lock().is_reachable = false;
    assert_eq!(
        status(&module, &scope, end + PATIENCE),
        MembershipStatus::Pending,
        "nobody has looked"
    );
    assert_eq!(register(&module, &scope, 5, end), first);
    world.a.script.lock().is_reachable = true;
    world.a.script.lock().as_of_ns = Some(end - 1);
    assert_eq!(
        status(&module, &scope, end + PATIENCE),
        MembershipStatus::Pending
    );
    world.a.script.lock().as_of_ns = None;
    assert_eq!(status(&module, &scope, end), MembershipStatus::Failed);
    world.a.script.lock().is_reachable = false;
    assert_eq!(status(&module, &scope, end), MembershipStatus::Failed);
    world.a.script.lock().is_reachable = true;

    let second = register(&module, &scope, 5, end);
    assert_ne!(second.membership_hash, first.membership_hash);
    assert_eq!(status(&module, &scope, end), MembershipStatus::Pending);
}

#[test]
fn a_clock_that_was_ahead_does_not_keep_it_pending() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.start(NOW);
    world.a.script.lock().answer = Answer::Shelve;
    register(&module, &scope, 5, NOW + 1_000 * PATIENCE);
    drop(module);
    let module = world.start(NOW);
    assert_eq!(
        status(&module, &scope, NOW + PATIENCE),
        MembershipStatus::Failed
    );
}

#[test]
fn a_submission_that_fails_says_what_is_left_of_it() {
    for (answer, expected) in [
        (Answer::Refuse, MembershipStatus::Unknown),
        (Answer::Unsent, MembershipStatus::Unknown),
        (Answer::Lose, MembershipStatus::Active),
    ] {
        let world = ScriptedWorld::new();
        let [scope, _] = world.scopes();
        let module = world.start(NOW);
        world.a.script.lock().answer = answer;
        let options = RegistrationOptions::default();
        let error = module.register(&scope, 5, &options, NOW).unwrap_err();
        let is_right = match answer {
            Answer::Refuse => matches!(error, ModuleError::Permanent(PermanentFault::Refused(_))),
            Answer::Unsent => matches!(error, ModuleError::Transient(TransientFault::NotSent(_))),
            _ => matches!(
                error,
                ModuleError::Transient(TransientFault::OutcomeUnknown(_))
            ),
        };
        assert!(is_right, "{answer:?}: {error:?}");
        assert_eq!(status(&module, &scope, NOW), expected, "{answer:?}");
        drop(module);
        let module = world.start(NOW);
        assert_eq!(status(&module, &scope, NOW), expected, "{answer:?}");
    }
}

#[test]
fn a_refused_registration_leaves_the_former_membership() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.start(NOW);
    register(&module, &scope, 5, NOW);
    assert_eq!(status(&module, &scope, NOW), MembershipStatus::Active);
    world.a.script.lock().lifecycle = Lifecycle::ErasedAwaitsWithdrawal;
    world.a.script.lock().answer = Answer::Refuse;
    let options = RegistrationOptions::default();
    module.register(&scope, 5, &options, NOW).unwrap_err();
    let with_deposit = MembershipStatus::ErasedAwaitsWithdrawal;
    assert_eq!(status(&module, &scope, NOW), with_deposit);
    drop(module);
    let module = world.start(NOW);
    assert_eq!(status(&module, &scope, NOW), with_deposit);
}

#[test]
fn the_life_in_the_registry_decides_about_proofs() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.start(NOW);
    let first = register(&module, &scope, 50, NOW);
    let rows = [
        (Lifecycle::Active, MembershipStatus::Active, true),
        (Lifecycle::GracePeriod, MembershipStatus::GracePeriod, true),
        (Lifecycle::Expired, MembershipStatus::Expired, false),
        (
            Lifecycle::ErasedAwaitsWithdrawal,
            MembershipStatus::ErasedAwaitsWithdrawal,
            false,
        ),
    ];
    for (lifecycle, expected, is_usable) in rows {
        world.a.script.lock().lifecycle = lifecycle;
        assert_eq!(status(&module, &scope, NOW), expected);
        let proof = module.generate_proof(&scope, b"x", NOW);
        assert_eq!(proof.is_ok(), is_usable, "{lifecycle:?}: {proof:?}");
        let submissions = world.a.script.lock().submissions;
        if is_usable {
            let again = register(&module, &scope, 50, NOW);
            assert_eq!(again.membership_hash, first.membership_hash);
            assert_eq!(world.a.script.lock().submissions, submissions);
        }
    }
    world.a.script.lock().is_reachable = false;
    let unread = module.membership_state(&scope, NOW).unwrap_err();
    assert!(matches!(unread, ModuleError::Transient(_)), "{unread:?}");
    world.a.script.lock().is_ready = false;
    let cold = module.membership_state(&scope, NOW).unwrap_err();
    assert!(matches!(cold, ModuleError::NotReady(_)), "{cold:?}");
}

#[test]
fn a_limit_that_the_registry_changed_is_kept() {
    let world = ScriptedWorld::new();
    let [scope, _] = world.scopes();
    let module = world.start(NOW);
    world.a.script.lock().answer = Answer::Shelve;
    register(&module, &scope, 5, NOW);
    let (commitment, _) = world.a.script.lock().shelved[0];
    world.a.apply(1.into(), 2);
    world.a.apply(commitment, 2);
    let quota = module.epoch_quota(&scope, NOW).unwrap();
    assert_eq!((quota.rate_limit, quota.remaining), (2, 2));
    let facts = module.membership_state(&scope, NOW).unwrap().membership;
    let facts = facts.unwrap();
    assert_eq!((facts.rate_limit, facts.leaf_index), (2, Some(1)));
    // The limit grows while the counter is in use: what was spent stays spent.
    module.generate_proof(&scope, b"x", NOW).unwrap();
    world.a.script.lock().members[1].limit = 4;
    let quota = module.epoch_quota(&scope, NOW).unwrap();
    assert_eq!((quota.rate_limit, quota.remaining), (4, 3));
}
