use std::fs;

use super::*;

mod clock;

fn decoded(bytes: &[u8]) -> CounterRecord {
    CounterRecord::decode(bytes)
        .map(|decoded| decoded.record)
        .unwrap()
}

struct Counter {
    folder: tempfile::TempDir,
}

impl Counter {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("counter")
    }

    fn open(&self, limit: u32) -> Result<MessageIdCounter, CounterError> {
        MessageIdCounter::open(self.path(), limit)
    }
}

#[test]
fn ids_count_up_to_the_limit_in_each_epoch() {
    let file = Counter::new();
    let mut counter = file.open(20).unwrap();
    for epoch in [Epoch(5), Epoch(6), Epoch(60)] {
        let ids: Vec<_> = (0..20)
            .map(|_| counter.next(epoch, &WallClock::stopped_in(epoch)).unwrap())
            .collect();
        assert_eq!(ids, Vec::from_iter(0..20));
        for _ in 0..2 {
            let error = counter
                .next(epoch, &WallClock::stopped_in(epoch))
                .unwrap_err();
            let used_up =
                matches!(error, CounterError::Exhausted { epoch: e, limit: 20 } if e == epoch);
            assert!(used_up, "{error}");
        }
    }
}

#[test]
fn the_disk_is_ahead_of_every_id() {
    let file = Counter::new();
    let mut counter = file.open(100).unwrap();
    for _ in 0..100 {
        let id = counter
            .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
            .unwrap();
        let record = decoded(&fs::read(file.path()).unwrap());
        assert_eq!(record.epoch, Epoch(5));
        assert!(record.reserved > id, "{record:?} does not cover {id}");
    }
}

#[test]
fn an_unwritable_mark_gives_no_id() {
    let file = Counter::new();
    let mut counter = file.open(16).unwrap();
    assert_eq!(
        counter
            .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
            .unwrap(),
        0
    );
    // A folder in place of the temporary file makes the write fail, even for root.
    let obstacle = durable::sibling(&file.path(), ".tmp");
    fs::create_dir(&obstacle).unwrap();
    let error = counter
        .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
        .unwrap_err();
    assert!(matches!(error, CounterError::Io { .. }), "{error}");
    fs::remove_dir(&obstacle).unwrap();
    assert_eq!(
        counter
            .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
            .unwrap(),
        1,
        "the id was not given out"
    );
}

#[test]
fn reopening_skips_and_never_repeats() {
    let file = Counter::new();
    let mut given = Vec::new();
    for _ in 0..10 {
        let mut counter = file.open(100).unwrap();
        given.push(
            counter
                .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
                .unwrap(),
        );
        given.push(
            counter
                .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
                .unwrap(),
        );
    }
    let mut distinct = given.clone();
    distinct.dedup();
    assert_eq!(given, distinct);
    assert!(given.is_sorted());
    assert!(*given.last().unwrap() < 10 * block_of(100));
}

#[test]
fn small_limits_waste_one_id_per_crash_at_most() {
    for limit in 1..=31 {
        assert_eq!(block_of(limit), 1);
    }
    assert_eq!(block_of(100), 6);
    assert_eq!(block_of(MAX_LIMIT), MAX_BLOCK);
}

#[test]
fn a_second_counter_is_locked_out() {
    let file = Counter::new();
    let first = file.open(20).unwrap();
    match file.open(20).unwrap_err() {
        CounterError::Locked(path) => assert_eq!(path, lock_path(&file.path())),
        other => panic!("{other}"),
    }
    drop(first);
    file.open(20).unwrap();
}

#[test]
fn damage_is_reported_and_nothing_is_reset() {
    let file = Counter::new();
    file.open(20)
        .unwrap()
        .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
        .unwrap();
    let good = fs::read(file.path()).unwrap();
    let mut damaged: Vec<(Vec<u8>, CounterDamage)> = (0..BYTES_OF_FILE)
        .filter(|length| *length != FIRST_BYTES_OF_FILE)
        .map(|length| (good[..length].to_vec(), CounterDamage::Length))
        .collect();
    damaged.push((good[..FIRST_BYTES_OF_FILE].to_vec(), CounterDamage::Magic));
    damaged.push(([good.clone(), vec![0]].concat(), CounterDamage::Length));
    for at in 0..BYTES_OF_FILE {
        let mut bytes = good.clone();
        bytes[at] ^= 0x10;
        damaged.push((
            bytes,
            if at < 8 {
                CounterDamage::Magic
            } else {
                CounterDamage::Checksum
            },
        ));
    }
    for (bytes, expected) in damaged {
        fs::write(file.path(), &bytes).unwrap();
        match file.open(20).unwrap_err() {
            CounterError::Corrupt { what, .. } => assert_eq!(what, expected, "{bytes:02x?}"),
            other => panic!("{other}"),
        }
        assert_eq!(fs::read(file.path()).unwrap(), bytes, "the evidence stays");
    }
    fs::write(file.path(), good).unwrap();
    assert_eq!(
        file.open(20)
            .unwrap()
            .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
            .unwrap(),
        1
    );
}

