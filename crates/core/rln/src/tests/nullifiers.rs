use proptest::prelude::*;

use super::*;

fn log(max_entries_per_epoch: usize) -> NullifierLog {
    NullifierLog::new(NullifierLimits {
        max_entries_per_epoch,
    })
}

/// The point at `x` of the line with the given secret and slope.
fn point(secret: u64, slope: u64, x: u64) -> (Fr, Fr) {
    let [secret, slope, x] = [secret, slope, x].map(Fr::from);
    (x, secret + slope * x)
}

/// Nullifier as a hash, spread like real ones.
fn nullifier_of(number: u64) -> Fr {
    poseidon(&[Fr::from(number)])
}

fn insert(log: &mut NullifierLog, epoch: u64, nullifier: u64, (x, y): (Fr, Fr)) -> NullifierStatus {
    log.insert(Epoch(epoch), nullifier_of(nullifier), x, y)
}

#[test]
fn a_second_message_reveals_the_secret() {
    let mut log = log(10);
    assert_eq!(
        insert(&mut log, 1, 5, point(42, 3, 10)),
        NullifierStatus::New
    );
    assert_eq!(
        insert(&mut log, 1, 5, point(42, 3, 10)),
        NullifierStatus::Duplicate
    );
    let (x, y) = point(42, 3, 11);
    let spam = NullifierStatus::Spam {
        secret: RecoveredSecret(Fr::from(42)),
    };
    assert_eq!(log.check(Epoch(1), nullifier_of(5), x, y), spam);
    match insert(&mut log, 1, 5, (x, y)) {
        NullifierStatus::Spam { secret } => {
            assert_eq!(secret.secret(), &Fr::from(42));
            assert_eq!(secret.commitment(), poseidon(&[Fr::from(42)]));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        log.len(),
        1,
        "the first share stays, the second is not entered"
    );
    assert_eq!(
        insert(&mut log, 1, 5, point(42, 3, 10)),
        NullifierStatus::Duplicate
    );
}

#[test]
fn checking_enters_nothing() {
    let log = log(10);
    let (x, y) = point(1, 2, 3);
    assert_eq!(
        log.check(Epoch(1), nullifier_of(5), x, y),
        NullifierStatus::New
    );
    assert!(log.is_empty());
}

#[test]
fn epochs_and_nullifiers_are_apart() {
    let mut log = log(10);
    for (epoch, nullifier) in [(1, 5), (2, 5), (1, 6)] {
        assert_eq!(
            insert(&mut log, epoch, nullifier, point(1, 2, epoch)),
            NullifierStatus::New
        );
    }
    assert_eq!(log.len(), 3);
}

#[test]
fn a_full_epoch_takes_new_nullifiers_and_forgets_the_older_half() {
    let mut log = log(4);
    for nullifier in 0..4 {
        assert_eq!(
            insert(&mut log, 1, nullifier, point(1, 2, 3)),
            NullifierStatus::New
        );
    }
    let again = point(1, 2, 4);
    let is_known = |log: &NullifierLog, nullifier| {
        let (x, y) = again;
        log.check(Epoch(1), nullifier_of(nullifier), x, y) != NullifierStatus::New
    };
    assert!((0..4).all(|nullifier| is_known(&log, nullifier)), "it fits");
    assert_eq!((log.len(), log.dropped_total()), (4, 0));
    assert_eq!(insert(&mut log, 1, 4, point(1, 2, 3)), NullifierStatus::New);
    let known: Vec<_> = (0..5).filter(|n| is_known(&log, *n)).collect();
    assert_eq!(known, [2, 3, 4]);
    assert_eq!((log.len(), log.dropped_total()), (3, 2));
    assert!(matches!(
        insert(&mut log, 1, 2, again),
        NullifierStatus::Spam { .. }
    ));
    assert_eq!(
        insert(&mut log, 2, 0, again),
        NullifierStatus::New,
        "another epoch"
    );
}

/// Smallest possible limit: the newest entry is always kept.
#[test]
fn a_log_without_room_remembers_the_newest() {
    let mut log = log(0);
    for nullifier in 0..3 {
        assert_eq!(
            insert(&mut log, 1, nullifier, point(1, 2, 3)),
            NullifierStatus::New
        );
        let second = insert(&mut log, 1, nullifier, point(1, 2, 4));
        assert!(matches!(second, NullifierStatus::Spam { .. }));
    }
    assert_eq!(log.len(), 2);
}

#[test]
fn pruning_keeps_the_range_with_both_ends() {
    let mut log = log(10);
    for epoch in 1..=5 {
        insert(&mut log, epoch, 5, point(1, 2, 3));
    }
    log.prune(Epoch(2)..=Epoch(4));
    let (x, y) = point(1, 2, 3);
    let known: Vec<_> = (1..=5)
        .filter(|e| log.check(Epoch(*e), nullifier_of(5), x, y) == NullifierStatus::Duplicate)
        .collect();
    assert_eq!(known, [2, 3, 4]);
}

#[test]
fn debug_shows_no_secret() {
    let secret = RecoveredSecret(Fr::from(123_456_789));
    assert!(!format!("{secret:?}").contains("123456789"));
}

proptest! {
    #[test]
    fn recovery_works_in_both_orders(secret: u64, slope: u64, x1: u64, x2: u64) {
        let (first, second) = (point(secret, slope, x1), point(secret, slope, x2));
        let expected = (x1 != x2).then(|| Fr::from(secret));
        prop_assert_eq!(recover_secret(first, second), expected);
        prop_assert_eq!(recover_secret(second, first), expected);
    }
}
