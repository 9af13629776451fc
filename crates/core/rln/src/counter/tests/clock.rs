//! The counter and the wall clock: timestamps far ahead, clocks that go back, files of the first version.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;

const EPOCH_S: u64 = 600;
/// Unix time 200 s after the start of epoch 2 833 333.
const NOW_S: u64 = 1_700_000_000;
const PRESENT: Epoch = Epoch(2_833_333);

fn clock_at(unix_s: u64) -> WallClock {
    WallClock {
        unix_now_ns: unix_s * 1_000_000_000,
        epoch_size_s: EPOCH_S,
        max_clock_gap_ns: 20_000_000_000,
    }
}

fn in_epoch(epoch: u64) -> WallClock {
    clock_at(epoch * EPOCH_S + 100)
}

/// First open epoch after a closed one.
fn opens(error: CounterError) -> Epoch {
    match error {
        CounterError::EpochClosed { opens, .. } => opens,
        other => panic!("{other}"),
    }
}

/// Counter file as the first version wrote it.
fn first_version(file: &Counter, epoch: Epoch, reserved: u32, written_s: u64) {
    let mut bytes = b"UTRLNCT1".to_vec();
    bytes.extend(epoch.0.to_le_bytes());
    bytes.extend(reserved.to_le_bytes());
    let sum = sha2::Sha256::digest(&bytes);
    bytes.extend(&sum[..12]);
    fs::write(file.path(), bytes).unwrap();
    fs::write(lock_path(&file.path()), MARKER).unwrap();
    let written = UNIX_EPOCH + Duration::from_secs(written_s);
    File::options()
        .append(true)
        .open(file.path())
        .unwrap()
        .set_modified(written)
        .unwrap();
}

use sha2::Digest as _;

#[test]
fn an_epoch_ahead_of_the_clock_takes_no_id_and_ends_nothing() {
    let file = Counter::new();
    let mut counter = file.open(20).unwrap();
    let clock = clock_at(NOW_S);
    assert_eq!(counter.next(PRESENT, &clock).unwrap(), 0);
    let before = fs::read(file.path()).unwrap();
    for far in [PRESENT.0 + 1, PRESENT.0 + 100, u64::MAX] {
        let error = counter.next(Epoch(far), &clock).unwrap_err();
        let refused = matches!(error, CounterError::AheadOfClock { asked, newest: PRESENT } if asked == Epoch(far));
        assert!(refused, "{error}");
    }
    assert_eq!(fs::read(file.path()).unwrap(), before);
    assert_eq!(counter.next(PRESENT, &clock).unwrap(), 1);
    // Shortly before an epoch begins, messages may already belong to that epoch.
    let border_s = (PRESENT.0 + 1) * EPOCH_S;
    counter
        .next(Epoch(PRESENT.0 + 1), &clock_at(border_s - 21))
        .unwrap_err();
    assert_eq!(
        counter
            .next(Epoch(PRESENT.0 + 1), &clock_at(border_s - 20))
            .unwrap(),
        0
    );
}

#[test]
fn an_epoch_that_was_left_stays_closed() {
    let file = Counter::new();
    let mut counter = file.open(20).unwrap();
    counter.next(Epoch(5), &in_epoch(5)).unwrap();
    counter.next(Epoch(6), &in_epoch(6)).unwrap();
    let border = clock_at(6 * EPOCH_S + 1);
    assert_eq!(
        opens(counter.next(Epoch(5), &border).unwrap_err()),
        Epoch(6)
    );
    // The refused message of the previous epoch changed nothing.
    assert_eq!(counter.next(Epoch(6), &border).unwrap(), 1);
    drop(counter);
    let mut counter = file.open(20).unwrap();
    assert_eq!(
        opens(counter.next(Epoch(5), &in_epoch(5)).unwrap_err()),
        Epoch(7)
    );
    assert_eq!(counter.next(Epoch(7), &in_epoch(7)).unwrap(), 0);
}