const BYTES_OF_FILE: usize = record::BYTES;
/// Length of a file of the first version, bytes.
const FIRST_BYTES_OF_FILE: usize = 32;

#[test]
fn a_lost_file_is_not_a_new_counter() {
    let file = Counter::new();
    file.open(20).unwrap();
    fs::remove_file(file.path()).unwrap();
    let error = file.open(20).unwrap_err();
    assert!(
        matches!(&error, CounterError::Missing(path) if *path == file.path()),
        "{error}"
    );
}

#[test]
fn a_crash_during_creation_does_no_harm() {
    let before_record = Counter::new();
    fs::write(lock_path(&before_record.path()), "").unwrap();
    assert_eq!(
        before_record
            .open(20)
            .unwrap()
            .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
            .unwrap(),
        0
    );

    let before_marker = Counter::new();
    drop(before_marker.open(20).unwrap());
    fs::write(lock_path(&before_marker.path()), "").unwrap();
    assert_eq!(
        before_marker
            .open(20)
            .unwrap()
            .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
            .unwrap(),
        0
    );
    fs::remove_file(before_marker.path()).unwrap();
    assert!(matches!(
        before_marker.open(20),
        Err(CounterError::Missing(_))
    ));
}

#[test]
fn impossible_limits_are_refused() {
    for limit in [0, MAX_LIMIT + 1] {
        let error = Counter::new().open(limit).unwrap_err();
        assert!(matches!(error, CounterError::LimitOutOfRange { limit: l } if l == limit));
    }
}

#[test]
fn a_lowered_limit_counts_at_once() {
    let file = Counter::new();
    let mut counter = file.open(20).unwrap();
    for _ in 0..5 {
        counter
            .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
            .unwrap();
    }
    drop(counter);
    let error = file
        .open(5)
        .unwrap()
        .next(Epoch(5), &WallClock::stopped_in(Epoch(5)))
        .unwrap_err();
    assert!(
        matches!(error, CounterError::Exhausted { limit: 5, .. }),
        "{error}"
    );
}

/// The file format: magic, epoch, mark, closed epochs, checksum.
#[test]
fn golden_bytes() {
    let mut record = CounterRecord {
        epoch: Epoch(2_833_333),
        reserved: 20,
        closed: ClosedEpochs::default(),
    };
    record.closed.close(Epoch(1), Epoch(2));
    record.closed.close(Epoch(9), Epoch(9));
    let bytes = record.encode();
    let expected = "5554524c4e435432b53b2b0000000000140000000200000001000000000000000200000000000000\
                    09000000000000000900000000000000";
    assert_eq!(hex::encode(&bytes[..56]), expected);
    assert_eq!(bytes[56..88], [0; 32]);
    assert_eq!(decoded(&bytes), record);
}

#[test]
fn what_is_upcoming_is_what_is_reserved_next() {
    let file = Counter::new();
    let mut counter = file.open(20).unwrap();
    for epoch in [Epoch(5), Epoch(7)] {
        for _ in 0..20 {
            let upcoming = counter.upcoming(epoch, &WallClock::stopped_in(epoch));
            let reserved = counter
                .reserve(epoch, &WallClock::stopped_in(epoch))
                .unwrap();
            assert_eq!(
                (reserved.epoch(), Some(reserved.message_id())),
                (epoch, upcoming)
            );
        }
        assert_eq!(counter.upcoming(epoch, &WallClock::stopped_in(epoch)), None);
    }
    assert_eq!(
        counter.upcoming(Epoch(6), &WallClock::stopped_in(Epoch(7))),
        None
    );
    assert_eq!(
        counter.upcoming(Epoch(8), &WallClock::stopped_in(Epoch(8))),
        Some(0)
    );
}

#[test]
fn epochs_that_another_program_used_stay_closed() {
    let file = Counter::new();
    let clock = |epoch| WallClock::stopped_in(Epoch(epoch));
    let mut counter = file.open(20).unwrap();
    counter.close_until(Epoch(7)).unwrap();
    drop(counter);
    // Also with a larger limit, and after a restart.
    let mut counter = file.open(40).unwrap();
    for epoch in [0, 6, 7] {
        let error = counter.next(Epoch(epoch), &clock(epoch)).unwrap_err();
        let opens = matches!(
            error,
            CounterError::EpochClosed {
                opens: Epoch(8),
                ..
            }
        );
        assert!(opens, "{error}");
    }
    assert_eq!(counter.next(Epoch(8), &clock(8)).unwrap(), 0);
    assert!(counter.next(Epoch(7), &clock(8)).is_err());
}