#[test]
fn a_clock_that_was_ahead_costs_the_epochs_that_were_used() {
    let file = Counter::new();
    let mut counter = file.open(20).unwrap();
    counter.next(Epoch(5), &in_epoch(5)).unwrap();
    for epoch in 100..103 {
        counter.next(Epoch(epoch), &in_epoch(epoch)).unwrap();
    }
    // The clock goes back again, and the counter is reopened in between.
    assert_eq!(
        opens(counter.next(Epoch(5), &in_epoch(5)).unwrap_err()),
        Epoch(6)
    );
    for epoch in 6..8 {
        assert_eq!(counter.next(Epoch(epoch), &in_epoch(epoch)).unwrap(), 0);
        assert_eq!(counter.next(Epoch(epoch), &in_epoch(epoch)).unwrap(), 1);
    }
    drop(counter);
    let mut counter = file.open(20).unwrap();
    assert_eq!(counter.next(Epoch(99), &in_epoch(99)).unwrap(), 0);
    for epoch in 100..103 {
        assert_eq!(
            opens(counter.next(Epoch(epoch), &in_epoch(epoch)).unwrap_err()),
            Epoch(103)
        );
    }
    assert_eq!(counter.next(Epoch(103), &in_epoch(103)).unwrap(), 0);
}

#[test]
fn a_file_that_a_timestamp_set_ahead_opens_with_the_next_epoch() {
    for far in [PRESENT.0 + 1, PRESENT.0 + 2, 15_372_286] {
        let file = Counter::new();
        first_version(&file, Epoch(far), 2, NOW_S - 3600);
        let mut counter = file.open(20).unwrap();
        let clock = clock_at(NOW_S);
        let next = if far == PRESENT.0 + 1 {
            far + 1
        } else {
            PRESENT.0 + 1
        };
        assert_eq!(
            opens(counter.ready(PRESENT, &clock).unwrap_err()),
            Epoch(next)
        );
        assert_eq!(
            opens(counter.next(PRESENT, &clock).unwrap_err()),
            Epoch(next)
        );
        drop(counter);
        let mut counter = file.open(20).unwrap();
        assert_eq!(counter.next(Epoch(next), &in_epoch(next)).unwrap(), 0);
        assert_eq!(counter.next(Epoch(next), &in_epoch(next)).unwrap(), 1);
        drop(counter);
        // The distant epoch is still closed when the clock reaches it.
        let mut counter = file.open(20).unwrap();
        let error = counter.next(Epoch(far), &in_epoch(far)).unwrap_err();
        assert_eq!(opens(error), Epoch(far.max(next) + 1));
    }
}

#[test]
fn a_clock_behind_a_file_of_the_first_version_opens_nothing() {
    let file = Counter::new();
    let later_s = NOW_S + 10 * EPOCH_S;
    let used = Epoch(PRESENT.0 + 10);
    first_version(&file, used, 2, later_s);
    for epoch in [PRESENT.0, PRESENT.0 + 5] {
        let error = file
            .open(20)
            .unwrap()
            .next(Epoch(epoch), &in_epoch(epoch))
            .unwrap_err();
        assert_eq!(opens(error), used);
    }
    assert_eq!(
        file.open(20)
            .unwrap()
            .next(used, &in_epoch(used.0))
            .unwrap(),
        2
    );
}

#[test]
fn a_file_of_the_first_version_goes_on_where_it_ended() {
    let file = Counter::new();
    first_version(&file, PRESENT, 7, NOW_S);
    let mut counter = file.open(20).unwrap();
    let clock = clock_at(NOW_S);
    assert_eq!(counter.next(PRESENT, &clock).unwrap(), 7);
    assert_eq!(fs::read(file.path()).unwrap().len(), BYTES_OF_FILE);
    // The file did not record earlier epochs, so a clock that goes back finds them closed.
    let error = counter
        .next(Epoch(PRESENT.0 - 50), &in_epoch(PRESENT.0 - 50))
        .unwrap_err();
    assert_eq!(opens(error), Epoch(PRESENT.0 + 1));
}

/// No id is given out twice, for any clock, timestamps and number of restarts.
#[test]
fn clocks_that_jump_about_repeat_nothing() {
    let file = Counter::new();
    let mut given = BTreeSet::new();
    let mut counter = file.open(20).unwrap();
    let mut state = 7u64;
    for step in 0..2_000u32 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let random = state >> 33;
        let epoch = match random % 400 {
            0 => random / 10 % 1_000_000,
            _ => 1_000 + u64::from(step) / 10 + random / 10 % 3,
        };
        let asked = Epoch((epoch + random / 100 % 3).saturating_sub(1));
        if let Ok(id) = counter.next(asked, &in_epoch(epoch)) {
            assert!(
                given.insert((asked, id)),
                "{asked:?} {id} again at step {step}"
            );
        }
        if random.is_multiple_of(50) {
            drop(counter);
            counter = file.open(20).unwrap();
        }
    }
    // The test is not vacuous: jumps close many epochs, but far from all.
    assert!(given.len() > 100, "only {}", given.len());
}
